"""What the page needs beyond paceline itself."""

from collections.abc import Iterator
from contextlib import contextmanager

from paceline.errors import MissingExtra


@contextmanager
def needs_bokeh() -> Iterator[None]:
    """Say what to install if an import fails."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"the page of a race needs bokeh ({error}): pip install 'paceline[report]'"
        ) from None
