"""Commands: every pull is a step of its own, or as many ranks of an MPI program as it has cores."""

import os
import re
import secrets
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from paceline.commands import Command, NoValue, Value, finding
from paceline.engines.events import Began, Event, Failed, Failure, Finished, Loading, Lost, Values
from paceline.engines.jobs import Job
from paceline.engines.local import wire
from paceline.engines.local.descriptors import scratch
from paceline.engines.local.process.evaluating import kept
from paceline.engines.local.process.outside import may_be_from_outside
from paceline.engines.local.process.printing import TAIL_BYTES, excerpt_of, together
from paceline.engines.slurm.allocation import Allocation, program
from paceline.engines.slurm.ending import Ending, without_srun
from paceline.engines.slurm.step import Lines, Step, environment_of, mpi_request, request_of
from paceline.engines.slurm.workers import StepWorkers
from paceline.engines.workload import Workload

# What the step runs. It says on stderr when the command has begun and how it has ended: srun's own
# status may tell of the node, or of Slurm. The time is that of the command, without the step's.
_SCRIPT = """\
mark() { printf '\\n%s %s %s %s\\n' "$0" "$1" "$2" "$(date +%s%N)" >&2; }
cd -- "$1" || { mark nowhere 0; exit 1; }
shift
mark began "${SLURM_PROCID:-0}"
"$@" </dev/null
status=$?
mark ended $status
exit $status
"""
# A step's stdout is a file and has only what the command prints, so a value on stderr goes there.
_SWAPPED = _SCRIPT.replace("</dev/null", "</dev/null 3>&1 1>&2 2>&3 3>&-")


# A command that calls mpirun has one node: mpirun must not look for the job's other nodes.
_MPIRUN = {f"{whose}_MCA_{what}": "^slurm" for whose in ("OMPI", "PRTE") for what in ("plm", "ras")}


@dataclass
class Course:
    """What the ranks of a command have said of it."""

    mark: str
    lines: Lines = field(default_factory=Lines)
    began: int = 0  # nanoseconds, of the first rank
    ended: int = 0  # of the last rank
    statuses: list[int] = field(default_factory=list)
    nowhere: bool = False  # its folder does not exist on the node

    def take(self, new: bytes) -> bool:
        """Read what is new on stderr; returns whether the command has begun just now."""
        before = self.began
        for line in self.lines.take(new):
            words = line.decode(errors="replace").split()
            if len(words) == 4 and words[0] == self.mark and words[3].isdecimal():
                moment = int(words[3])
                if words[1] == "began":
                    self.began = min(self.began or moment, moment)
                elif words[1] == "ended" and words[2].isdecimal():
                    self.ended = max(self.ended, moment)
                    self.statuses.append(int(words[2]))
                self.nowhere |= words[1] == "nowhere"
        return bool(self.began) and not before

    @property
    def seconds(self) -> float:
        """How long it took, on the clock of its node."""
        return max(0, self.ended - self.began) / 1e9

    def without_marks(self, text: str) -> str:
        """What the command itself printed."""
        return re.sub(rf"\n?{self.mark} .*\n?", "", text)


@dataclass(frozen=True)
class _Pull:
    course: Course
    output: BinaryIO
    file: str | None  # where it writes its value
    folder: str
    ranks: int


