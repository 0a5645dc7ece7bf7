"""Tells what the machine, or people, may have done from what a program has done itself."""

import errno
import signal

# Too many processes or threads, too little memory, too many open files, a full disk.
_SHORT = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC})

# People send these, batch systems do, and the system does when memory is short.
_NAMES = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")  # not every system has them all
_FROM_OUTSIDE = frozenset(getattr(signal, name) for name in _NAMES if hasattr(signal, name))


def is_shortage(error: BaseException) -> bool:
    """Whether an error says that the machine is short of memory, processes, files or disk.

    >>> is_shortage(MemoryError()), is_shortage(OSError(errno.EAGAIN, "fork"))
    (True, True)
    >>> is_shortage(KeyError("rate")), is_shortage(FileNotFoundError(errno.ENOENT, "no such file"))
    (False, False)
    """
    if isinstance(error, OSError):
        return error.errno in _SHORT
    no_thread = isinstance(error, RuntimeError) and "can't start new thread" in str(error)
    return isinstance(error, MemoryError) or no_thread


def may_be_from_outside(number: int) -> bool:
    """Whether a signal, by its number, may have been sent by somebody else.

    >>> may_be_from_outside(signal.SIGKILL), may_be_from_outside(signal.SIGSEGV)
    (True, False)
    """
    return number in _FROM_OUTSIDE
