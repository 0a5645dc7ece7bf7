"""What the end of a step means: who took it away, if anybody did."""

import re
from dataclasses import dataclass

# What srun and slurmstepd print. They are matched at the beginnings of lines, because commands
# print there as well.
_CANCELLED = re.compile(r"^slurmstepd\S*: error: \*\*\* (STEP|JOB) \S+ ON \S+ CANCELLED AT", re.M)
_NODE = re.compile(
    r"^srun: error: .*(Node failure|Communication connection failure|No route to host"
    r"|Connection refused|Connection timed out|missing socket|Unable to resolve)",
    re.M | re.I,
)
_CONTROLLER = re.compile(
    r"^srun: error: .*(Unable to contact slurm controller|Unable to confirm allocation"
    r"|slurm_receive_msg|Zero Bytes were transmitted|Unable to create step.*(timed out|contact)"
    r"|Error connecting|Connection refused|Socket timed out)",
    re.M | re.I,
)
_MEMORY = re.compile(r"oom[_-]kill|out of memory|exceeded .*memory limit", re.I)


@dataclass(frozen=True)
class Ending:
    """How a step ended that nobody told to, by its status and what it said on stderr.

    >>> Ending(137, "slurmstepd-n1: error: *** STEP 1.2 ON n1 CANCELLED AT 2026-11-18 ***").taken
    'its step was cancelled from outside'
    >>> Ending(0, "srun: error: Node failure on n2").taken
    'its node has failed: Node failure on n2'
    >>> Ending(139, "srun: error: n1: task 0: Segmentation fault").taken
    ''
    """

    status: int
    text: str

    @property
    def killer(self) -> int:
        """The signal that ended it; 0 if none did.

        >>> Ending(137, "").killer, Ending(3, "").killer
        (9, 0)
        """
        return self.status - 128 if 128 < self.status < 193 else 0

    @property
    def taken(self) -> str:
        """What took it away from outside, in a few words; empty if nothing did."""
        if self.status < 0:
            return f"its srun was killed by signal {-self.status}"
        if self.is_by_node:
            return f"its node has failed: {self.complaint}"
        if _CANCELLED.search(self.text) and not _MEMORY.search(self.text):
            return "its step was cancelled from outside"
        return ""

    @property
    def is_by_node(self) -> bool:
        """Whether its node did not answer, or not any more."""
        return bool(_NODE.search(self.text))

    @property
    def is_by_controller(self) -> bool:
        """Whether the controller did not answer: it may be back soon.

        >>> Ending(1, "srun: error: Unable to confirm allocation for job 1").is_by_controller
        True
        """
        return bool(_CONTROLLER.search(self.text))

    @property
    def complaint(self) -> str:
        """The last thing that srun complained of.

        >>> Ending(1, "srun: error: Invalid node name\\nfarewell").complaint
        'Invalid node name'
        """
        found = re.findall(r"^srun: error: (.*)$", self.text, re.M)
        return found[-1] if found else self.text.strip()[-200:] or f"status {self.status}"


def without_srun(text: str) -> str:
    """What a pull has printed on stderr, without what Slurm says of its step.

    >>> without_srun("no such setting\\nsrun: error: n1: task 0: Exited with exit code 3\\n")
    'no such setting\\n'
    """
    return re.sub(r"^(srun|slurmstepd\S*): .*\n?", "", text, flags=re.M)
