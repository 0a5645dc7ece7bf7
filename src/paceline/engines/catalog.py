"""The engines by name: one line each."""

from collections.abc import Callable
from concurrent.futures import Executor
from importlib import import_module
from typing import Any, cast

from paceline.engines.base import Engine
from paceline.errors import InvalidInput, unknown_name


def _later(module: str, name: str) -> Callable[..., Engine]:
    """A constructor that imports its engine when it is chosen: what that needs may be missing."""

    def make(*given: Any) -> Engine:
        made: Engine = getattr(import_module(f"paceline.engines.{module}"), name)(*given)
        return made

    return make


ENGINES: dict[str, Callable[..., Engine]] = {
    "local": _later("local", "make"),
    "ray": _later("ray", "RayEngine"),
    "dask": _later("dask", "DaskEngine"),
    "slurm": _later("slurm", "SlurmEngine"),
}

_MEMBERS = ("name", "abilities", "available", "open", "now")
_WITH_ADDRESS = ("ray", "dask", "slurm")  # for Slurm: the kind of MPI
WITH_DEVICES = ("local", "ray", "slurm")  # to be said, without importing what they need


def find_engine(engine: Any, what: str = "engine") -> Engine:
    """The engine given, or the one with the name given.

    A name may be followed by where to connect to, as in "dask:tcp://10.0.0.7:8786". Any Executor
    of `concurrent.futures` is an engine, too, and so is a client of Dask.

    >>> find_engine("local").name
    'local'
    """
    if isinstance(engine, str):
        name, _, address = engine.partition(":")
        if address.startswith("//"):  # "ray://host:10001" is an address itself
            address = engine
        if name == "executor":
            raise InvalidInput(
                f"{what} 'executor' is an object, and has no name: in Python, give the executor as "
                "engine=, or else name another engine"
            )
        if name not in ENGINES or (address and name not in _WITH_ADDRESS):
            raise unknown_name(what, engine, ENGINES)
        return ENGINES[name](address) if address else ENGINES[name]()
    if isinstance(engine, Executor):
        return _later("executor", "ExecutorEngine")(engine)
    if _is_dask_client(engine):
        return ENGINES["dask"](engine)
    if isinstance(engine, type):
        raise InvalidInput(f"{engine.__name__} is a class: write {engine.__name__}() instead")
    lacking = [member for member in _MEMBERS if not hasattr(engine, member)]
    if len(lacking) == len(_MEMBERS):
        raise unknown_name(what, engine, ENGINES)
    if lacking:
        raise InvalidInput(f"{engine!r} is not an engine: it has no {', no '.join(lacking)}")
    return cast(Engine, engine)


def _is_dask_client(thing: Any) -> bool:
    """Whether it is a `distributed.Client`: if Dask was not imported, it is not."""
    return any(
        (kind.__module__.partition(".")[0], kind.__name__) == ("distributed", "Client")
        for kind in type(thing).__mro__
    )


def spec_of(engine: Engine) -> str:
    """What a journal keeps of an engine: its name, and where it connects to.

    >>> spec_of(find_engine("local"))
    'local'
    """
    address = getattr(engine, "address", None)
    return f"{engine.name}:{address}" if address else engine.name


def is_known(spec: Any) -> bool:
    """Whether an engine can be made from what a journal keeps of it."""
    return isinstance(spec, str) and spec.partition(":")[0] in ENGINES
