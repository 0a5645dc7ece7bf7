"""The options that say where pulls run, and on how much: see `options.py`."""

from typing import Any

from paceline.core.pool import MOST_CORES
from paceline.engines.catalog import ENGINES, find_engine, spec_of
from paceline.notation import SCALING_HELP
from paceline.pools.room import bytes_of
from paceline.races import checks, forms, resuming
from paceline.races.option import Option

POOL = "the pool"


def _name_of(engine: Any) -> str:
    """How a journal names an engine; of a race that is only read, it is known by that alone."""
    return engine if isinstance(engine, str) else spec_of(engine)


POOL_OPTIONS = (
    Option(
        "engine",
        "local",
        "ENGINE",
        f"where pulls run: {', '.join(ENGINES)} (default local)",
        find_engine,
        POOL,
        kept="session",
        in_profile=True,
        record=lambda settings: _name_of(settings.options["engine"]),
    ),
    Option(
        "cores",
        None,
        "N",
        "the size of the pool (default: all that this process may use)",
        checks.optional(checks.count(1, most=MOST_CORES)),
        POOL,
        kept="session",
        words=int,
        in_profile=True,
    ),
    Option(
        "cores_per_pull",
        None,
        "N|LO-HI",
        "fix the cores of a pull, or keep them in a range (default: adapted during the race)",
        checks.optional(checks.cores_per_pull),
        POOL,
        kept="session",
        words=forms.number_or_range,
        in_profile=True,
        recall=forms.tuple_or_other,
    ),
    Option(
        "at_once",
        None,
        "N",
        "no more pulls than this run at once: for licences, devices, or times that must not be "
        "disturbed",
        checks.optional(checks.count(1, most=MOST_CORES)),
        POOL,
        kept="session",
        words=int,
        in_profile=True,
    ),
    Option(
        "memory_per_pull",
        None,
        "SIZE",
        "what a pull needs, as in 4GB: no more run at once than fit into memory",
        checks.optional(bytes_of),
        POOL,
        kept="session",
        in_profile=True,
    ),
    Option(
        "unit",
        "cores",
        "",
        "what the pool counts: cores, or gpus, of which pulls are then given some",
        checks.one_of("cores", "gpus"),
        POOL,
        kept="session",
        choices=("cores", "gpus"),
        in_profile=True,
    ),
    Option(
        "scaling",
        None,
        "SCALING",
        f"{SCALING_HELP}; default: measured during the race",
        checks.optional(checks.scaling),
        POOL,
        kept="session",
        short="-s",
        record=lambda settings: forms.write_scaling(settings.pool, settings.shape),
        recall=forms.read_scaling,
        on_resume=resuming.SCALING,
    ),
    Option(
        "backups",
        True,
        "",
        "start a pull once more if it takes far too long and depends on its seed alone",
        checks.truth,
        POOL,
        kept="session",
        flag="on or off",
    ),
)
