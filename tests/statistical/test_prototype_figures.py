"""The measured times of figure 3, against those that an independent prototype measured."""

import pytest

from benchmarks.figure3 import measure, standard_errors_apart
from benchmarks.prototype import APR_CELLS, BATCH_CELLS, Cell


@pytest.mark.parametrize("cell", APR_CELLS, ids=lambda c: f"q={c.q} gap={c.gap}")
def test_apr(cell: Cell) -> None:
    assert abs(standard_errors_apart(cell, *measure(cell, runs=400))) <= 3


@pytest.mark.parametrize("cell", BATCH_CELLS, ids=lambda c: f"q={c.q} gap={c.gap} m={c.batch}")
def test_batch_racing(cell: Cell) -> None:
    assert abs(standard_errors_apart(cell, *measure(cell, runs=200))) <= 3


def test_control_another_batch_size_is_told_apart() -> None:
    cell = next(cell for cell in BATCH_CELLS if cell.batch == 256)
    mean, error = measure(cell._replace(batch=32), runs=200)
    assert abs(standard_errors_apart(cell, mean, error)) > 3
