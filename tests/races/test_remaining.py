"""What a race says of the time left: on the way, and from its journal."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paceline import Standing, race
from paceline.cli import main
from paceline.display.standings import standing_lines
from paceline.races import open_journal, read_journal
from paceline.report.summary import fragments
from paceline.story.brief import describe_remaining, describe_standing

ARMS = [0.0, 0.2, 0.3, 0.6]


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(f"{seed} {arm}").gauss(0, 1)


def watched(journal: Path, **options: Any) -> list[Standing]:
    seen: list[Standing] = []
    race(
        noisy, ARMS, cores=2, paired=False, journal=journal, progress=False,
        callbacks=[seen.append], **options,
    )  # fmt: skip
    return seen


def test_callbacks_are_told_and_a_journal_says_the_same_while_the_race_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "race.jsonl"
    read: list[Standing] = []

    def stop(standing: Standing) -> bool:
        if standing.remaining is None:
            return False
        read.extend(read_journal(journal).standing for _ in range(2))
        return bool(read[0].remaining)

    race(
        noisy, ARMS, cores=2, confidence=0.95, paired=False, journal=journal, progress=False,
        callbacks=[stop],
    )  # fmt: skip
    first, second, *_ = read
    assert first.remaining is not None
    assert first.remaining == second.remaining
    low, median, high = first.remaining
    assert 0 <= low <= median <= high
    assert describe_remaining(first).endswith(" more")
    told = open_journal(journal)  # nobody runs it any more: no time is left
    assert told.standing.remaining is None
    _cut_the_ending(journal)
    killed = open_journal(journal)
    assert killed.standing.remaining is None
    assert " more" not in str(fragments(killed.story)["facts"])
    assert main(["show", str(journal)]) == 0
    shown = capsys.readouterr().out
    assert "not finished and not running" in shown
    assert "\nleft " not in shown


def _cut_the_ending(journal: Path) -> None:
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"kind":"ending"' not in line))


def test_nothing_finer_than_a_tenth_of_a_second() -> None:
    standing = Standing(9.0, None, 3, 9, 8, 8, (), minimize=False)
    for span, said in {
        (0.0, 0.0, 0.033): "any moment now",
        (0.033, 0.1, 0.26): "0 to 0.3 s more",
        (0.24, 0.25, 0.25): "about 0.2 s more",
        (0.033, 0.5, 1.44): "0 to 1.4 s more",
    }.items():
        assert describe_remaining(replace(standing, remaining=span)) == said


def test_a_deadline_alone_says_nothing_more(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    watched(journal, deadline=1, max_pulls=60)
    assert read_journal(journal).standing.remaining is None


def test_it_is_on_the_line_and_in_the_table_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "race.jsonl"
    watched(journal, confidence=0.95, max_pulls=150)
    standing = replace(read_journal(journal).standing, remaining=(120.0, 200.0, 360.0))
    assert describe_standing(standing).endswith("; 2 to 6 min more")
    assert "2 to 6 min more" in standing_lines(standing, 200, 20)[0].text
    late = replace(standing, deadline=standing.elapsed + 60)
    assert describe_remaining(late) == "not decided before the deadline"
    assert main(["show", str(journal)]) == 0
    out = capsys.readouterr().out
    assert "\nleft " not in out  # it is over
    assert main(["show", str(journal), "--json"]) == 0
    assert '"remaining": ' in capsys.readouterr().out


def test_a_page_of_a_race_under_way_says_it(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    watched(journal, confidence=0.95, max_pulls=150)
    story = open_journal(journal).story
    standing = replace(story.standing, remaining=(120.0, 200.0, 360.0))
    under_way = replace(story, standing=standing, outcome=replace(story.outcome, ended=False))
    assert "2 to 6 min more" in " ".join(fragments(under_way).values())
    over = replace(under_way, outcome=replace(story.outcome, ended=True))
    assert "2 to 6 min more" not in " ".join(fragments(over).values())
