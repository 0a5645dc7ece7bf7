"""Which settings of xz make logs smallest? Tried on a log that is made up anew every time.

    python3 compress.py --lc 3 --pb 2 --seed 7 --cores 2

makes up a log, pipes it through `xz --threads=2`, and prints its compressed size as a share of the
whole. xz cuts its input into blocks, and its threads take them in turn: on more cores it is done
sooner. The blocks are the same on any number of cores, but on one core their headers are a few
bytes shorter: 1 in 5,000 of the whole.

`man xz` explains lc and pb, under `--lzma2`.
"""

import argparse
import random
import shutil
import subprocess
import sys
from itertools import accumulate

LINES, WORDS_PER_LINE = 15_000, 6
CONSONANTS, VOWELS = "bdfgklmnprst", "aeiou"
BLOCK_BYTES = 64 * 1024  # some 15 blocks, so that a few cores have enough to share


def make_log(seed: int, lines: int = LINES) -> bytes:
    """Lines of a time, a few words of which some come often, a duration and a name."""
    rng = random.Random(seed)
    syllables = [rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(256)]
    words = ["".join(rng.choices(syllables, k=rng.choice((2, 3)))) for _ in range(600)]
    weights = [1 / (rank + 3) for rank in range(len(words))]  # about Zipf's law
    common = rng.choices(words, weights, k=256)
    # With 256 to choose from, looking up random bytes is the quickest way to draw.
    said = map(common.__getitem__, rng.randbytes(WORDS_PER_LINE * lines))
    named = map(syllables.__getitem__, rng.randbytes(3 * lines))
    times, durations = accumulate(rng.randbytes(lines)), rng.randbytes(lines)
    parts = zip(times, durations, *[named] * 3, *[said] * WORDS_PER_LINE, strict=True)
    return "".join(
        f"{time:07d} {' '.join(message)} took={duration} user={one}{two}{three}\n"
        for time, duration, one, two, three, *message in parts
    ).encode()


def command(lc: int, pb: int, cores: int) -> list[str]:
    """What to run: reads from standard input, writes to standard output."""
    return [
        "xz",
        "--compress",
        "--stdout",
        f"--threads={cores}",
        f"--block-size={BLOCK_BYTES}",
        # No match reaches out of its block: a larger dictionary would only take time to clear.
        f"--lzma2=preset=6,dict={BLOCK_BYTES},lc={lc},pb={pb}",
    ]


def ratio(data: bytes, lc: int, pb: int, cores: int) -> float:
    """The compressed size as a share of the whole; lower is better."""
    if shutil.which("xz") is None:
        sys.exit("there is no xz here: install it (the package is called xz-utils or xz)")
    done = subprocess.run(command(lc, pb, cores), input=data, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"xz ended with status {done.returncode}: what it said stands above")
    return len(done.stdout) / len(data)


def main() -> None:
    """Read the options, compress, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lc", type=int, default=3, help="bits of context of a literal, 0 to 4")
    parser.add_argument("--pb", type=int, default=2, help="bits of the position that count, 0 to 4")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()
    data = make_log(options.seed)
    print("ratio", ratio(data, options.lc, options.pb, options.cores))


if __name__ == "__main__":
    main()
