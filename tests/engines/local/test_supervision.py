"""The driver's side of the supervisor."""

import resource

import pytest

from paceline.engines.local.supervision import allow_files
from paceline.errors import InvalidInput


def test_a_pool_for_which_there_can_never_be_enough_files_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 1024))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: raised.append(limits))
    allow_files(8)
    assert raised == []
    allow_files(100)
    assert raised == [(700, 1024)]
    with pytest.raises(
        InvalidInput, match=r"1,?000 cores need about 6100 open files, but only 1024"
    ):
        allow_files(1000)
