"""`python -m tests.chaos [MINUTES] [SEED]`: attack races, and say what was tried and what broke."""

import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.campaign import attack


def main(words: list[str]) -> int:
    """Attack for so many minutes; the status is 1 if anything broke."""
    minutes = float(words[0]) if words else 20.0
    seed = int(words[1]) if len(words) > 1 else time.time_ns()
    folder = Path(tempfile.mkdtemp(prefix="paceline-chaos-"))
    print(f"attacking for {minutes:g} minutes with seed {seed}; journals in {folder}", flush=True)
    account = attack(60 * minutes, seed, folder, say=lambda text: print(text, flush=True))
    print(account)
    return 1 if account.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
