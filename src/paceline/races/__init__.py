"""Real races: `paceline.race`, and what goes with it."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import Any

from paceline.commands import Command
from paceline.core.scaling import Scaling
from paceline.engines.base import Engine
from paceline.policies.base import Policy
from paceline.races.asking import Race
from paceline.races.file import RaceFile, read_race_file
from paceline.races.options import check_options
from paceline.races.prepared import Prepared
from paceline.races.profiling import Profile, profile
from paceline.races.pulls import Pull
from paceline.races.reading import Follower, JournalView, open_journal, read_journal, resume
from paceline.races.settings import check_cores, check_race
from paceline.races.typed import Arm, GivenArms
from paceline.result import Result

__all__ = [
    "Follower",
    "JournalView",
    "Prepared",
    "Profile",
    "Pull",
    "Race",
    "RaceFile",
    "open_journal",
    "prepare",
    "profile",
    "race",
    "read_journal",
    "read_race_file",
    "resume",
]


def race(
    evaluate: Callable[..., Any] | Command,
    arms: GivenArms[Arm],
    *,
    confidence: float | None = None,
    deadline: Any = None,
    direction: str = "maximize",
    top: int = 1,
    tolerance: float = 0.0,
    noise: str = "auto",
    bounds: Sequence[float] | None = None,
    sigma: float | None = None,
    paired: bool | None = None,
    cores: int | None = None,
    cores_per_pull: int | tuple[int, int] | None = None,
    engine: str | Engine | Executor = "local",
    scaling: Scaling | None = None,
    policy: str | Policy | None = None,
    journal: str | os.PathLike[str] | None = None,
    accept_changes: bool = False,
    seed: int = 0,
    retries: int = 2,
    timeout: Any = None,
    on_failure: str = "drop-arm",
    max_pulls: float | None = None,
    labels: Iterable[Any] | None = None,
    callbacks: Sequence[Any] = (),
    progress: Any = None,
    at_once: int | None = None,
    memory_per_pull: Any = None,
    unit: str = "cores",
    backups: bool = True,
    keep_prints: bool = True,
) -> Result[Arm]:
    """Find the best of `arms` by evaluating them, again and again, on this machine's cores.

    `evaluate(arm)` returns a number; higher is better unless `direction="minimize"`. If it takes
    `seed` or `cores` it is given them. Each pull runs in a worker process, on cores of its own.

    >>> import random
    >>> def evaluate(arm, *, seed):
    ...     return arm + random.Random(seed).gauss(0, 0.1)
    >>> result = race(evaluate, [0.0, 1.0, 2.0], confidence=0.95)
    >>> result.best, result.confidence
    (2.0, 0.95)

    **Arms** are a list of anything, a dict of name -> arm, an array (its rows), or a pandas data
    frame (each row is a dict). `labels` names them; without it they have the names that the dict or
    the index gives, or are called by what they are made of.

    **When it stops.** With `confidence` (0.95 if neither is given), when the best arm is known with
    that probability. With `deadline` (seconds, "10m", a timedelta or a datetime), at that time,
    with the best answer so far. With both, at whichever comes first; `result.confidence` is then
    what was reached. An arm worse than the best by at most `tolerance` is good enough. `max_pulls`
    is a cap. `top` asks for the best few.

    **Noise.** `"bernoulli"` (0 or 1), `"bounded"` with `bounds=(lowest, highest)`, `"normal"`,
    `"subgaussian"` with `sigma`. `"auto"` looks at the first values: if they are not all 0 or 1, it
    takes them as normal with unknown variances. `paired` gives pull k of every arm the same seed
    and compares arms by their differences; None does so if `evaluate` takes a seed and it cannot
    cost much.

    **Cores.** `engine` says where pulls run. `cores` is the pool: by default every core this
    process may use. `cores_per_pull` is None (adapt), a number, or (least, most). `scaling` says
    how pulls scale; by default this is learned from the first pulls, which run on different numbers
    of cores. No more than `at_once` pulls run at once, whatever the cores; with `memory_per_pull`
    (bytes, or "4GB"), no more than fit into memory. With `unit="gpus"` the pool counts devices, and
    `evaluate` may take `gpus`. Cores that would idle do the next pulls of arms still in. With
    `backups`, a pull that takes far longer than others is started a second time, with its seed, if
    it takes one.

    **Trouble.** A pull that raises, dies, takes longer than `timeout` or gives no finite number is
    tried `retries` more times with the same seed; then its arm is out (`on_failure="drop-arm"`) or
    the race stops (`"stop"`). With a `journal` (a path) everything is recorded: call an interrupted
    or killed race again, and it resumes from there. A journal of other arms, or of a function that
    has changed since, is refused; `accept_changes` resumes with the changed function.

    What pulls print is kept, up to a limit, in `result.printed` and in the journal, unless
    `keep_prints=False`.

    `callbacks` are called with a `Standing` after every round; one that returns True stops the
    race. An object may have `on_round(standing)`, `on_result(pull, standing)`, `on_end(result)`.
    `progress` shows the standings; None shows them in a notebook, and on a terminal.
    """
    given = dict(locals())
    return prepare(given.pop("evaluate"), given.pop("arms"), **given).run()


def prepare(
    evaluate: Callable[..., Any] | Command, arms: Iterable[Any], **options: Any
) -> Prepared:
    """Check everything that can be checked, and run nothing. Takes the arguments of `race`.

    >>> prepare(abs, [1, 2], deadline="10s", cores=2).describe()[0]
    ('arms', '2: "1", "2"')
    """
    settings = check_race(evaluate, arms, check_options(options))
    check_cores(settings)
    return Prepared(settings)
