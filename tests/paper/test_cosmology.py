import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from paceline import InvalidInput
from paceline.cli import main
from paceline.core.fitting import Runtime
from paceline.machine import AvailableCores
from paceline.paper import cosmology, cosmology_lab, examples
from paceline.paper.cosmology_lab import Lab, load_study
from paceline.paper.examples import load_example
from paceline.paper.report import Setup
from paceline.paper.resampled import Resampled
from paceline.races import Profile
from paceline.simulation import simulate
from paceline.testing import ProblemContract

SCORES = np.array([[0.0, 1.0, 5.0], [2.0, 2.0, 2.0]])
HALF = Profile(Runtime("power law", parallel=0.03, exponent=0.5), {1: [0.03], 2: [0.02]}, cores=2)


# --- the problem in virtual time ---


class TestResampled(ProblemContract):
    problem = Resampled(np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 4.0]]), size=4)


def test_pulls_in_virtual_time_are_distributed_as_real_ones() -> None:
    found = load_study(Setup())
    arm = found.best
    real = [found.pull(found.candidates[arm], seed=seed) for seed in range(100)]
    drawn = found.problem.draw_each(np.array([arm]), 4000, 0, np.random.default_rng(1))[0]
    worse = found.problem.draw_each(np.array([arm - 1]), 4000, 0, np.random.default_rng(1))[0]
    assert kstest(real, drawn).pvalue > 1e-4
    assert kstest(real, worse).pvalue < 1e-4  # the control: a neighbour's are not


def test_sums_and_squares_are_those_of_single_pulls() -> None:
    problem = Resampled(SCORES, size=4)
    arms, pulls = np.array([0, 1]), np.array([30_000, 7])
    sums, squares = problem.draw(arms, pulls, arms, np.random.default_rng(0))
    assert sums[1] == 14.0
    assert squares[1] == 28.0
    spread = squares[0] / 30_000 - (sums[0] / 30_000) ** 2
    assert sums[0] / 30_000 == pytest.approx(2.0, abs=5 * problem.sigma / 30_000**0.5)
    assert spread == pytest.approx(problem.sigma**2, rel=0.05)


def test_paired_pulls_share_their_points() -> None:
    problem = Resampled(np.array([SCORES[0], SCORES[0] - 1.0]), size=4)
    values = problem.draw_each(np.array([0, 1]), 50, 0, np.random.default_rng(0))
    np.testing.assert_allclose(values[0] - values[1], 1.0)


# --- the experiment ---


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four candidates that are easy to tell apart, on two pools."""
    likelihood = load_example("cosmology", "likelihood")
    monkeypatch.setattr(likelihood, "CANDIDATES", likelihood.CANDIDATES[6::16])
    for module in (cosmology, cosmology_lab):
        monkeypatch.setattr(module, "POOLS", (2, 8))
        monkeypatch.setattr(module, "CONFIDENCE_POOLS", (2,))
    monkeypatch.setattr(cosmology_lab, "TIMED_RUNS", 2)


@pytest.mark.usefixtures("few")
def test_the_experiment_writes_its_figure_its_data_and_its_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "cosmology", "--runs", "3", "--real-runs", "1", "-o", str(tmp_path)]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "supernovae: synthetic, 192 points" in captured.out
    assert "staged for real: right in" in captured.out
    assert "over all points the best is h0=70 " in captured.out
    for name in ("cosmology.png", "cosmology.svg", "cosmology-table.csv"):
        assert (tmp_path / name).stat().st_size > 0
    with (tmp_path / "cosmology.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    real = {(row["goal"], row["policy"]) for row in rows if row["where"] == "real"}
    assert real == {
        *(("deadline", name) for name in ("SH", "SSH", "staged")),
        *(("confidence", name) for name in cosmology_lab.REAL_CONFIDENCE),
    }
    answer = json.loads((tmp_path / "cosmology-answer.json").read_text(encoding="utf-8"))
    assert answer["confidence"] == 0.95
    with (tmp_path / "cosmology-answer.csv").open(encoding="utf-8") as stream:
        assert next(csv.DictReader(stream))["label"] == answer["best"]


def test_a_table_of_the_users_is_used_and_named(tmp_path: Path) -> None:
    table = tmp_path / "mine.txt"
    table.write_text("0.1 38.3 0.2\n0.5 42.3 0.2\n0.9 43.9 0.2\n", encoding="utf-8")
    found = load_study(Setup(data=table))
    assert found.source == "mine.txt, 3 supernovae"
    assert found.problem.scores.shape == (64, 3)


def test_the_deadline_is_the_papers() -> None:
    lab = Lab(Setup(), load_study(Setup()), HALF)
    assert lab.combined(2) == 2
    stage = lab.pool(2).seconds(64.0)
    assert 3 * stage < lab.deadline < 6 * stage  # enough for SSH's three stages, not for SH's six


def test_where_a_pool_is_scarce_halving_with_k_one_fails_more_often() -> None:
    lab = Lab(Setup(processes=1), load_study(Setup()), HALF)

    def errors(name: str) -> int:
        policy = cosmology_lab.DEADLINE_POLICIES[name]
        found = simulate(
            lab.study.problem, policy, lab.pool(2), deadline=lab.deadline, replications=200
        )
        return int((~found.correct).sum())

    assert errors("SSH") < errors("SH")
    assert errors("staged") < errors("SH")


def test_rates_of_few_races_are_not_said_to_be_far_apart() -> None:
    ones = np.ones(2)
    right = cosmology_lab._cell("deadline", 2, "real", "SSH", ones > 0, ones, ones.astype(int))
    often = right._replace(races=60, success=0.5)
    pooled = 32 / 62
    error = (pooled * (1 - pooled) * (1 / 2 + 1 / 60)) ** 0.5
    assert cosmology._apart(right, often) == pytest.approx(0.5 / error)
    assert cosmology._apart(right, often) < 2
    assert cosmology._apart(right._replace(races=600), often._replace(races=600)) > 10
    assert cosmology._apart(right, right) == 0.0


# --- what is refused ---


def test_one_core_is_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    one = AvailableCores(1, "for a test", (0,))
    monkeypatch.setattr(cosmology, "available_cores", lambda: one)
    with pytest.raises(
        InvalidInput, match="needs 2 cores to measure how pulls scale: this process may use 1"
    ):
        cosmology.reproduce(Setup())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cosmology", "--data", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["cosmology", "--real-runs", "-1"], "--real-runs"),
        (["deadline", "--data", "x"], "--data goes with cosmology, not with deadline"),
        (["theory", "--real-runs", "3"], "--real-runs goes with cosmology, not with theory"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *words, "-o", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_without_the_example_it_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere: Any = (Path("/nowhere"),)
    monkeypatch.setattr(examples, "_PLACES", nowhere)
    with pytest.raises(InvalidInput, match="the example cosmology is not installed"):
        load_example("cosmology", "likelihood")
