"""Columns as a data frame, if pandas is installed."""

from collections.abc import Mapping
from typing import Any

from paceline.errors import MissingExtra


def frame(columns: Mapping[str, Any], instead: str) -> Any:
    """A pandas data frame; `instead` names the attribute of a result that has the same."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra(
            f"to_frame needs pandas: pip install pandas, or use result.{instead}"
        ) from None
    return pandas.DataFrame(dict(columns))
