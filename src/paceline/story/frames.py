"""Columns as a data frame, if pandas is installed; and the parameters of arms as columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from paceline.errors import MissingExtra


def frame(
    columns: Mapping[str, Any],
    instead: str,
    *,
    of_arms: Mapping[str, Sequence[Any]] | None = None,
    ordered: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """A pandas data frame; `instead` names the attribute of a result that has the same.

    `of_arms` has columns with a row per arm, for rows whose arm is in the column "arm". `ordered`
    has the words of columns whose order means something.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtra(
            f"to_frame needs pandas: pip install pandas, or use result.{instead}"
        ) from None
    data = pandas.DataFrame({name: _typed(column) for name, column in columns.items()})
    for name, words in (ordered or {}).items():
        data[name] = pandas.Categorical(data[name], categories=list(words), ordered=True)
    if not of_arms:
        return data
    arms = pandas.DataFrame({name: _typed(column) for name, column in of_arms.items()})
    return data.join(arms, on="arm")


def parameter_columns(
    given: Sequence[Mapping[str, Any] | None], taken: Sequence[str]
) -> dict[str, list[Any]]:
    """The parameters of arms as columns, None where an arm has none of that name.

    >>> parameter_columns([{"x": 1, "mean": 5}, {"x": 2}], taken=["mean"])
    {'x': [1, 2], 'mean (parameter)': [5, None]}
    """
    names = dict.fromkeys(name for one in given for name in one or ())
    columns: dict[str, list[Any]] = {}
    for name in names:
        column = name
        while column in taken or column in columns or (column != name and column in names):
            column += " (parameter)"
        columns[column] = [(one or {}).get(name) for one in given]
    return columns


def _typed(column: Any) -> Any:
    """A column whose whole numbers stay whole, though some are missing."""
    import pandas

    if not isinstance(column, list) or None not in column:
        return column
    kinds = {type(one) for one in column} - {type(None)}
    return pandas.array(column) if kinds in ({int}, {bool}) else column
