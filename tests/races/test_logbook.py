"""The logger "paceline": what happens, for those who have set up logging; else nothing."""

import io
import logging
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import Standing
from paceline.display.lines import PlainLines
from tests.races.virtual import VirtualEngine


def noisy(arm: Any, *, seed: int) -> float:
    return float(len(str(arm))) + random.Random(seed).gauss(0, 0.3)


ARMS = {"one": "a", "two": "bb", "three": "ccc"}


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """What a handler writes that a user has set up."""
    stream, logger = io.StringIO(), logging.getLogger("paceline")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def run(arms: Any = ARMS, **options: Any) -> paceline.Result:
    given: dict[str, Any] = {"engine": VirtualEngine(), "progress": False} | options
    return paceline.race(noisy, arms, **given)


def test_a_race_from_its_beginning_to_its_verdict(said: io.StringIO, tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    result = run(journal=path)
    lines = said.getvalue().splitlines()
    assert lines[0] == (
        'INFO race begun: 3 arms: "one", "two" and "three"; confidence 0.95; 4 cores (simulated); '
        f"journal {path}"
    )
    assert lines[-1].startswith("INFO race ended after ")
    assert lines[-1].endswith(result.verdict)
    assert sum(line.startswith("DEBUG round ") for line in lines) == result.rounds
    out = "".join(line for line in lines if line.startswith("INFO out after "))
    assert '"one"' in out
    assert '"two"' in out
    again = said.tell()
    run(journal=path)
    (line,) = said.getvalue()[again:].splitlines()
    assert line.startswith("INFO nothing was run: the race had ended on ")


def test_of_many_arms_few_are_named(said: io.StringIO) -> None:
    run([{"x": x} for x in range(400)], max_pulls=400)
    first = said.getvalue().splitlines()[0]
    assert first.startswith("INFO race begun: 400 arms: x=0, x=1, x=2, x=3, x=4, x=5 and 394 more;")


def test_an_interrupt_and_a_resume(said: io.StringIO, tmp_path: Path) -> None:
    def stop(standing: Standing) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "race.jsonl"
    with pytest.raises(paceline.Interrupted) as found:
        run(journal=path, callbacks=[stop])
    assert said.getvalue().splitlines()[-1] == f"WARNING race {found.value}"
    run(journal=path, max_pulls=500)
    assert f"and {found.value.result.pulls} pulls: 3 arms" in said.getvalue()
    assert "INFO race resumed after " in said.getvalue()
    assert "resumed with max_pulls=500, was None" in said.getvalue()


def test_failures_and_warnings(said: io.StringIO) -> None:
    with pytest.warns(paceline.RaceWarning):
        run(engine=VirtualEngine(fatal=lambda arm, pull: arm == 0), bounds=(0, 2.5))
    text = said.getvalue()
    assert 'INFO pull 0 of arm "one" raised ValueError: broken (attempt 1)' in text
    assert "WARNING out after " in text
    assert ', because it failed: "one"' in text
    assert "WARNING bounds=(0, 2.5) does not hold" in text


def test_what_stops_a_race(said: io.StringIO) -> None:
    with pytest.raises(paceline.RaceFailed):
        run(engine=VirtualEngine(fatal=lambda arm, pull: True))
    assert said.getvalue().splitlines()[-1].startswith("ERROR race stopped: RaceFailed: all 3 arms")


def test_hostile_labels_are_made_visible(said: io.StringIO) -> None:
    run({"a\x1b[2J\nINFO b": "a", "c\u202e": "bb", "x" * 10_000: "ccc"})
    text = said.getvalue()
    assert r"a\x1b[2J INFO b" in text
    assert r"c\u202e" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 1000


def test_rounds_cost_nothing_and_are_not_told_above_debug(said: io.StringIO) -> None:
    logging.getLogger("paceline").setLevel(logging.INFO)
    run()
    assert "round 1" not in said.getvalue()
    assert "INFO race ended" in said.getvalue()


def test_nothing_is_printed_unless_logging_is_set_up() -> None:
    script = (
        "import logging, sys, paceline\n"
        "if len(sys.argv) > 1: logging.basicConfig(level=logging.INFO)\n"
        "def f(arm, *, seed): return arm + seed % 100 / 100\n"
        "paceline.race(f, [0, 1, 2], cores=2, bounds=(0, 3))\n"
    )
    quiet = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    told = subprocess.run([sys.executable, "-c", script, "x"], capture_output=True, text=True)
    assert told.stdout == ""
    assert told.stderr.startswith("INFO:paceline:race begun: 3 arms")
    assert told.stderr.count("race ended") == 1


def test_a_handler_that_writes_where_the_screen_does_says_nothing_twice(
    said: io.StringIO,
) -> None:
    screen = PlainLines(said)
    run(progress=screen)
    text = said.getvalue()
    assert "race begun" not in text
    assert "round 1" in text
    assert sum(line.startswith("round 1,") for line in text.splitlines()) == 1
    run()
    assert "race begun" in said.getvalue()
    elsewhere = PlainLines(io.StringIO())
    before = said.tell()
    run(progress=elsewhere)
    assert "race begun" in said.getvalue()[before:]
