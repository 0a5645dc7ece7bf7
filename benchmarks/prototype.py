"""What an independent prototype measured, to be reproduced.

n = 16 Bernoulli arms, δ = 0.1, β = 2, deviation × 0.2, means clipped to [0, 1]; mean seconds at
the gaps below. And the share of 2,000 runs in which SSH and SH found the best of 1024 arms.
"""

from typing import NamedTuple

GAPS = (0.01, 0.03, 0.1, 0.3, 0.5)

_APR: dict[float, list[tuple[float, float]]] = {
    0.9: [(44782, 1016), (6880, 147), (1240, 22), (282, 5), (136, 3)],
    0.5: [(742, 13), (250, 2), (113, 1), (46.4, 0.8), (28.6, 0.3)],
    0.25: [(56.8, 0.6), (29.96, 0.04), (17.2, 0.3), (13.84, 0.06), (9.96, 0.2)],
    # Given without an error, to three digits.
    0.1: [(9.24, 0.0), (9.13, 0.0), (4.00, 0.0), (3.96, 0.0), (3.96, 0.0)],
}
_BATCH_RACING: dict[float, list[tuple[float, int]]] = {
    0.9: [(37837, 4096), (5612, 1024), (827, 64), (167, 16), (83, 4)],
    0.5: [(678, 65536), (252, 4096), (84, 1024), (34.7, 256), (21.9, 64)],
}


class Cell(NamedTuple):
    """A mean time of the prototype; `batch` is None for APR, `error` 0 where none was given."""

    q: float
    gap: float
    batch: int | None
    seconds: float
    error: float


APR_CELLS = [
    Cell(q, gap, None, seconds, error)
    for q, row in _APR.items()
    for gap, (seconds, error) in zip(GAPS, row, strict=True)
]
BATCH_CELLS = [
    Cell(q, gap, batch, seconds, 0.0)
    for q, row in _BATCH_RACING.items()
    for gap, (seconds, batch) in zip(GAPS, row, strict=True)
]

# q -> (deadline, success of SSH, success of SH)
SUCCESS: dict[float, list[tuple[float, float, float]]] = {
    0.1: [(4, 0.56, 0.00), (5, 0.84, 0.00), (8, 0.98, 0.00)],
    0.25: [
        (20, 0.18, 0.01),
        (28, 0.59, 0.02),
        (40, 0.76, 0.12),
        (56, 0.89, 0.29),
        (80, 0.95, 0.69),
    ],
    0.5: [
        *((200, 0.27, 0.15), (300, 0.52, 0.29), (500, 0.70, 0.60)),
        *((1000, 0.85, 0.78), (2000, 0.92, 0.90)),
    ],
    # k* = 1: SSH is sequential halving.
    0.9: [(5e3, 0.29, 0.29), (1e4, 0.59, 0.59), (5e4, 0.80, 0.80), (1e5, 0.87, 0.87)],
}
