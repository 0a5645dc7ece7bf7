from pathlib import Path

import pytest

from paceline.cli import main
from paceline.core.seeds import pull_seed


def test_the_plan_is_printed_and_nothing_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "race.toml"
    file.write_text('command = "touch {x}"\n[arms]\nx = ["a", "b"]\n[race]\ndeadline = "1m"\n')
    assert main(["check", str(file)]) == 0
    out = capsys.readouterr().out
    assert "2: x=a, x=b" in out
    assert "the deadline of 1 min" in out
    assert "touch a" in out
    assert [path.name for path in tmp_path.iterdir()] == ["race.toml"]


def test_options_override_those_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "race.toml"
    file.write_text('command = "touch {x}"\n[arms]\nx = ["a", "b"]\n[race]\ndeadline = "1m"\n')
    assert main(["check", str(file), "--engine", "local", "--deadline", "2m"]) == 0
    assert "the deadline of 2 min" in capsys.readouterr().out
    assert main(["check", str(file), "--engine", "ray://127.0.0.1:10001"]) == 2
    assert "is a Ray Client" in capsys.readouterr().err


def test_what_could_not_be_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "race.toml"
    file.write_text('command = "touch {y}"\n[arms]\nx = ["a", "b"]\n')
    assert main(["check", str(file)]) == 2
    assert "unknown placeholder 'y'" in capsys.readouterr().err
    file.write_text('command = "touch {x}"\n[arms]\nx = ["a", "b"]\n[race]\nmax_pulls = 1\n')
    assert main(["check", str(file)]) == 2
    assert "less than one pull" in capsys.readouterr().err


@pytest.mark.parametrize("paired", [False, True])
def test_the_seeds_shown_are_those_that_pulls_will_get(
    paired: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "race.toml"
    options = f"[race]\nseed = 5\npaired = {str(paired).lower()}\n"
    file.write_text('command = "echo {x} {seed}"\n[arms]\nx = ["a", "b"]\n' + options)
    main(["check", str(file)])
    out = capsys.readouterr().out
    for number, arm in enumerate("ab"):
        assert f"echo {arm} {pull_seed(5, number, 0, paired=paired)}" in out
