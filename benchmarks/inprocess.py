"""Real races of quick functions without worker processes, for tests and benchmarks with many."""

from paceline.engines.simulated import SimulatedEngine

GROUP = 128


def in_process() -> SimulatedEngine:
    """An engine of one core, on which every pull takes a tenth of a millisecond.

    What it really takes says nothing here, and would make every race another.
    """
    return SimulatedEngine(cores=1, seconds=lambda _: 1e-4, group=GROUP)
