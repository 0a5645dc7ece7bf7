"""What a resume may change, option by option; and what becomes of a race that has ended."""

import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paceline import APR, Command, InvalidInput, Racing, Result, Standing, race, resume
from paceline.cli import main
from paceline.journal import read_records
from paceline.journal.records import RaceEnded, SessionBegun
from paceline.policies.racing import make_evidence
from paceline.races import prepare, read_journal
from paceline.races.options import OPTIONS
from tests.races.virtual import VirtualEngine
from tools.write_options_page import resume_table

ROOT = Path(__file__).parents[2]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.3)


ARMS = [0.0, 0.15, 0.3]


def again(path: Path, **options: Any) -> Result:
    given: dict[str, Any] = {"confidence": 0.9, "cores": 4, "paired": False} | options
    return race(noisy, ARMS, engine=VirtualEngine(), journal=path, **{"progress": False} | given)


def kinds(path: Path) -> list[str]:
    return [record.kind for record in read_records(path)]


def sessions(path: Path) -> list[SessionBegun]:
    return [record for record in read_records(path) if isinstance(record, SessionBegun)]


def recorded(path: Path) -> RaceEnded:
    last = read_records(path)[-1]
    assert isinstance(last, RaceEnded)
    return last


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "race.jsonl"


# A race that has ended, and nothing that could change its answer.


def test_a_finished_race_says_that_nothing_was_run_and_when_it_ended(path: Path) -> None:
    first = again(path)
    assert first.notes == ()
    before = path.read_bytes()
    second = again(path)
    assert path.read_bytes() == before
    assert second.verdict == first.verdict
    today = f"{datetime.now():%Y-%m-%d}"
    assert second.notes == (f"nothing was run: the race had ended on {today}" + when(path),)
    assert second.to_json()["notes"] == list(second.notes)


def when(path: Path) -> str:
    return f" {datetime.fromisoformat(recorded(path).ended).astimezone():%H:%M}"


def test_a_cap_below_what_was_spent_changes_nothing(path: Path) -> None:
    first = again(path)
    assert first.decided
    before = path.read_bytes()
    lower = again(path, max_pulls=5)
    assert (lower.verdict, lower.decided, lower.pulls) == (first.verdict, True, first.pulls)
    assert f"max_pulls=5 allows no more than the {first.pulls} pulls that it has" in lower.notes[0]
    assert path.read_bytes() == before
    assert again(path).verdict == first.verdict  # no cap sticks


def test_a_lower_cap_leaves_an_undecided_race_as_it_ended(path: Path) -> None:
    first = again(path, max_pulls=30)
    assert not first.decided
    before = path.read_bytes()
    for cap in (30, 12):
        lower = again(path, max_pulls=cap)
        assert (lower.verdict, lower.still_in) == (first.verdict, first.still_in)
        assert lower.notes[0].startswith("nothing was run")
    assert path.read_bytes() == before


def test_an_earlier_deadline_leaves_a_race_as_it_ended(path: Path) -> None:
    given: dict[str, Any] = {"confidence": None}
    first = again(path, deadline=20, **given)
    before = path.read_bytes()
    earlier = again(path, deadline=5, **given)
    assert (earlier.verdict, earlier.pulls) == (first.verdict, first.pulls)
    assert "its deadline leaves no time" in earlier.notes[0]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change", [{"cores": 2}, {"retries": 0}, {"timeout": "9s"}, {"max_pulls": 5000}]
)
def test_how_it_would_be_run_does_not_matter_to_a_finished_race(
    path: Path, change: dict[str, Any]
) -> None:
    first = again(path)
    before = path.read_bytes()
    second = again(path, **change)
    assert (second.verdict, path.read_bytes()) == (first.verdict, before)
    assert second.notes[0].startswith("nothing was run")


def test_a_callback_that_stopped_a_race_may_now_let_it_go_on(path: Path) -> None:
    def enough(standing: Standing) -> bool:
        return standing.pulls >= 20

    assert not again(path, callbacks=[enough]).decided
    assert again(path).decided


