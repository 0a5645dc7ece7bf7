"""Fingerprints of arms and functions, by their content: the same in every process that has it.

They say whether a journal belongs to the arms and the function at hand. Numbers count exactly,
dictionaries by key, sets in any order, arrays by their bytes, objects by their class and state.
Functions count by their code, their defaults, what they close over and what they use.
"""

import copyreg
import functools
import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

import numpy as np

from paceline.races.code import home_of, is_users, source_of, text_of
from paceline.races.functions import Code, Global, used_by

SCHEME = 1  # to be raised if the same content gets another fingerprint
_DEEPEST = 25  # how many functions are followed, each used by the one before
_HEX_DIGITS = 16
_PYTHON = f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}"

_PLAIN: dict[type, Callable[[Any], bytes]] = {
    NoneType: lambda _: b"n;",
    bool: lambda value: b"t;" if value else b"f;",
    int: lambda value: b"i%x;" % value,
    float: lambda value: f"d{value.hex()};".encode(),
    complex: lambda value: f"c{value.real.hex()},{value.imag.hex()};".encode(),
    str: lambda value: b"s%d:%b" % (len(value), value.encode("utf-8", "surrogatepass")),
    bytes: lambda value: b"b%d:%b" % (len(value), value),
}
_CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)
_DATA = (*_PLAIN, *_CONTAINERS, np.generic, PurePath, date, time, timedelta, Enum)
_METHODS = (property, staticmethod, classmethod, functools.cached_property)
_CODE = (FunctionType, MethodType, BuiltinFunctionType, functools.partial, type, ModuleType)


@dataclass(frozen=True)
class Fingerprint:
    """A hash of some content, and the types of what in it cannot be told apart between runs.

    A hash that rests on bytecode begins with the version of Python.
    """

    text: str
    unknown: tuple[str, ...] = ()


def fingerprint(value: Any) -> Fingerprint:
    """The fingerprint of a value.

    >>> fingerprint({"x": 1, "y": {2, 3}}) == fingerprint({"y": {3, 2}, "x": 1})
    True
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 2)
    False
    >>> fingerprint([1, 2.5, "x", (None, True)])
    Fingerprint(text='3e35049a756a6fd2', unknown=())
    """
    return _Scribe().fingerprint(value)


def fingerprints(values: Iterable[Any], home: str | None = None) -> list[Fingerprint]:
    """The fingerprints of several values; what they share is looked at once.

    `home` is the module of the race: see `is_users`.
    """
    scribe = _Scribe(home)
    return [scribe.fingerprint(value) for value in values]


def parts_of(evaluate: Any) -> dict[str, Fingerprint]:
    """The fingerprints of all that makes a function what it is, by what they are called.

    >>> SCALE = 3
    >>> def evaluate(arm, bias=0):
    ...     return SCALE * arm + bias
    >>> list(parts_of(evaluate))
    ['its code', 'its defaults', 'SCALE']
    """
    home = home_of(evaluate)
    scribe = _Scribe(home)
    if isinstance(evaluate, functools.partial):
        arguments = scribe.fingerprint((evaluate.args, evaluate.keywords))
        return parts_of(evaluate.func) | {"its arguments": arguments}
    if isinstance(evaluate, MethodType):
        state = scribe.fingerprint(evaluate.__self__)
        return parts_of(evaluate.__func__) | {"its object": state}
    if isinstance(evaluate, FunctionType):
        if not is_users(evaluate):
            return {}  # of a library, and known by its name
        return {name: scribe.fingerprint(part) for name, part in used_by(evaluate, home).items()}
    if callable(wrapped := getattr(evaluate, "__wrapped__", None)):
        return parts_of(wrapped)
    if isinstance(evaluate, type | BuiltinFunctionType):
        return {"its class or object": scribe.fingerprint(evaluate)}
    return {
        "the code of its class": scribe.fingerprint(type(evaluate)),
        "its state": scribe.fingerprint(evaluate),
    }


def differs(before: str, now: str) -> bool:
    """Whether two fingerprints show a difference; those of different kinds say nothing.

    >>> differs("12ab", "12ac"), differs("cpython-3.11:12ab", "cpython-3.13:77ff")
    (True, False)
    """
    return before != now and before.rpartition(":")[0] == now.rpartition(":")[0]


