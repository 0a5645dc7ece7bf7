"""Tells numeric libraries how many threads to use after they were imported.

They read that from the environment, once, when they are imported. A worker for several cores that
is forked from a process which has imported them for one core has to tell them itself. OpenBLAS and
the OpenMP of GCC can be told; numpy, scipy and scikit-learn use these two.
"""

import ctypes
import os

# Libraries with threads of their own that are not told here.
_OTHERS = ("libmkl", "libiomp", "libomp", "libblis", "libtbb", "libarmpl", "libnvomp", "libnvpl")
_OPENBLAS = tuple(
    f"{before}openblas_set_num_threads{after}"
    for before in ("", "scipy_")
    for after in ("", "64_", "_64")
)


def can_be_told() -> bool:
    """Whether all libraries in this process that have threads of their own can be told."""
    return not any(os.path.basename(path).startswith(_OTHERS) for path in libraries())


def tell_threads(cores: int) -> None:
    """Have the libraries in this process use as many threads as there are cores."""
    for path in libraries():
        name = os.path.basename(path)
        if "openblas" in name:
            # It never starts more than there are processors, if it is told by its variable.
            _call(path, _OPENBLAS, min(cores, len(os.sched_getaffinity(0))))
        elif name.startswith("libgomp"):
            _call(path, ("omp_set_num_threads",), cores)


def libraries() -> set[str]:
    """The files of all shared libraries in this process."""
    with open("/proc/self/maps") as stream:
        words = [line.rstrip("\n").split(maxsplit=5) for line in stream]
    return {word[5] for word in words if len(word) == 6 and ".so" in word[5]}


def _call(path: str, names: tuple[str, ...], number: int) -> None:
    library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    for name in names:
        function = getattr(library, name, None)
        if function is not None:
            function(ctypes.c_int(number))
