import doctest
import itertools
import math
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import ttest_1samp

from paceline.cli import main

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "cosmology"

with pytest.MonkeyPatch.context() as patch:  # the example's modules import each other by name
    patch.syspath_prepend(FOLDER)
    import distances
    import likelihood
    import survey
    from distances import Cosmology
    from likelihood import CANDIDATES, evaluate, mean_score, scores
    from survey import TRUTH, BadSurvey, Survey

UNIVERSES = [
    (70.0, 0.3, 0.7),
    (65.0, 0.2, 0.5),
    (75.0, 0.5, 0.8),
    (60.0, 0.0, 0.0),
    (80.0, 1.0, 1.0),
]
SYNTHETIC = survey.synthetic()
GOOD = "0.1 38.3 0.2\n\n0.5 42.3 0.2 ignored\n"


def modulus(arm: tuple[float, float, float], z: float) -> float:
    """The same by the book, one point at a time."""
    h0, matter, dark_energy = arm
    radiation = max(0.0, 1 - matter - dark_energy)

    def slope(x: float) -> float:
        return 1 / math.sqrt(radiation * (1 + x) ** 4 + matter * (1 + x) ** 3 + dark_energy)

    integral: float = quad(slope, 0, z, epsabs=0, epsrel=1e-11)[0]
    return 5 * math.log10((1 + z) * 299792.48 / h0 * integral) + 25


def run(script: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(FOLDER / script), *words],
        env={name: text for name, text in os.environ.items() if name != survey.VARIABLE}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("module", [distances, survey, likelihood])
