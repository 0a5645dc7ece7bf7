"""The ridge regression of examples/linear_algebra."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paceline
from examples.linear_algebra import ridge
from paceline.cli import main
from paceline.races.file import read_race_file

FOLDER = Path(__file__).parents[2] / "examples" / "linear_algebra"
RACE = FOLDER / "race.toml"


def printed(*options: str, threads: int = 1) -> float:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": str(threads)}
    command = [sys.executable, str(FOLDER / "ridge.py"), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def test_a_seed_gives_the_same_error_and_another_seed_another() -> None:
    assert ridge.evaluate(400.0, seed=3) == pytest.approx(ridge.evaluate(400.0, seed=3), rel=1e-9)
    assert ridge.evaluate(400.0, seed=3) != pytest.approx(ridge.evaluate(400.0, seed=4), rel=1e-3)


def test_the_command_gives_the_errors_of_the_function_on_any_number_of_threads() -> None:
    expected = ridge.evaluate(400.0, seed=3)
    for threads in (1, 2):
        error = printed("--penalty", "400", "--seed", "3", threads=threads)
        assert error == pytest.approx(expected, rel=1e-9)


def test_the_data_are_what_the_page_says() -> None:
    columns, target, layer = ridge.draw(seed=5)
    assert columns.shape == (ridge.ROWS + ridge.HELD_OUT, ridge.COLUMNS)
    assert layer.shape == (ridge.COLUMNS, ridge.FEATURES)
    assert abs(columns.mean()) < 0.01
    assert columns.std() == pytest.approx(1.0, abs=0.01)
    assert layer.std() * np.sqrt(ridge.COLUMNS) == pytest.approx(1.0, abs=0.02)
    # The first twelve columns count, the others do not.
    correlations = [np.corrcoef(column, target)[0, 1] for column in columns.T]
    assert min(correlations[:12]) > 0.1
    assert max(np.abs(correlations[12:])) < 0.1


def test_the_penalty_matters_and_the_best_lies_inside_the_grid() -> None:
    errors = {
        penalty: np.mean([ridge.evaluate(penalty, seed=seed) for seed in range(3)])
        for penalty in (ridge.PENALTIES[0], 1600.0, ridge.PENALTIES[-1])
    }
    assert min(errors, key=lambda penalty: errors[penalty]) == 1600.0
    assert errors[1600.0] > ridge.NOISE**2  # no fit can be better
    assert errors[ridge.PENALTIES[0]] > 1.3 * errors[1600.0]


def blas_threads(_arm: int, *, cores: int) -> float:
    """1 if the BLAS was told to take as many threads as the pull has cores."""
    return float(os.environ["OPENBLAS_NUM_THREADS"] == str(cores))


@pytest.mark.parametrize("cores", [1, 2])
def test_a_race_gives_the_blas_as_many_threads_as_the_pull_has_cores(cores: int) -> None:
    result = paceline.race(blas_threads, [0, 1], cores=2, cores_per_pull=cores, max_pulls=4)
    assert [arm.mean for arm in result.arms] == [1.0, 1.0]


def test_missing_options_are_named() -> None:
    command = [sys.executable, str(FOLDER / "ridge.py"), "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--penalty" in done.stderr


def test_the_script_finds_the_function_beside_it() -> None:
    command = [sys.executable, "-c", "import race; print(race.evaluate.__module__)"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "ridge"


def test_the_file_and_the_script_race_the_same_penalties() -> None:
    race = read_race_file(RACE)
    assert [arm["penalty"] for arm in race.arms] == list(ridge.PENALTIES)


def test_the_race_file_passes_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(RACE)]) == 0
    assert "ridge.py --penalty 1 --seed" in capsys.readouterr().out
