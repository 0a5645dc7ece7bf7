"""What looks wrong about a race is said where users look, and does not pass for evidence."""

import io
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from benchmarks.inprocess import in_process
from paceline import RaceWarning, Result, Standing, race
from paceline.cli import main
from paceline.display.lines import PlainLines
from paceline.engines.simulated import SimulatedEngine
from paceline.races import read_journal


def run(evaluate: Any, arms: list[Any], **more: Any) -> Result:
    options: dict[str, Any] = {"confidence": 0.95, "max_pulls": 4000, "progress": False}
    return race(evaluate, arms, engine=in_process(), **(options | more))


def same(arm: float) -> float:
    return arm


def seed_ignored(arm: int, *, seed: int) -> float:
    return arm + random.Random(7).gauss(0, 1)


def seed_ignored_in_a_coin(arm: int, *, seed: int) -> float:
    return float(random.Random(arm).random() < 0.5)


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(f"{seed} {arm}").gauss(0, 1)


def counter() -> Any:
    count = 0

    def evaluate(arm: int, *, seed: int) -> float:
        nonlocal count
        count += 1
        return count

    return evaluate


def ends_finite(result: Result) -> bool:
    return not any(arm.low != arm.low or arm.high != arm.high for arm in result.arms)


@pytest.mark.parametrize("evaluate", [same, seed_ignored, seed_ignored_in_a_coin])
def test_where_nothing_varies_no_confidence_is_claimed(evaluate: Any) -> None:
    with pytest.warns(RaceWarning, match="each gave one value only.*is the right number read"):
        result = run(evaluate, [0, 1, 2, 3])
    assert result.confidence is None
    assert "at least" not in result.verdict
    assert result.pulls < 400  # it does not go on for ever
    assert ends_finite(result)
    (text, *_) = result.warnings
    assert '"0", "1", "2" and 1 more each gave one value only' in text


def test_a_function_that_always_gives_the_same_still_has_a_best() -> None:
    result = run(same, [3.0, 1.0, 2.0])
    assert result.best == 3.0
    assert result.verdict == (
        '"3.0" has the highest mean so far (in 41 pulls or more, "3.0", "1.0" and "2.0" each gave '
        "one value only); nothing is guaranteed"
    )


def test_a_tie_of_constants_ends() -> None:
    result = run(same, [3.0, 3.0, 2.0], max_pulls=None)
    assert not result.decided
    assert result.still_in == (0, 1)


def test_one_arm_that_never_varies_takes_the_confidence_away_wherever_it_ends() -> None:
    def wrong_number(arm: int, *, seed: int) -> float:
        return 7.0 if arm == 1 else arm + random.Random(f"{seed} {arm}").gauss(0, 1)

    def failing(arm: int, *, seed: int) -> float:
        return -7.0 if arm == 1 else arm + random.Random(f"{seed} {arm}").gauss(0, 1)

    for evaluate, best in ((wrong_number, 1), (failing, 3)):
        result = run(evaluate, [0, 1, 3])
        assert result.best == best
        assert result.confidence is None
        (text,) = result.warnings
        assert text.startswith("all ")
        assert 'pulls of "1" gave' in text
    # Who says that such values are possible has the guarantee back.
    declared = run(failing, [0, 1, 3], bounds=(-10, 10))
    assert (declared.best, declared.confidence) == (3, 0.95)
    assert declared.warnings == ()


def test_a_counter_decides_nothing() -> None:
    with pytest.warns(RaceWarning, match=r"rise from pull to pull.*a counter or a clock"):
        result = run(counter(), [0, 1, 2])
    assert result.confidence is None


