"""Be the supervisor: `python -P <this folder> <socket> <pidfd of the driver> <control group>`.

The first two are numbers of open files; -1 and an empty word say that there is none.

The folder is loaded as a package with a name of its own and is removed from the search path. So a
user's module named `worker`, like one of ours, is still found.
"""

import importlib.util
import os
import sys
from types import ModuleType

_NAME = "_paceline_process"


def load() -> ModuleType:
    """Import the supervisor from this folder, whose own name is not known here."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    spec = importlib.util.spec_from_file_location(
        _NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"{_NAME}.sharing")


if __name__ == "__main__":
    load().main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
