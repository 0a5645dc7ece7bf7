"""Taking a race up again: by calling it once more, by `resume`, under other limits."""

import json
import random
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paceline import APR, Command, InvalidInput, PowerLaw, RaceFailed, Standing, race, resume
from paceline.journal import read_records
from paceline.races import prepare, read_journal
from tests.races.virtual import VirtualEngine


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.3)


class Stop(Exception):
    """Stands for whatever ends a session."""


class StopAfter:
    """A screen that ends the race after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def update(self, standing: Standing) -> None:
        if standing.elapsed >= self.seconds:
            raise Stop

    def close(self, result: Any) -> None:
        assert result is None


def kinds(path: Path) -> list[str]:
    return [record.kind for record in read_records(path)]


def test_an_ended_race_is_read_again_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"confidence": 0.9, "cores": 4, "journal": path, "progress": False}
    first = race(noisy, [0.0, 1.0], engine=VirtualEngine(), **options)
    before = path.read_bytes()
    again = race(noisy, [0.0, 1.0], engine=VirtualEngine(), **options)
    assert path.read_bytes() == before
    assert (again.verdict, again.pulls, again.rounds) == (first.verdict, first.pulls, first.rounds)
    assert again.elapsed == pytest.approx(first.elapsed, abs=1e-5)


def test_a_cap_that_is_raised_lets_a_race_go_on(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"confidence": 0.9, "cores": 4, "journal": path, "progress": False}
    capped = race(noisy, [0.0, 1.0], max_pulls=12, engine=VirtualEngine(), **options)
    assert not capped.decided
    done = race(noisy, [0.0, 1.0], max_pulls=5000, engine=VirtualEngine(), **options)
    assert done.decided
    assert kinds(path).count("session") == 2
    straight = race(
        noisy, [0.0, 1.0], max_pulls=5000, engine=VirtualEngine(), **(options | {"journal": None})
    )
    assert done.best == straight.best


def test_a_race_to_both_goals_is_read_again_or_goes_on_to_a_later_deadline(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {"confidence": 0.95, "cores": 4, "journal": path, "progress": False}
    arms = [0.0, 0.2]
    short = race(noisy, arms, deadline=6, engine=VirtualEngine(), **options)
    assert short.decided
    assert short.confidence is None or short.confidence < 0.95
    again = race(noisy, arms, deadline=6, engine=VirtualEngine(), **options)
    assert (again.verdict, again.confidence) == (short.verdict, short.confidence)
    assert again.pulls == short.pulls
    longer = race(noisy, arms, deadline=600, engine=VirtualEngine(), **options)
    assert (longer.best, longer.confidence) == (0.2, 0.95)


def test_a_later_deadline_is_planned_for(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    arms = [0.0, 0.1, 0.2, 0.3]
    options: dict[str, Any] = {"cores": 4, "journal": path, "progress": False}
    host = VirtualEngine()
    short = race(noisy, arms, deadline=20, engine=host, **options)
    longer = race(noisy, arms, deadline=200, engine=VirtualEngine(), **options)
    assert short.elapsed <= 20.5
    assert 100 < longer.elapsed <= 200.5
    assert longer.pulls > 3 * short.pulls


def test_a_date_as_deadline_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"

    def slow(arm: float) -> float:
        time.sleep(0.02)
        return arm

    moment = datetime.now() + timedelta(seconds=5)
    options: dict[str, Any] = {"deadline": moment, "journal": path}
    with pytest.raises(Stop):
        race(slow, [0.0, 1.0, 2.0, 3.0], progress=StopAfter(1.5), **options)
    left = (moment - datetime.now()).total_seconds()
    began = time.monotonic()
    result = race(slow, [0.0, 1.0, 2.0, 3.0], progress=False, **options)
    assert result.best == 3.0
    assert left - 2.5 < time.monotonic() - began < left + 1.0


def test_whoever_resumes_a_stopped_race_has_mended_it(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {
        "confidence": 0.9, "cores": 4, "journal": path, "progress": False, "on_failure": "stop",
    }  # fmt: skip
    all_broken = VirtualEngine(fatal=lambda arm, pull: True)
    drop = options | {"on_failure": "drop-arm"}
    with pytest.raises(RaceFailed, match="all 3 arms failed"):
        race(noisy, [0.0, 2.0, 1.0], engine=all_broken, **drop)
    broken = VirtualEngine(fatal=lambda arm, pull: arm == 1 and pull == 5)
    with pytest.raises(RaceFailed, match="broken"):
        race(noisy, [0.0, 2.0, 1.0], engine=broken, **options)
    mended = race(noisy, [0.0, 2.0, 1.0], engine=VirtualEngine(), **options)
    assert mended.best == 2.0
    assert mended.arms[1].status == "best"
    assert read_journal(path).standing.arms[1].status == "best"


def test_long_labels_do_not_make_two_races_one(tmp_path: Path) -> None:
    def rate(arm: dict[str, Any], *, seed: int) -> float:
        return float(arm["rate"])

    path = tmp_path / "race.jsonl"
    words = "a very long setting that is the same for all of the arms of this race"
    options: dict[str, Any] = {"max_pulls": 20, "cores": 2, "journal": path, "progress": False}
    arms = [{"name": words, "rate": rate} for rate in (1, 2, 3)]
    result = race(rate, arms, engine=VirtualEngine(), **options)
    assert len({record.label for record in result.arms}) == 3
    others = [{"name": words, "rate": rate} for rate in (30, 2, 1)]
    with pytest.raises(InvalidInput, match=r"another race: arm 0 was .* rate=1\" there"):
        race(rate, others, engine=VirtualEngine(), **options)


def test_a_command_is_resumed_from_its_journal_alone(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    command = Command.parse("echo {x}", cwd=str(tmp_path))
    arms = [{"x": 1}, {"x": 2}]
    first = race(command, arms, confidence=0.9, max_pulls=6, journal=path, progress=False)
    assert not first.decided
    done = resume(path, max_pulls=500, progress=False)
    assert done.best == {"x": 2}
    assert resume(path, progress=False).verdict == done.verdict  # the cap that was raised stays so
    race(noisy, [0, 1], max_pulls=2, journal=tmp_path / "f.jsonl", progress=False)
    with pytest.raises(InvalidInput, match="run its script again"):
        resume(tmp_path / "f.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"kind":"race"}', "does not begin like a journal"),
        ('{"x":1}', "line 8"),
        ('{"kind":"results","at":1}', "damaged"),
    ],
)
def test_a_damaged_journal_is_refused_in_words(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "race.jsonl"
    race(noisy, [0, 1], max_pulls=4, cores=1, journal=path, engine=VirtualEngine(), progress=False)
    lines = path.read_text().splitlines()[:7]
    lines = [line] if "race" in line else [*lines, line, lines[-1]]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidInput, match=message):
        read_journal(path)


def test_numbers_of_numpy_and_paths_can_be_written_down(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "race.jsonl"
    options: dict[str, Any] = {
        "confidence": np.float32(0.9), "top": np.int64(1), "journal": path, "progress": False,
    }  # fmt: skip
    for _ in range(2):
        result = race(noisy, [np.float64(0), np.float64(3)], engine=VirtualEngine(), **options)
        assert result.index == 1
    assert result.arms[1].label == "3.0"
    json.loads(path.read_text().splitlines()[0])


def test_check_refuses_what_run_would_refuse(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    race(noisy, [0, 1], max_pulls=2, journal=path, engine=VirtualEngine(), progress=False)
    with pytest.raises(InvalidInput, match="another race"):
        prepare(noisy, [0, 2], journal=path).describe()


def test_callbacks_see_what_a_round_decided() -> None:
    seen: list[Standing] = []
    result = race(
        noisy, [0.0, 5.0, 4.5], confidence=0.9, cores=4, callbacks=[seen.append],
        engine=VirtualEngine(), progress=False,
    )  # fmt: skip
    complete = [standing.rounds for standing in seen]
    assert complete == list(range(1, len(seen) + 1))
    assert result.rounds - 1 <= complete[-1] <= result.rounds  # it may end in mid-round


def test_a_cap_counts_the_pulls_of_arms_that_failed() -> None:
    host = VirtualEngine(fatal=lambda arm, pull: arm == 0 and pull == 60)
    result = race(
        noisy, [0.0, 0.0, 0.01], confidence=0.99, cores=4, max_pulls=300, engine=host,
        paired=False, progress=False,
    )  # fmt: skip
    assert result.arms[0].status == "failed"
    assert 250 < result.pulls <= 300


def test_a_failure_that_leaves_one_arm_is_shown_too() -> None:
    class Screen:
        def update(self, standing: Standing) -> None:
            assert len(standing.arms) == 2

        def close(self, result: Any) -> None:
            pass

    host = VirtualEngine(fatal=lambda arm, pull: arm == 0)
    result = race(noisy, [0.0, 1.0], cores=2, engine=host, progress=Screen())
    assert (result.best, result.decided, result.confidence) == (1.0, True, None)
    assert result.arms[1].pulls > 0


def test_a_scaling_is_a_shape_and_its_level_is_measured() -> None:
    result = race(
        noisy, [0.0, 0.1, 0.2], cores=4, deadline=60, scaling=PowerLaw(0.5, unit_seconds=1e6),
        engine=VirtualEngine(), progress=False,
    )  # fmt: skip
    assert result.scaling is not None
    assert result.scaling.runtime_seconds[0] == pytest.approx(1.0, rel=0.2)
    assert result.scaling.runtime_seconds[3] == pytest.approx(0.5, rel=0.2)
    assert result.pulls > 100


def test_without_a_value_nobody_is_the_best() -> None:
    host = VirtualEngine(duration=lambda rng, cores: 100.0)
    result: Any = race(noisy, [0.0, 1.0], deadline=1, cores=2, engine=host, progress=False)
    assert (result.best, result.index, result.decided) == (None, -1, False)
    assert result.to_json()["best"] is None


def test_a_race_of_a_policy_of_one_s_own_is_shown_too(tmp_path: Path) -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Mine(APR):
        name = "mine"

    path = tmp_path / "race.jsonl"
    race(
        noisy, [0.0, 1.0], policy=Mine(), confidence=0.9, cores=4, journal=path,
        engine=VirtualEngine(), progress=False,
    )  # fmt: skip
    view = read_journal(path)
    assert view.ending is not None
    assert view.ending.decided
    assert [record.status for record in view.standing.arms] == ["out", "best"]


def test_a_race_goes_on_with_other_cores(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    command = Command.parse("echo {x}", cwd=str(tmp_path))
    options: dict[str, Any] = {"confidence": 0.9, "max_pulls": 6, "scaling": PowerLaw(0.5)}
    race(command, [{"x": 1}, {"x": 2}], cores=1, journal=path, progress=False, **options)
    done = resume(path, cores=3, max_pulls=500, progress=False)
    assert done.best == {"x": 2}
    assert done.scaling is not None
    assert done.scaling.cores == done.cores == 3


def test_an_ended_race_to_a_date_is_read_again_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    moment = datetime.now() + timedelta(hours=1)
    options: dict[str, Any] = {"confidence": 0.9, "deadline": moment, "cores": 4}
    first = race(noisy, [0.0, 1.0], journal=path, engine=VirtualEngine(), progress=False, **options)
    before = path.read_bytes()
    again = race(noisy, [0.0, 1.0], journal=path, engine=VirtualEngine(), progress=False, **options)
    assert (again.verdict, path.read_bytes()) == (first.verdict, before)


def test_a_policy_of_one_s_own_must_be_given_again(tmp_path: Path) -> None:
    class Mine(APR):
        name = "mine"

    path = tmp_path / "race.jsonl"
    command, arms = Command.parse("echo {x}{seed}"), [{"x": 1}, {"x": 2}]
    options: dict[str, Any] = {"policy": Mine(), "bounds": (0, 1e12)}
    race(command, arms, max_pulls=8, journal=path, progress=False, **options)
    with pytest.raises(InvalidInput) as caught:
        resume(path)
    assert "the journal has only the name of the policy 'mine', since it is yours" in str(
        caught.value
    )
    assert "pass the policy itself, as policy=" in str(caught.value)
    # As it says:
    assert resume(path, policy=Mine(), max_pulls=12, progress=False).pulls == 12
    assert race(command, arms, max_pulls=16, journal=path, progress=False, **options).pulls == 16
