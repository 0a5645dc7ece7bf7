"""Pickles the user's function and arms for processes that cannot import the user's main script."""

import functools
import io
import sys
from typing import Any

import cloudpickle

_MAIN = ("__main__", "__mp_main__")  # the second is its name in processes that were spawned
_Cached: Any = functools._lru_cache_wrapper


def dumps(thing: Any) -> bytes:
    """Pickle by value whatever a worker could not import.

    >>> import pickle
    >>> pickle.loads(dumps(lambda x: 2 * x))(21)
    42

    cloudpickle does so for functions, but not for those behind a cache:

    >>> cached = functools.lru_cache(maxsize=5)(lambda x: 2 * x)
    >>> copy = pickle.loads(dumps(cached))
    >>> copy(21), copy.cache_info().maxsize, copy.__wrapped__(3)
    (42, 5, 6)
    """
    if "__mp_main__" in sys.modules:  # where cloudpickle knows `__main__` only
        cloudpickle.register_pickle_by_value(sys.modules["__mp_main__"])
    with io.BytesIO() as file:
        _Pickler(file).dump(thing)
        return file.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    def reducer_override(self, obj: Any) -> Any:
        """How an object is pickled, if not as usual."""
        if type(obj) is _Cached and not _can_be_imported(obj):
            size, typed = obj.cache_parameters().values()
            made_of = (obj.__wrapped__, size, typed, functools._CacheInfo)
            return _Cached, made_of, dict(vars(obj))
        return super().reducer_override(obj)


def _can_be_imported(function: Any) -> bool:
    if function.__module__ in _MAIN:
        return False
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function
