"""What the worker processes are like from the inside."""

import ast
import sys
from pathlib import Path

import pytest

import paceline.engines.local.process as package
from paceline.commands import finding
from tests.engines.local.driving import job, opened, run, values

FOLDER = Path(package.__file__).parent
OURS = sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_"))


def test_it_imports_the_standard_library_only() -> None:
    for file in [*FOLDER.glob("*.py"), Path(finding.__file__)]:  # which workers load by its path
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                continue
            assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names, file


def test_a_pull_finds_nothing_heavy_loaded() -> None:
    def loaded(arm: float) -> float:
        import sys

        heavy = ("numpy", "paceline.")  # a race's own process has both
        return float(sum(name.startswith(heavy) for name in sys.modules))

    with opened(loaded) as workers:
        assert values(run(workers, job(0))) == [0.0]


def test_the_modules_of_users_may_have_the_names_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"killing", "supervisor", "worker"} <= set(OURS)
    for number, name in enumerate(OURS):
        (tmp_path / f"{name}.py").write_text(f"NUMBER = {number}\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def imports(arm: str) -> float:
        import importlib

        return float(importlib.import_module(arm).NUMBER)

    with opened(imports, OURS) as workers:
        for number, _ in enumerate(OURS):
            assert values(run(workers, job(number, arm=number))) == [float(number)]


def test_what_is_not_there_is_not_found_among_ours() -> None:
    def imports(arm: str) -> float:
        import importlib.util

        return float(importlib.util.find_spec(arm) is None)

    with opened(imports, OURS) as workers:
        for number, _ in enumerate(OURS):
            assert values(run(workers, job(number, arm=number))) == [1.0]


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_pull_may_have_processes_of_its_own(method: str) -> None:
    def squares(arm: float) -> float:
        import multiprocessing

        with multiprocessing.get_context(method).Pool(2) as pool:
            return float(sum(pool.map(abs, [-1, -2, 3])))

    with opened(squares) as workers:
        assert values(run(workers, job(0))) == [6.0]
