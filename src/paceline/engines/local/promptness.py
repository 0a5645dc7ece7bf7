"""Asks Linux for a short time slice: a thread then gets a processor sooner, though no more of it.

On a machine full of others' work a thread waits for its turn, the longer the lower its priority;
but who asks for little at a time waits less. Linux 6.12 and later heed this, and anybody may ask.
"""

import ctypes
import os
import platform
from ctypes import c_int32, c_uint32, c_uint64

_SLICE_NANOSECONDS = 100_000  # the least that Linux gives; three milliseconds are usual
# The numbers of the system calls that set and get how a thread is scheduled.
_CALLS = {"x86_64": (314, 315), "aarch64": (274, 275)}


class _Scheduling(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32),
        ("policy", c_uint32),
        ("flags", c_uint64),
        ("nice", c_int32),
        ("priority", c_uint32),
        ("slice", c_uint64),
        ("deadline", c_uint64),
        ("period", c_uint64),
    )


class Promptness:
    """Makes the thread that creates it prompt, until it is closed; does nothing where it cannot."""

    def __init__(self) -> None:
        self._before: int | None = None  # the slice in nanoseconds
        scheduling = _get()
        if scheduling is not None and scheduling.policy == os.SCHED_OTHER:
            self._before = scheduling.slice
            _set_slice(scheduling, _SLICE_NANOSECONDS)

    def close(self) -> None:
        """Give the thread the slice that it had."""
        scheduling = _get()
        if self._before is not None and scheduling is not None:
            _set_slice(scheduling, self._before)
        self._before = None


def _get() -> _Scheduling | None:
    """How this thread is scheduled; None where that cannot be told."""
    calls = _CALLS.get(platform.machine())
    if platform.system() != "Linux" or calls is None:
        return None
    found = _Scheduling()
    failed = ctypes.CDLL(None).syscall(calls[1], 0, ctypes.byref(found), ctypes.sizeof(found), 0)
    return None if failed else found


def _set_slice(scheduling: _Scheduling, nanoseconds: int) -> None:
    scheduling.slice = nanoseconds
    ctypes.CDLL(None).syscall(_CALLS[platform.machine()][0], 0, ctypes.byref(scheduling), 0)
