"""The examples that figures use, imported as a user's script would."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from paceline.errors import InvalidInput

_HERE = Path(__file__).resolve()
# In a wheel, and in a checkout of the repository.
_PLACES = (_HERE.parents[1] / "examples", _HERE.parents[3] / "examples")


def example_folder(name: str) -> Path:
    """The folder of an example."""
    for place in _PLACES:
        if (place / name).is_dir():
            return place / name
    raise InvalidInput(
        f"the example {name} is not installed: run this in a checkout of paceline, or install a "
        "wheel that was built from one"
    )


def load_example(name: str, module: str) -> ModuleType:
    """Import a module of an example. Its folder goes first on the path: workers look there too."""
    folder = str(example_folder(name))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(module)