class _Scribe:
    """Writes values as bytes. A container is written as a hash, and only once."""

    def __init__(self, home: str | None = None) -> None:
        self._home = home
        # What was written, and what was noted on the way; with the value, so that its id stays its.
        self._known: dict[int, tuple[Any, bytes, set[str]]] = {}
        self._open: dict[int, int] = {}  # the containers around: how deep they are
        self._functions = 0  # around
        self._notes: set[str] = set()  # what is unknown, and _PYTHON if there is bytecode

    def fingerprint(self, value: Any) -> Fingerprint:
        self._notes = set()
        try:
            written = self._write(value)
        except RecursionError:
            self._open.clear()
            self._functions = 0
            written = self._give_up(value)
        text = hashlib.blake2b(written).hexdigest()[:_HEX_DIGITS]
        if _PYTHON in self._notes:
            text = f"{_PYTHON}:{text}"
        return Fingerprint(text, tuple(sorted(self._notes - {_PYTHON})))

    def _write(self, value: Any) -> bytes:
        plain = _PLAIN.get(type(value))
        if plain is not None:
            return plain(value)
        key, outer = id(value), self._notes
        if key in self._open:  # a cycle: how far up
            return b"@%d;" % (len(self._open) - self._open[key])
        if key not in self._known:
            self._open[key] = len(self._open)
            self._notes = set()
            try:
                body = self._body(value)
            except RecursionError:
                raise
            except Exception:  # of the user's own methods: it does not say what it is
                body = self._give_up(value)
            written = b"#" + hashlib.blake2b(body, digest_size=16).digest()
            self._known[key] = (value, written, self._notes)
            del self._open[key]
        _, written, notes = self._known[key]
        self._notes = outer | notes if notes else outer
        return written

    def _body(self, value: Any) -> bytes:
        kind, write = type(value), self._write
        if kind is list or kind is tuple:
            return (b"l" if kind is list else b"u") + b"".join(map(write, value))
        if kind is dict:
            return b"m" + b"".join(sorted(write(key) + write(one) for key, one in value.items()))
        if kind is set or kind is frozenset:
            return b"e" + b"".join(sorted(map(write, value)))
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return f"g{value.dtype.str}".encode() + value.tobytes()
        if isinstance(value, PurePath):
            return b"p" + write(str(value))
        if isinstance(value, Enum):
            return b"E" + write(kind.__qualname__) + write(value.name) + write(value.value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, ModuleType):
            return b"M" + write(value.__name__)
        if isinstance(value, Global):
            content = value.value
            by_content = isinstance(content, (*_DATA, *_CODE)) or _is_table(content)
            return b"G" + write(content if by_content or callable(content) else type(content))
        if isinstance(value, Code | CodeType | FunctionType | MethodType | BuiltinFunctionType):
            return self._function(value)
        if callable(getattr(value, "__wrapped__", None)):  # functools.cache
            return b"w" + write(value.__wrapped__)
        if isinstance(value, _METHODS):
            names = ("fget", "fset", "__func__", "func")
            return b"d" + write([getattr(value, name, None) for name in names])
        return self._table(value) if _is_table(value) else self._object(value)

    def _array(self, value: Any) -> bytes:
        head = self._write((type(value).__name__, str(value.dtype), value.shape))
        if isinstance(value, np.ma.MaskedArray):
            head += self._write(np.ma.getmaskarray(value))
        if value.dtype.hasobject:
            return b"O" + head + self._write(value.tolist())
        data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
        return b"A" + head + hashlib.blake2b(data.data).digest()

    def _table(self, value: Any) -> bytes:
        """Tables of pandas, and arrays of other libraries."""
        kind = type(value).__name__
        if hasattr(value, "iloc") and hasattr(value, "columns"):
            columns = [value.iloc[:, place].to_numpy() for place in range(value.shape[1])]
            types = [str(one) for one in value.dtypes]
            return b"D" + self._write((kind, list(value.columns), types, value.index, columns))
        name = getattr(value, "name", None)
        content = value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)
        index = getattr(value, "index", None)  # of a series; a method, if it is an index itself
        rows = None if callable(index) else index
        return b"D" + self._write((kind, name, str(value.dtype), rows, content))

    def _function(self, value: Any) -> bytes:
        write = self._write
        if isinstance(value, Code):
            node = source_of(value.function)
            return write(value.function.__code__) if node is None else write(text_of(node))
        if isinstance(value, CodeType):
            self._notes.add(_PYTHON)
            shape = (value.co_argcount, value.co_kwonlyargcount, value.co_flags, value.co_varnames)
            return b"B" + write([value.co_code, value.co_consts, value.co_names, shape])
        if isinstance(value, MethodType):
            return b"b" + write(value.__func__) + write(value.__self__)
        if isinstance(value, BuiltinFunctionType):
            owner = None if isinstance(value.__self__, ModuleType) else value.__self__
            return b"B" + write(value.__qualname__) + write(owner)
        if not is_users(value, self._home) or self._functions >= _DEEPEST:
            return b"F" + write(value.__module__) + write(value.__qualname__)
        self._functions += 1
        written = b"F" + write(used_by(value, self._home))
        self._functions -= 1
        return written

    def _class(self, kind: type) -> bytes:
        write = self._write
        if not is_users(kind, self._home):
            return b"C" + write(kind.__module__) + write(kind.__qualname__)
        is_record = hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields")
        members = {
            name: one
            for name, one in vars(kind).items()
            if isinstance(one, (*_DATA, *_METHODS, FunctionType))
            and (not name.startswith("__") or isinstance(one, FunctionType))
            # What a dataclass generates has no source, and follows from its fields.
            and not (is_record and isinstance(one, FunctionType) and source_of(one) is None)
        }
        return b"C" + write(kind.__qualname__) + write(kind.__bases__) + write(members)

    def _object(self, value: Any) -> bytes:
        """Any other object: what `pickle` would keep of it."""
        if isinstance(value, Mapping):
            content: Any = dict(value)
        else:
            reduce = copyreg.dispatch_table.get(type(value))
            content = value.__reduce_ex__(4) if reduce is None else reduce(value)
        if isinstance(content, str):
            return b"o" + self._write((type(value), content))
        if isinstance(content, tuple):
            made, arguments, state, items, pairs = (*content, None, None, None)[:5]
            listed = None if items is None else list(items)
            content = (made, arguments, state, listed, None if pairs is None else dict(pairs))
        return b"o" + self._write((type(value), content))

    def _give_up(self, value: Any) -> bytes:
        name = type(value).__qualname__
        self._notes.add(name)
        return b"?" + name.encode()


def _is_table(value: Any) -> bool:
    if isinstance(value, type):
        return False
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return True
    return hasattr(value, "dtype") and (hasattr(value, "__array__") or hasattr(value, "to_numpy"))