def test_the_screen_says_that_nothing_was_run(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again(path)
    again(path, progress=True)
    assert "nothing was run: the race had ended on" in capsys.readouterr().err


# Changes that reopen it.


def test_a_raised_cap_is_applied_recorded_and_said(path: Path) -> None:
    assert not again(path, max_pulls=30).decided
    result = again(path, max_pulls=5000)
    assert result.decided
    assert result.notes == ("resumed with max_pulls=5000, was 30",)
    assert [one.options["max_pulls"] for one in sessions(path)] == [30, 5000]


def test_several_changes_are_all_said(path: Path) -> None:
    again(path, max_pulls=30)
    result = again(path, cores=2, retries=1)
    assert result.notes == (
        "resumed with max_pulls=None, was 30; cores=2, was 4; retries=1, was 2",
    )


def test_a_later_deadline_is_said_in_words(path: Path) -> None:
    again(path, confidence=None, deadline=20)
    result = again(path, confidence=None, deadline="5m")
    assert result.notes == ("resumed with deadline=5 min, was 20 s",)
    assert result.elapsed > 100


def straight(**options: Any) -> Result:
    given: dict[str, Any] = {"confidence": 0.9, "cores": 4, "paired": False} | options
    return race(noisy, ARMS, engine=VirtualEngine(), progress=False, **given)


def test_a_raised_confidence_is_judged_from_the_first_pull_on(path: Path) -> None:
    low = again(path, confidence=0.7)
    high = again(path, confidence=0.999)
    assert high.pulls > low.pulls
    assert (high.decided, high.confidence) == (True, 0.999)
    assert high.notes == ("resumed with confidence=0.999, was 0.7",)
    assert "with probability at least 0.999" in recorded(path).verdict
    fresh = straight(confidence=0.999)
    assert (high.best, high.verdict) == (fresh.best, fresh.verdict)
    # It stays raised, for whoever resumes it, and for whoever looks.
    assert read_journal(path).ending == recorded(path)
    with pytest.raises(InvalidInput, match=r"confidence=0.999, this one has confidence=0.7"):
        again(path, confidence=0.7)
    assert again(path, confidence=0.999).notes[0].startswith("nothing was run")


def test_a_kill_right_after_the_confidence_was_raised_does_not_bring_the_old_plan_back(
    path: Path,
) -> None:
    again(path, confidence=0.7)
    again(path, confidence=0.999)
    lines = path.read_bytes().splitlines(keepends=True)
    second = [n for n, line in enumerate(lines) if b'"kind":"session"' in line][1]
    path.write_bytes(b"".join(lines[: second + 1]))
    result = again(path, confidence=0.999)
    assert result.verdict == straight(confidence=0.999).verdict


def test_a_lowered_tolerance_is_judged_from_the_first_pull_on(path: Path) -> None:
    near = again(path, tolerance=0.5)
    exact = again(path, tolerance=0.0)
    assert "within 0.5" in near.verdict
    assert "within" not in exact.verdict
    assert exact.pulls > near.pulls
    assert exact.notes == ("resumed with tolerance=0.0, was 0.5",)
    assert exact.verdict == straight().verdict


@pytest.mark.parametrize(
    ("name", "was", "now", "only"),
    [("confidence", 0.9, 0.8, "raised"), ("tolerance", 0.01, 0.2, "lowered")],
)
def test_a_goal_is_not_relaxed_after_a_look(
    path: Path, name: str, was: float, now: float, only: str
) -> None:
    again(path, **{name: was}, max_pulls=30)
    before = path.read_bytes()
    with pytest.raises(InvalidInput) as found:
        again(path, **{name: now})
    text = str(found.value)
    assert f"that one has {name}={was}, this one has {name}={now}" in text
    assert f"a resume may change it only if it is {only}" in text
    assert f"Give {name}={was}, or another journal" in text
    assert path.read_bytes() == before


def test_a_race_to_a_deadline_does_not_get_a_confidence(path: Path) -> None:
    again(path, confidence=None, deadline=20)
    with pytest.raises(InvalidInput, match="that one has confidence=None, this one has"):
        again(path, confidence=0.9, deadline=20)


# All three ways to resume agree.

SUM = "expr 10 \\* {x} + {seed} % 7"


def by_call(path: Path, **options: Any) -> Result:
    command = Command.parse(["/bin/sh", "-c", SUM])
    given: dict[str, Any] = {"bounds": (0, 60), "cores": 2, "max_pulls": 18} | options
    return race(command, [{"x": 1}, {"x": 3}], journal=path, progress=False, **given)


def by_resume(path: Path, **options: Any) -> Result:
    return resume(path, progress=False, **options)


def by_command_line(path: Path, **options: Any) -> dict[str, Any] | str:
    import contextlib
    import io

    out, err = io.StringIO(), io.StringIO()
    flags = [
        word
        for name, value in options.items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["resume", str(path), "--json", "-q", *flags])
    return err.getvalue() if code == 2 else json.loads(out.getvalue())


@pytest.mark.parametrize(
    "change",
    [{"max_pulls": 400}, {"max_pulls": 2}, {"max_pulls": 18}, {"max_pulls": 400, "retries": 1},
     {"max_pulls": 400, "confidence": 0.99}, {"confidence": 0.99}, {"confidence": 0.5},
     {"tolerance": 0.5}],
    ids=str,
)  # fmt: skip
def test_the_call_resume_and_the_command_line_agree(path: Path, change: dict[str, Any]) -> None:
    by_call(path)
    start = path.read_bytes()
    answers: list[Any] = []
    for way in (by_call, by_resume, by_command_line):
        path.write_bytes(start)
        try:
            found = way(path, **change)
        except InvalidInput as error:
            found = str(error)
        if isinstance(found, str):
            answers.append(
                " ".join(found.removeprefix("paceline: ").removeprefix("error: ").split())
            )
            continue
        plain = found.to_json() if isinstance(found, Result) else found
        notes = [note.partition(" on 2")[0] for note in plain["notes"]]
        options = sessions(path)[-1].options
        answers.append((plain["decided"], plain["best"], notes, options, kinds(path)[-1]))
    assert answers[0] == answers[1] == answers[2]


def test_none_lifts_a_limit(path: Path) -> None:
    assert not by_call(path).decided
    assert resume(path, max_pulls=None, progress=False).decided


def test_a_date_that_is_moved_reopens_the_race(path: Path) -> None:
    soon = datetime.now() + timedelta(seconds=1.5)
    by_call(path, deadline=soon, confidence=0.999, bounds=(0, 10_000), max_pulls=None)
    pulls = len(path.read_bytes())
    assert by_resume(path).notes[0].startswith("nothing was run")
    later = datetime.now() + timedelta(seconds=2)
    result = by_resume(path, deadline=later)
    assert len(path.read_bytes()) > pulls
    assert result.notes[0].startswith("resumed with deadline=")


# Policies of one's own.


@dataclass(frozen=True)
class Mine(APR):
    name = "mine"


def evidence_of_my_own(task: Any, delta: float) -> Any:
    return make_evidence(task, delta, "group-sequential")


def test_a_race_with_a_policy_of_one_s_own_is_resumed_with_it(path: Path) -> None:
    by_call(path, policy=Mine(beta=1.5))
    view = read_journal(path)
    assert not view.resumes_alone
    assert view.how_to_resume.startswith("run its script again")
    with pytest.raises(InvalidInput, match="pass the policy itself, as policy="):
        resume(path, max_pulls=400)
    with pytest.raises(InvalidInput, match=r"policy=mine\(beta=1.5.*policy=mine\(beta=3"):
        resume(path, policy=Mine(beta=3.0))
    assert resume(path, policy=Mine(beta=1.5), max_pulls=4000, progress=False).decided


def test_a_race_with_a_function_in_its_policy_is_shown(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = Racing(evidence=evidence_of_my_own)
    again(path, policy=policy, max_pulls=30)
    assert main(["show", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    how = f"run its script again, or call race again with the same arguments and journal='{path}'"
    assert how in shown
    with pytest.raises(InvalidInput) as found:
        resume(path)
    assert how in str(found.value)
    assert again(path, policy=policy).decided


# What is said beforehand, and in the docs.


def test_check_names_the_cap_and_the_seeds() -> None:
    def facts(**options: Any) -> dict[str, str]:
        return dict(prepare(noisy, ARMS, cores=2, **options).describe())

    assert facts(max_pulls=500)["stops at"] == "a confidence of 0.95 or 500 pulls"
    paired = "pull k of every arm has the same"
    assert facts()["seeds"] == f"{paired}; arms are compared by their differences"
    assert facts(deadline=10)["seeds"] == paired
    assert facts(paired=False)["seeds"] == "every pull has its own"


def test_a_noise_that_is_no_word_gets_no_odd_hint() -> None:
    noise: Any = None
    with pytest.raises(InvalidInput, match=r"unknown noise None\. Known: auto, bernoulli"):
        race(noisy, ARMS, noise=noise)


def test_the_table_in_the_reference_is_up_to_date() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert resume_table() in page
    assert all(f"| `{name}` |" in resume_table() for name in OPTIONS)