def test_docstrings_are_true(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


# Distances.


@pytest.mark.parametrize("steps", [likelihood.STEPS_FOR_MEANS, distances.STEPS])
@pytest.mark.parametrize("arm", UNIVERSES)
def test_moduli_are_those_of_an_independent_integral(
    arm: tuple[float, float, float], steps: int
) -> None:
    z = [0.01, 0.3, 1.0, 2.0]
    found = distances.moduli(arm, z, distances.integrals(arm, z, steps=steps))
    assert found == pytest.approx([modulus(arm, one) for one in z], abs=2e-6)


def test_a_universe_of_matter_alone_has_a_closed_form() -> None:
    z = np.array([0.01, 0.5, 1.5])
    arm = Cosmology(h0=70, matter=1.0, dark_energy=0.0)
    exact = 2 - 2 / np.sqrt(1 + z)
    assert distances.integrals(arm, z) == pytest.approx(exact, rel=1e-9)
    far = 5 * np.log10((1 + z) * 299792.48 / 70 * exact) + 25
    assert distances.moduli(arm, z, exact) == pytest.approx(far)


# Scores.


def test_the_mean_is_that_of_the_normal_log_densities() -> None:
    table = Survey(np.array([0.1, 0.8]), np.array([38.0, 44.0]), np.array([0.2, 0.4]), "by hand")
    arm = Cosmology(65, 0.2, 0.6)
    by_hand = [
        math.log(NormalDist(modulus(arm, z), sigma).pdf(mu))
        for z, mu, sigma in [(0.1, 38.0, 0.2), (0.8, 44.0, 0.4)]
    ]
    assert scores(arm, table) == pytest.approx(by_hand, abs=1e-6)
    assert mean_score(arm, table) == pytest.approx(sum(by_hand) / 2, abs=1e-4)


def test_a_point_that_does_not_fit_counts_for_a_thousand_at_most() -> None:
    table = Survey(np.array([0.1, 0.1]), np.array([20.0, 38.3]), np.array([0.1, 0.1]), "by hand")
    assert scores(TRUTH, table)[0] == -1000
    assert scores(TRUTH, table)[1] > -10


def test_the_coarser_grid_for_means_changes_nothing_that_matters() -> None:
    few = SYNTHETIC.take(np.arange(0, len(SYNTHETIC), 12))
    for arm in CANDIDATES[::9]:
        assert mean_score(arm, few) == pytest.approx(scores(arm, few).mean(), abs=1e-5)


# Pulls.


def test_the_seed_decides_and_the_cores_do_not() -> None:
    arm = CANDIDATES[5]
    alone = [evaluate(arm, seed=seed, survey=SYNTHETIC) for seed in range(4)]
    for cores in (1, 2, 3):
        again = [evaluate(arm, seed=seed, cores=cores, survey=SYNTHETIC) for seed in range(4)]
        assert again == alone  # to the last bit
    assert len(set(alone)) == 4


def test_a_pull_is_the_mean_of_fifty_points_that_the_seed_draws() -> None:
    drawn = np.random.default_rng(3).integers(len(SYNTHETIC), size=50)
    assert len(set(drawn.tolist())) < 50  # with replacement
    by_hand = scores(TRUTH, SYNTHETIC)[drawn].mean()
    assert evaluate(TRUTH, seed=3, survey=SYNTHETIC) == pytest.approx(by_hand, rel=1e-12)


def test_the_mean_of_pulls_is_that_over_all_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def coarse(
        arm: tuple[float, float, float], table: Survey, *, cores: int
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return scores(arm, table, steps=200, cores=cores)

    mean = mean_score(TRUTH, SYNTHETIC)
    monkeypatch.setattr(likelihood, "scores", coarse)  # a hundred times as quick, as good here
    pulls = [evaluate(TRUTH, seed=seed, survey=SYNTHETIC) for seed in range(2000)]
    assert ttest_1samp(pulls, mean).pvalue > 1e-4
    assert ttest_1samp(pulls, mean + 0.018).pvalue < 1e-6  # a bias like the smallest gap is seen


# Candidates.


def test_one_of_64_is_best_and_others_are_near() -> None:
    assert len(set(CANDIDATES)) == 64
    means = np.array([mean_score(arm, SYNTHETIC) for arm in CANDIDATES])
    gaps = np.sort(means.max() - means)
    assert CANDIDATES[int(np.argmax(means))] == TRUTH
    assert 0.01 < gaps[1] < 0.04
    assert (gaps < 0.3).sum() > 10
    assert (gaps > 0.5).sum() > 20


def test_the_race_file_has_the_same_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    file = FOLDER / "race.toml"
    arms = tomllib.loads(file.read_text())["arms"]
    grid = itertools.product(arms["h0"], arms["matter"], arms["lambda"])
    assert tuple(Cosmology(*values) for values in grid) == CANDIDATES
    assert main(["check", str(file)]) == 0
    assert "64: " in capsys.readouterr().out


# Surveys.


def test_the_synthetic_survey_is_always_the_same() -> None:
    again = survey.synthetic()
    for name in ("z", "mu", "sigma"):
        assert (getattr(again, name) == getattr(SYNTHETIC, name)).all()
    assert len(SYNTHETIC) == 192
    first = SYNTHETIC.z[0], SYNTHETIC.mu[0], SYNTHETIC.sigma[0]
    assert first == pytest.approx((0.0152993733, 34.0086892, 0.120249572), rel=1e-8)
    assert "synthetic" in SYNTHETIC.source


def test_the_truth_explains_the_synthetic_survey() -> None:
    def squares(arm: tuple[float, float, float]) -> float:
        found = distances.moduli(arm, SYNTHETIC.z, distances.integrals(arm, SYNTHETIC.z, steps=500))
        return float((((SYNTHETIC.mu - found) / SYNTHETIC.sigma) ** 2).mean())

    four_deviations = 4 * math.sqrt(2 / len(SYNTHETIC))
    assert squares(TRUTH) == pytest.approx(1, abs=four_deviations)
    assert squares((75, 0.3, 0.7)) > 1 + four_deviations
    assert squares((70, 0.5, 0.5)) > 1 + four_deviations


def test_a_table_is_read_from_a_path_or_from_where_the_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text(GOOD)
    other.write_text("0.2 40.0 0.1\n" * 3)
    table = survey.load(one)
    assert (table.z.tolist(), table.mu.tolist()) == ([0.1, 0.5], [38.3, 42.3])
    assert table.sigma.tolist() == [0.2, 0.2]
    assert table.source == "one.txt, 2 supernovae"
    monkeypatch.setenv(survey.VARIABLE, str(other))
    assert len(survey.load()) == 3
    assert len(survey.load(one)) == 2


def test_with_no_path_union_is_taken_if_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(survey.VARIABLE, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert survey.load().source == SYNTHETIC.source
    about = tmp_path / "ecopann-1.1.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: ecopann\nVersion: 1.1.1\n")
    (about / "RECORD").write_text("../gone/Union2.1.txt,,\necopann.py,,\ndata/Union2.1.txt,,\n")
    assert survey.load().source == SYNTHETIC.source
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "Union2.1.txt").write_text(GOOD)
    (tmp_path / "ecopann.py").write_text("raise RuntimeError('imported')\n")
    assert survey.load().source == "Union2.1, 2 supernovae"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD + "z mu sigma\n", "line 4: 'z mu sigma' does not start with three numbers; remove"),
        (GOOD + "0.1 38.0\n", r"line 4: too few columns \(2\); write redshift"),
        (GOOD + "0 38.0 0.1\n", "line 4: redshift 0; the first column has to be above 0"),
        (GOOD + "nan 38.0 0.1\n", "line 4: redshift nan"),
        (GOOD + "0.1 inf 0.1\n", "line 4: distance modulus inf"),
        (GOOD + "0.1 38.0 -1\n", "line 4: standard error -1; the third column has to be above 0"),
        ("0.1 38.0 0.1\n", "has 1 rows: give at least 2"),
        ("", "has 0 rows"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "table.txt"
    file.write_text(text)
    with pytest.raises(BadSurvey, match=f"table.txt.*{problem}"):
        survey.load(file)


@pytest.mark.parametrize(
    "make", [lambda file: None, lambda file: file.mkdir(), lambda file: file.write_bytes(b"\xff")]
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    file = tmp_path / "table.txt"
    make(file)
    with pytest.raises(BadSurvey, match=r"table.txt cannot be read: .* Give the full path"):
        survey.load(file)
    monkeypatch.setenv(survey.VARIABLE, str(file))
    with pytest.raises(BadSurvey, match=r"table.txt \(named by the variable SUPERNOVAE\) cannot"):
        survey.load()


# The command and the script.


def test_the_command_prints_what_the_function_returns(tmp_path: Path) -> None:
    file = tmp_path / "table.txt"
    file.write_text(GOOD)
    arm = "--h0 70 --matter 0.3 --lambda 0.7 --seed 7 --cores 2"
    expected = evaluate(Cosmology(70, 0.3, 0.7), seed=7, survey=survey.load(file))
    given = run("pull.py", *arm.split(), "--data", str(file))
    named = run("pull.py", *arm.split(), SUPERNOVAE=str(file))
    for done in (given, named):
        assert done.returncode == 0, done.stderr
        assert float(done.stdout.split()[-1]) == expected
        assert "table.txt, 2 supernovae" in done.stdout


def test_the_command_says_what_is_wrong_with_its_table(tmp_path: Path) -> None:
    arm = "--h0 70 --matter 0.3 --lambda 0.7 --seed 7"
    done = run("pull.py", *arm.split(), "--data", str(tmp_path / "gone.txt"))
    assert done.returncode == 2
    assert "gone.txt cannot be read: No such file" in done.stderr


def test_the_script_races_in_workers_and_prints_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "table.txt"
    file.write_text(GOOD)
    done = run("race.py", "--deadline", "5s", "--data", str(file))
    assert done.returncode == 0, done.stderr
    assert "survey: table.txt, 2 supernovae" in done.stdout
    assert "has the highest mean so far" in done.stdout
    assert "over all points: Cosmology(" in done.stdout
