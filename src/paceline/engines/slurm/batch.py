"""A race as a batch job, which goes on in one allocation after the other until it has a verdict."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paceline.engines.slurm.allocation import program
from paceline.errors import InvalidInput

SUBMITTED = "PACELINE_SUBMITTED"  # holds the number of the job whose script was written here

_SHORTEST_SECONDS = 60.0  # the least that Slurm knows
_WHOLE_NODES = ("--exclusive", "--mem=0")
_PARTS_OF_NODES = ("-n", "--ntasks", "-c", "--cpus-per-task", "--ntasks-per-node", "--exclusive")

_BODY = """\
# At the time limit (USR1) or when the job is preempted (TERM), the race closes its journal and the
# job is requeued. It goes on from the journal in its next allocation, until it has a verdict.
export {submitted}="$SLURM_JOB_ID"
journal={journal}
results() {{ grep -c '^{{"kind":"results"' "$journal" 2>/dev/null || true; }}
before=$(results)
told= limit=
trap 'told=1; limit=1; kill -TERM "$race" 2>/dev/null' USR1
trap 'told=1; kill -TERM "$race" 2>/dev/null' TERM
{race} &
race=$!
wait "$race"
status=$?
while [ -n "$told" ]; do  # a signal has ended the wait, not the race
    told=
    wait "$race"
    again=$?
    [ "$again" -eq 127 ] || status=$again
done
[ "$status" -eq 130 ] || exit "$status"
if [ -z "$limit" ] && ! scontrol show job "$SLURM_JOB_ID" | grep -q 'JobState=RUNNING'; then
    echo "not requeued: the job was cancelled, or Slurm requeues it"  # it is about to end
elif [ "$(results)" = "$before" ]; then
    echo "not requeued: no pull has ended in this allocation. Submit it again with a longer --time"
    exit 4
else
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
"""


@dataclass(frozen=True)
class Batch:
    """A race to be submitted: the words of its command line, its journal, and what to ask for."""

    words: tuple[str, ...]  # after `paceline`
    journal: Path
    nodes: int = 1
    seconds: float | None = None  # of an allocation; None: what the partition gives
    partition: str | None = None
    options: tuple[str, ...] = ()  # more for sbatch

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InvalidInput(f"--nodes {self.nodes}: a race needs one at least")
        if self.seconds is not None and self.seconds < _SHORTEST_SECONDS:
            raise InvalidInput("--time is less than a minute, the least that Slurm knows: raise it")

    @property
    def script_path(self) -> Path:
        """Where the batch script is written, beside the journal."""
        return self.journal.with_suffix(".sbatch")

    @property
    def output_path(self) -> Path:
        """Where the job writes what the race prints."""
        return self.journal.with_suffix(".out")

    def script(self) -> str:
        """The batch script.

        >>> words = ("run", "race.toml", "--engine", "slurm")
        >>> script = Batch(words, Path("/home/ada/race.jsonl"), nodes=2, seconds=6 * 3600).script()
        >>> for line in script.splitlines()[1:6]:
        ...     print(line)
        #SBATCH --job-name=race
        #SBATCH --nodes=2
        #SBATCH --exclusive
        #SBATCH --mem=0
        #SBATCH --time=360
        """
        options = [f"--job-name={self.journal.stem}", f"--nodes={self.nodes}"]
        if not any(option.partition("=")[0] in _PARTS_OF_NODES for option in self.options):
            options += _WHOLE_NODES
        if self.seconds is not None:
            options.append(f"--time={int(-(-self.seconds // 60))}")
        if self.partition is not None:
            options.append(f"--partition={self.partition}")
        options += [
            f"--output={self.output_path}",
            "--open-mode=append",  # each allocation writes after the ones before
            "--requeue",
            "--no-kill",  # a node that fails takes only its own pulls along
            f"--signal=B:USR1@{self._notice_seconds}",
            *self.options,
        ]
        race = shlex.join([sys.executable, "-m", "paceline", *self.words])
        body = _BODY.format(submitted=SUBMITTED, journal=shlex.quote(str(self.journal)), race=race)
        return "".join(["#!/bin/sh\n", *(f"#SBATCH {_quoted(one)}\n" for one in options), body])

    def submit(self) -> str:
        """Write the script and submit it; returns the number of the job."""
        sbatch = program("sbatch")
        try:
            self.script_path.write_text(self.script(), encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"cannot write {self.script_path}: {error.strerror}") from error
        done = subprocess.run(
            [sbatch, "--parsable", str(self.script_path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            why = done.stderr.strip() or f"status {done.returncode}"
            raise InvalidInput(f"sbatch refused {self.script_path}: {why}")
        return done.stdout.strip().partition(";")[0]

    @property
    def _notice_seconds(self) -> int:
        """How long before its time limit a race is told of it; Slurm may do so a minute early."""
        seconds = 3600.0 if self.seconds is None else self.seconds
        return int(min(max(seconds // 10, 10), 120))


def _quoted(option: str) -> str:
    """An option in a line of the script, where blanks are escaped as in a shell."""
    return option if option.isascii() and " " not in option else shlex.quote(option)


def check_given(options: Sequence[str]) -> tuple[str, ...]:
    """Options for sbatch: one word each.

    >>> check_given(["--account=physics"])
    ('--account=physics',)
    """
    for option in options:
        if not option.startswith("-") or "\n" in option:
            raise InvalidInput(
                f"--sbatch {option!r} is no option: write it as --sbatch=--account=physics"
            )
    return tuple(options)
