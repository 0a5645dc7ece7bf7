"""The code of a user's functions, as a text that comments, layout and log lines do not change.

The text is made from the syntax tree, so it is the same in every version of Python. Where there is
no source, the bytecode has to do: it says something only to the same version.
"""

import ast
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

_IGNORED = {"annotation", "ctx", "kind", "returns", "type_comment", "type_params"}
_LOGGERS = {"log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER", "_LOG", "_LOGGER"}
_LEVELS = {"critical", "debug", "error", "exception", "info", "log", "warn", "warning"}

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def source_of(function: FunctionType) -> ast.AST | None:
    """The syntax tree of a function, or None if its source cannot be found."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    found = [node for node in _functions_in(text) if _may_be(node, code)]
    if len(found) > 1:  # lambdas in one line
        found = [node for node in found if _holds(node, code)]
    return found[0] if len(found) == 1 else None


def text_of(node: ast.AST) -> str:
    """The tree of a function as text, without its name, its decorators and its defaults.

    Decorators and defaults were evaluated when it was defined: what they gave counts instead.

    >>> once = ast.parse("def f(x: int):\\n    '''Twice.'''\\n    print(x)\\n    return 2 * x")
    >>> again = ast.parse("def g(x):  # faster\\n    return (2*x)")
    >>> text_of(once.body[0]) == text_of(again.body[0])
    True
    """
    assert isinstance(node, _Function)
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    given = node.args
    parameters = [given.posonlyargs, given.args, given.vararg, given.kwonlyargs, given.kwarg]
    return f"{[_dumped(one) for one in parameters]}{_dumped(body)}"


def names_in(node: ast.AST) -> set[str]:
    """The names that a function reads, also those in modules, such as `tools.score`."""
    names: set[str] = set()
    for one in _kept(node):
        if isinstance(one, ast.Name):
            names.add(one.id)
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            names.add(f"{one.value.id}.{one.attr}")
    return names


def names_in_code(code: CodeType) -> set[str]:
    """The names that bytecode reads, which may be those of globals."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*map(names_in_code, inner))


def home_of(evaluate: Any) -> str:
    """The module that a function comes from."""
    while True:
        for name in ("func", "__func__", "__wrapped__"):  # of partials, methods and wrappers
            if callable(inner := getattr(evaluate, name, None)):
                evaluate = inner
                break
        else:
            kind = evaluate if hasattr(evaluate, "__qualname__") else type(evaluate)
            return str(getattr(kind, "__module__", None) or "")


def is_users(thing: FunctionType | type | ModuleType, home: str | None = None) -> bool:
    """Whether it was written by the user, and does not come with a library.

    With a home, only its own package counts, files beside it, and the script that was started.

    >>> is_users(ast.parse), is_users(int)
    (False, False)
    """
    name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__ or ""
    file = thing.__code__.co_filename if isinstance(thing, FunctionType) else _file_of(name)
    if name == "__main__":
        return not file.startswith(_library())
    if not file or file.startswith(("<frozen", *_library())):
        return False
    if "site-packages" in file or "dist-packages" in file:
        return False
    if home is None or name.partition(".")[0] == home.partition(".")[0]:
        return True
    return os.path.dirname(file) == os.path.dirname(_file_of(home)) != ""


def _file_of(module: str) -> str:
    return str(getattr(sys.modules.get(module), "__file__", None) or "")


@cache
def _library() -> tuple[str, ...]:
    """The folders of Python and of paceline itself."""
    python = {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")}
    return (*python, os.path.dirname(os.path.dirname(__file__)) + os.sep)


@lru_cache(maxsize=32)
def _functions_in(text: str) -> tuple[_Function, ...]:
    try:
        return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, _Function))
    except (SyntaxError, ValueError, RecursionError):  # a cell of a notebook, with its magic
        return ()


def _may_be(node: _Function, code: CodeType) -> bool:
    """Whether the code is that of this function, by its place, its name and its parameters."""
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    if list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) != names:
        return False
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return code.co_name == node.name and first == code.co_firstlineno


def _holds(node: _Function, code: CodeType) -> bool:
    """Whether all of the code stands in the body of this lambda."""
    if not isinstance(node, ast.Lambda):
        return True
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    places = [place for place in code.co_positions() if None not in place and place[3]]
    return all(start <= (row, left) and (last, right) <= end for row, last, left, right in places)


def _dumped(value: Any) -> str:
    """A tree as text, without what has no effect; empty fields differ between versions."""
    if isinstance(value, list):
        return f"[{','.join(_dumped(one) for one in value if not _has_no_effect(one))}]"
    if not isinstance(value, ast.AST):
        return f"{type(value).__name__}:{value!r}"
    fields = [
        f"{name}={_dumped(one)}"
        for name, one in ast.iter_fields(value)
        if name not in _IGNORED and one is not None and one != []
    ]
    return f"{type(value).__name__}({','.join(fields)})"


def _kept(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a tree that its text has."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in _IGNORED:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST) and not _has_no_effect(one):
                    yield from _kept(one)


def _has_no_effect(node: Any) -> bool:
    """Whether it is a docstring, or prints or logs something: no value depends on these."""
    if not isinstance(node, ast.Expr):
        return False
    value = node.value
    if isinstance(value, ast.Constant):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        return called.value.id in _LOGGERS and called.attr in _LEVELS
    return isinstance(called, ast.Name) and called.id == "print"
