import csv
import re
from pathlib import Path

import numpy as np
import pytest

from paceline import BatchRacing, PowerLaw, simulate
from paceline.cli import main
from paceline.machine import AvailableCores
from paceline.paper import bounds, confidence, deadline
from paceline.paper.catalog import EXPERIMENTS
from paceline.paper.instances import linear_means
from paceline.paper.rectangles import place
from paceline.paper.report import Setup
from paceline.pools.timeline import Span


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same experiments, cut down to seconds."""
    monkeypatch.setattr(confidence, "GAPS", (0.1, 0.5))
    monkeypatch.setattr(confidence, "BATCHES", (16, 1024))
    monkeypatch.setattr(bounds, "GAPS", (0.1, 0.5))
    monkeypatch.setattr(deadline, "DEADLINES", {0.25: (20.0, 40.0), 0.9: (5e3, 1e4)})
    monkeypatch.setattr(deadline, "TUNING_DEADLINE", {0.25: 20.0, 0.9: 3e3})


@pytest.mark.usefixtures("small")
def test_all_experiments_write_figures_data_and_an_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from paceline.cli import reproduce

    one_core = AvailableCores(1, "for a test", (0,))
    monkeypatch.setattr(reproduce, "available_cores", lambda: one_core)  # patches reach no workers
    words = ["reproduce", "all", "--runs", "2", "--real-runs", "0", "-o", str(tmp_path)]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.err == ""  # no progress bar in a log
    assert "\x1b" not in captured.out
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for name in EXPERIMENTS:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        with (tmp_path / f"{name}.csv").open(encoding="utf-8") as stream:
            assert len(list(csv.reader(stream))) > 2
        assert f'src="{name}.svg"' in page
    assert not re.search(r"https?://", page)  # nothing is fetched from elsewhere


@pytest.mark.usefixtures("small")
def test_batch_racing_timed_after_the_fact_is_batch_racing() -> None:
    """Figure 3 times the same runs of Batch Racing with every q."""
    cells = confidence.measure(Setup(), runs=3)
    for cell in cells:
        if cell.batch is not None:
            direct = simulate(
                linear_means(cell.gap),
                BatchRacing(cell.batch, deviation=0.2),
                PowerLaw(cell.q),
                confidence=0.9,
                replications=3,
            )
            assert cell.mean == pytest.approx(direct.mean_seconds)
            assert cell.standard_error == pytest.approx(direct.standard_error)


@pytest.mark.usefixtures("small")
def test_deadlines_passed_by_one_race_of_ucb_e_are_as_races_of_their_own() -> None:
    from paceline import UCBE, Bernoulli
    from paceline.loop import run
    from paceline.paper.instances import uniform_means
    from paceline.policies.base import Task
    from paceline.simulation import prepare_race

    means = uniform_means(deadline.ARMS, 0, 0)
    passed = deadline._answers(deadline._Job(0.9, UCBE(0.25), 0, 0))
    for limit, gap in zip(deadline.DEADLINES[0.9], passed, strict=True):
        task = Task(arms=means.size, scaling=PowerLaw(0.9), deadline=limit)
        alone = run(*prepare_race(Bernoulli(means), UCBE(0.25), task, 0, 0), deadline=limit)
        assert gap == means.max() - means[alone.answer.arms[0]]


def test_the_worked_examples_come_out_to_the_digit() -> None:
    for example in bounds.worked_examples():
        digits = len(str(example.paper).partition(".")[2]) if example.paper % 1 else 0
        assert round(example.value, digits) == pytest.approx(example.paper), example.text


def test_the_paper_instance_is_clipped_where_it_would_leave_the_unit_interval() -> None:
    """The trap: the means of figure 3 go negative for gaps above 0.153."""
    assert linear_means(0.153).min() > 0
    assert linear_means(0.16).min() == 0.0
    assert linear_means(0.1)[-1] == pytest.approx(0.9 - 0.1 - 0.8 * 14 / 15)


def test_rectangles_do_not_overlap_and_keep_their_area() -> None:
    rng = np.random.default_rng(0)
    spans, now = [], 0.0
    for _ in range(30):  # two at a time, of any height that fits
        share = float(rng.uniform(0.1, 0.5))
        spans += [Span(0, 1, share, now, now + 1.0), Span(1, 1, 0.5, now, now + 1.5)]
        now += 1.5
    placed = place(spans)
    for i, a in enumerate(placed):
        assert 0 <= a.bottom <= a.bottom + a.height <= 1 + 1e-9
        for b in placed[:i]:
            apart = (
                a.span.start >= b.span.end - 1e-9
                or b.span.start >= a.span.end - 1e-9
                or a.bottom >= b.bottom + b.height - 1e-9
                or b.bottom >= a.bottom + a.height - 1e-9
            )
            assert apart
    assert sum(r.height for r in placed) == pytest.approx(sum(s.share for s in spans))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["confidense"], "did you mean 'confidence'"),
        (["setting", "--runs", "0", "-o", "/nowhere/figures"], "runs must be a whole number"),
        (["setting", "-o", __file__], "cannot make the folder"),
        (["setting", "-o", f"{__file__}/x"], "cannot make the folder"),
    ],
)
def test_bad_input_exits_with_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_missing_matplotlib_is_named_before_any_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["reproduce", "setting"]) == 2
    assert "pip install 'paceline[figures]'" in capsys.readouterr().err


def test_tables_are_plain_values() -> None:
    report = EXPERIMENTS["setting"](Setup())
    for table in (report.data, report.summary):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(type(value) in (int, float, str) for row in table.rows for value in row)
