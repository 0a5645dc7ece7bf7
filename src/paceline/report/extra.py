"""What the page needs beyond paceline itself."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from paceline.errors import MissingExtra

_LEAST = (3, 8)  # the first whose tooltips name no more than so many of the arms in one place


@contextmanager
def needs_bokeh() -> Iterator[None]:
    """Say what to install if an import fails."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"the page of a race needs bokeh ({error}): pip install 'paceline[report]'"
        ) from None


def check_bokeh() -> None:
    """Refuse an installed bokeh that is too old for the charts."""
    try:
        found = version("bokeh")
    except PackageNotFoundError:  # without metadata nobody knows
        return
    if tuple(map(int, re.findall(r"\d+", found)[:2])) < _LEAST:
        least = ".".join(map(str, _LEAST))
        raise MissingExtra(
            f"the page of a race needs bokeh {least} or newer, and bokeh {found} is installed: "
            "pip install --upgrade 'paceline[report]'"
        )