def test_rare_successes_are_nothing_to_be_warned_of() -> None:
    def rare(arm: float) -> float:
        return float(luck.random() < arm)

    luck = random.Random(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(rare, [0.0, 0.001, 0.0], max_pulls=240)
        assert result.confidence is None
        assert not result.decided
        run(noisy, [0.0, 1.0, 2.0])


def test_values_that_are_not_normal_keep_their_verdict_and_are_said() -> None:
    def waiting(arm: float, *, seed: int) -> float:
        return arm * random.Random(f"{seed} {arm}").expovariate(1.0)

    with pytest.warns(RaceWarning, match=r"are skewed, and normal ones are assumed: declare"):
        result = run(waiting, [1.0, 1.2, 1.5], direction="minimize")
    assert result.confidence == 0.95
    # To a deadline nothing is claimed, so nothing is assumed.
    assert run(waiting, [1.0, 1.2, 1.5], confidence=None, deadline=0.5).warnings == ()


# Where it is said.


def test_a_warning_points_at_the_line_of_the_user() -> None:
    with pytest.warns(RaceWarning) as caught:
        run(same, [1.0, 2.0])
    assert Path(caught[0].filename) == Path(__file__)
    assert len(caught) == 1


def test_it_is_in_the_journal_and_shown_from_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "race.jsonl"
    result = run(same, [1.0, 2.0], journal=journal)
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    (warning,) = [record for record in records if record["kind"] == "warning"]
    assert warning["about"] == "constant"
    assert read_journal(journal).standing.warnings == result.warnings
    assert main(["show", str(journal)]) == 0
    assert "WARNING: in 41 pulls" in " ".join(capsys.readouterr().out.split())
    assert main(["show", str(journal), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == list(result.warnings)
    again = run(same, [1.0, 2.0], journal=journal)
    assert (again.warnings, again.confidence) == (result.warnings, None)


def test_a_command_whose_last_number_is_a_counter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = (
        "import fcntl, sys; f = open('count', 'a+'); fcntl.flock(f, 2); f.write('x'); f.flush(); "
        "f.seek(0); print('score', {x}, 'run', len(f.read()))"
    )
    arguments = ["race", f'python3 -c "{script}"', "-L", "x", "1,2,3", "--cwd", str(tmp_path)]
    code = main([*arguments, "--max-pulls", "90", "--quiet"])
    said = " ".join(capsys.readouterr().err.split())
    assert code == 3
    assert "rise from pull to pull" in said
    assert "is the number that is read a counter or a clock?" in said


def test_a_log_has_each_warning_once(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a screen says it, and nobody else
        run(same, [1.0, 2.0], progress=PlainLines(stream))
    assert stream.getvalue().count("WARNING") == 1


# Races that would take very long.


class Patient(SimulatedEngine):
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        super().__init__(cores=1, seconds=lambda _: 1e-4)

    def now(self) -> float:
        self.time += 1.0
        return self.time


def tied(arm: int, *, seed: int) -> float:
    return random.Random(f"{seed} {arm}").gauss(0, 1)


def test_an_endless_race_says_so_while_it_runs_and_what_ends_it() -> None:
    seen: list[Standing] = []

    class Stop(Exception):
        pass

    class Screen(PlainLines):
        def update(self, standing: Standing) -> None:
            super().update(standing)
            seen.append(standing)
            if standing.pulls > 2000:
                raise Stop

    stream = io.StringIO()
    with pytest.raises(Stop):
        race(tied, [0, 1], confidence=0.95, engine=Patient(), progress=Screen(stream))
    texts = [standing.outlook for standing in seen if standing.outlook]
    assert texts
    assert all('"0" and "1"' in text or '"1" and "0"' in text for text in texts)
    assert "max_pulls= or deadline= would end the race" in texts[-1]
    assert re.search(r"a new one with tolerance=0\.\d+ takes about \d", texts[-1])
    assert all(one.remaining is not None for one in seen[-5:])
    assert " apart: at this rate at least " in stream.getvalue()


def test_without_a_screen_an_endless_race_warns() -> None:
    def stop(standing: Standing) -> None:
        if standing.pulls > 5000:
            raise KeyboardInterrupt

    with (
        pytest.warns(RaceWarning, match="are still in, .* apart"),
        pytest.raises(KeyboardInterrupt),
    ):
        race(tied, [0, 1], confidence=0.95, engine=Patient(), callbacks=[stop], progress=False)


def test_a_cap_that_ends_a_race_says_what_would_have() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was asked for
        result = run(tied, [0, 1], max_pulls=300)
    assert not result.decided
    (text,) = result.warnings
    assert "are still in" in text
    assert "apart" in text


def test_labels_are_quoted_only_where_they_could_be_read_as_something_else() -> None:
    arms = [{"x": 1}, {"x": 2}]
    result = run(lambda arm, *, seed: tied(arm["x"], seed=seed), arms, max_pulls=300)
    (text,) = result.warnings
    assert text.startswith(("x=1 and x=2 are still in", "x=2 and x=1 are still in"))
    (text,) = run(tied, [1, 2], max_pulls=300).warnings
    assert text.startswith(('"1" and "2" are still in', '"2" and "1" are still in'))


def test_a_race_that_is_over_soon_says_nothing() -> None:
    seen: list[str] = []
    race(
        noisy, [0.0, 1.0], confidence=0.95, engine=Patient(), progress=False,
        callbacks=[lambda standing: seen.append(standing.outlook)],
    )  # fmt: skip
    assert seen
    assert not any(seen)


def test_what_ended_a_race_before_is_forgotten_when_it_goes_on(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    first = run(noisy, [0.0, 0.5], max_pulls=20, journal=journal)
    assert "are still in" in first.warnings[0]
    (shown,) = read_journal(journal).standing.warnings
    assert shown.partition(":")[0] == first.warnings[0].partition(":")[0]
    result = run(noisy, [0.0, 0.5], journal=journal)
    assert result.decided
    assert result.warnings == ()


@pytest.mark.parametrize("scale", [1e-170, 1e200, 5e307])
def test_values_that_cannot_be_squared_claim_nothing(scale: float) -> None:
    def extreme(arm: float, *, seed: int) -> float:
        return scale * (0.5 * arm + 0.1 * random.Random(f"{seed} {arm}").uniform(-1, 1))

    with pytest.warns(RaceWarning, match="too large, too small or too close together"):
        result = run(extreme, [0.0, 0.1, 1.0], max_pulls=600)
    assert result.confidence is None
    assert not any("nan" in text for text in (*result.warnings, result.verdict))


def test_a_large_offset_is_no_trouble_until_digits_are_lost() -> None:
    def far(arm: float, *, seed: int) -> float:
        return offset + arm + random.Random(f"{seed} {arm}").gauss(0, 1)

    offset = 1e13
    result = run(far, [0.0, 3.0])
    assert (result.best, result.confidence) == (3.0, 0.95)
    offset = 1e15
    assert run(far, [0.0, 3.0]).confidence is None


def test_nothing_but_zeros_is_said_after_a_while() -> None:
    with pytest.warns(RaceWarning, match="gave nothing but 0: nothing tells them apart"):
        result = run(lambda arm: 0, [1, 2, 3], max_pulls=600)
    assert not result.decided


def test_a_tie_at_a_deadline_is_called_a_tie() -> None:
    result = run(lambda arm: 0, [1, 2, 3], confidence=None, deadline=0.2)
    assert result.decided
    assert " so far, tied with " in result.verdict


def test_an_outlier_is_said_at_a_deadline_too() -> None:
    calls = 0

    def now_and_then(arm: float, *, seed: int) -> float:
        nonlocal calls
        calls += 1
        return -1e20 if calls == 20 else arm + random.Random(f"{seed} {arm}").gauss(0, 1)

    result = run(now_and_then, [0.0, 5.0], confidence=None, deadline=0.3)
    assert any("is very far from all others" in text for text in result.warnings)


def test_of_the_top_few_the_last_and_the_next_are_to_be_told_apart() -> None:
    result = run(noisy, [5.0, 1.0, 0.95, -5.0], top=2, max_pulls=200)
    assert not result.decided
    assert '"1.0"' in result.warnings[0]
    assert '"0.95"' in result.warnings[0]
