from pathlib import Path

import pytest

from paceline import CorePool, Ernest, InvalidInput, Measured, PowerLaw
from paceline.notation import parse_policy, parse_scaling


def test_words_become_policies_and_scalings(tmp_path: Path) -> None:
    assert parse_policy("batch-racing:64,deviation=0.2").batch == 64  # type: ignore[attr-defined]
    assert parse_policy("ssh:k=2,keep_samples=true").keep_samples is True  # type: ignore[attr-defined]
    assert parse_scaling("power:0.5") == PowerLaw(0.5)
    assert parse_scaling("ernest:1,8,linear=0.5,cores=16") == Ernest(1, 8, linear=0.5, cores=16)
    assert isinstance(parse_scaling("cores:4,0.5"), CorePool)
    points = tmp_path / "points.csv"
    points.write_text("pulls,seconds\n1,1.0\n4,2.0\n")
    measured = parse_scaling(f"measured:{points}")
    assert isinstance(measured, Measured)
    assert measured.seconds(4.0) == pytest.approx(2.0)
    points.write_text("pulls\n1\n")
    with pytest.raises(InvalidInput, match="two columns"):
        parse_scaling(f"measured:{points}")