class CommandWorkers(StepWorkers):
    """Runs each pull as a step; with `mpi`, as one of as many ranks as the pull has cores."""

    def __init__(self, allocation: Allocation, workload: Workload, mpi: str | None) -> None:
        wire.check(workload)
        super().__init__(allocation, workload, spans=mpi is not None)
        self._mpi = mpi
        self._srun, self._shell = program("srun"), "/bin/sh"
        self._pulls: dict[Step, _Pull] = {}

    def close(self) -> None:
        """End all steps."""
        super().close()
        for pull in self._pulls.values():
            pull.output.close()

    def begin(self, job: Job) -> list[Event]:
        """Start the step of a pull."""
        (run,) = job.runs
        invocation = self.workload.invocation(run.arm, run.first, job.cores)
        wire.remove_stale(invocation.file)
        usable = self.nodes.usable()
        if not usable:
            return [Lost(job.number, "no node of the job answers")]
        if self._mpi is None:
            node = self.nodes.all[job.node]
            request = request_of(job, self.job, node, self.workload)
        else:
            request = mpi_request(job, self.job, usable, self.workload, self._mpi)
        mark = f"paceline-{secrets.token_hex(8)}"
        folder = os.path.abspath(invocation.cwd or ".")
        text = _SWAPPED if self._value.stream == "stderr" else _SCRIPT
        script = [self._shell, "-c", text, mark, folder, *invocation.argv]
        words = [self._srun, *request.words(f"arm{run.arm}.pull{run.first}"), "--input=none"]
        threads = 1 if self._mpi is not None else job.cores
        variables = {"PACELINE_CORES": str(job.cores)}
        if self._mpi is None:
            variables |= {name: text for name, text in _MPIRUN.items() if name not in os.environ}
        variables |= invocation.environment
        environment = environment_of(threads, variables)
        output = scratch()
        try:
            step = Step.start([*words, *script], environment, job.node, stdout=output)
        except OSError as error:
            output.close()
            return [Lost(job.number, f"srun could not be started: {error}")]
        step.job = job
        self._pulls[step] = _Pull(Course(mark), output, invocation.file, folder, request.tasks)
        self.steps[job.number] = step
        self.add(step)
        return [Loading(job.number)]

    def hear(self, step: Step, new: bytes) -> list[Event]:
        """See whether the command has begun."""
        assert step.job is not None
        if not self._pulls[step].course.take(new) or step.ended:
            return []
        self.started(step)
        return [Began(step.job.number)]

    def over(self, step: Step, ending: Ending) -> list[Event]:
        """Read the value of a command that ended well, or say what went wrong."""
        job = step.job
        assert job is not None
        del self.steps[job.number]
        pull = self._pulls.pop(step)
        with pull.output:
            if step.ended or step.lost:
                return [Lost(job.number, "" if step.ended else step.lost)]
            if step.overdue and not pull.course.began:
                return self.again(job)
            found = self._found(pull, ending)
            streams = self._printed(pull, ending)
        if isinstance(found, float):
            said = together(*streams, found)
            given = Values(job.number, [found], [pull.course.seconds], ((0, said),) if said else ())
            return [given, Finished(job.number)]
        if isinstance(found, Failure):
            return [Failed(job.number, replace(found, printed=together(*streams)))]
        if ending.is_by_node:
            return [Lost(job.number, found), *self.suspect(step, ending.complaint)]
        if not pull.course.began and ending.is_by_controller:
            return self.again(job)
        self.look_soon()
        return [Lost(job.number, found)]

    @property
    def _value(self) -> Value:
        assert isinstance(self.workload.evaluate, Command)
        return self.workload.evaluate.value

    def _found(self, pull: _Pull, ending: Ending) -> float | Failure | str:
        """The value; or why there is none; or, as text, what was done to the step."""
        course = pull.course
        if course.nowhere:
            what = f"could not be started: the folder {pull.folder} does not exist on its node"
            return Failure("no start", what)
        worst = max(course.statuses, default=0)
        if not worst and (len(course.statuses) < pull.ranks or course.began == 0):
            if not course.began:
                return ending.taken or f"its step could not be started: {ending.complaint}"
            signal = f"by signal {ending.killer}" if ending.killer else "before its end"
            # MPI may cancel its own step, after an error of the program.
            by_others = ending.taken if self._mpi is None or ending.is_by_node else ""
            return by_others or Failure("killed", f"was ended {signal}")
        if worst:
            if may_be_from_outside(worst - 128):
                taken = ending.taken
                return taken or Failure("killed", f"was ended by signal {worst - 128}")
            return Failure("exit status", f"ended with status {worst}")
        try:
            where, output = self._value.where, pull.output.fileno()
            return finding.read(where, pull.file, output, course.seconds)
        except NoValue as error:
            return Failure("no number", kept(str(error)))

    def _printed(self, pull: _Pull, ending: Ending) -> tuple[str, str]:
        """What it printed to both streams, without what we and srun have put there."""
        said = excerpt_of(pull.output.fileno())
        if self._value.stream == "stderr":
            return "", said
        text = pull.course.without_marks(without_srun(ending.text))
        return said, text[-TAIL_BYTES:].lstrip("\n")
