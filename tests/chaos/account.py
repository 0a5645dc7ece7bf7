"""What was tried, and what broke."""

import threading
from collections import Counter


class Account:
    """Counts attacks and keeps what broke; several threads may write to it."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.broken: list[str] = []
        self._lock = threading.Lock()

    def tried_one(self, what: str) -> None:
        """Count an attack."""
        with self._lock:
            self.tried[what] += 1

    def broke(self, what: str) -> None:
        """Note that a promise was broken, and say so at once."""
        with self._lock:
            self.broken.append(what)
            print(f"BROKEN: {what}", flush=True)

    def expect(self, holds: bool, what: str) -> None:
        """Note what is broken unless it holds."""
        if not holds:
            self.broke(what)

    @property
    def kills(self) -> int:
        """How many times something was killed."""
        return sum(count for what, count in self.tried.items() if what.startswith("killed"))

    def __str__(self) -> str:
        lines = [f"{count:7,}  {what}" for what, count in sorted(self.tried.items())]
        return "\n".join([*lines, f"{len(self.broken):7,}  broken promises", *self.broken])
