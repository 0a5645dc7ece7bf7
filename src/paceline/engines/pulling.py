"""One pull, done in this process: for engines whose workers belong to another library.

Functions are called here. Commands are run as by the local workers: they are told their cores, and
their values are read in the same way.
"""

from paceline.commands import Command, NoValue, finding
from paceline.engines.capturing import scratch
from paceline.engines.events import Failure
from paceline.engines.local.process.evaluating import NoNumber, trouble
from paceline.engines.local.process.evaluating import number as number_of
from paceline.engines.local.process.printing import excerpt_of, together
from paceline.engines.local.process.running import core_variables, run
from paceline.engines.local.wire import remove_stale
from paceline.engines.workload import Workload


def pull(workload: Workload, arm: int, number: int, cores: int) -> float | Failure:
    """Do pull `number` of an arm; return its value, or why there is none.

    >>> def seeds(arm, first, pulls):
    ...     return [100 + first + k for k in range(pulls)]
    >>> pull(Workload(lambda arm, *, seed: arm + seed, [0.5, 0.25], seeds), 1, number=7, cores=1)
    107.25
    >>> pull(Workload(lambda arm: None, [0.5, 0.25], seeds), 1, number=7, cores=1)
    Failure(kind='no number', message='gave None, which is not a number', detail='', printed='')

    The traceback of a failure begins with the user's own lines:

    >>> failure = pull(Workload(lambda arm: 1 / arm, [0, 1], seeds), 0, number=0, cores=1)
    >>> failure.kind, failure.message
    ('exception', 'raised ZeroDivisionError: division by zero')
    >>> "pulling.py" in failure.detail
    False

    A command knows its cores, and says what went wrong on stderr:

    >>> echo = Command.parse("echo {x} of $PACELINE_CORES", shell=True)
    >>> pull(Workload(echo, [{"x": 1}, {"x": 2}], seeds), 0, number=0, cores=3)
    3.0
    >>> cry = Command.parse("echo {x} is too much >&2; exit 3", shell=True)
    >>> pull(Workload(cry, [{"x": 1}, {"x": 2}], seeds), 1, number=0, cores=1)
    Failure(kind='exit status', message='ended with status 3', detail='',
            printed='2 is too much\\n')
    """
    if isinstance(workload.evaluate, Command):
        return run_command(workload, arm, number, cores)[0]
    try:
        return number_of(workload.call(arm, number, cores))
    except (Exception, SystemExit) as error:  # an exit would end a process that is not ours
        return Failure(*trouble(error))


def run_command(
    workload: Workload, arm: int, number: int, cores: int
) -> tuple[float | Failure, str]:
    """Do a pull of a command; return its value, or why there is none, and what it printed."""
    command = workload.evaluate
    assert isinstance(command, Command)
    invocation = workload.invocation(arm, number, cores)
    remove_stale(invocation.file)
    environment = core_variables(cores) | invocation.environment
    with scratch() as stdout, scratch() as stderr:
        files = stdout.fileno(), stderr.fileno()
        ran = run(invocation.argv, environment, invocation.cwd, *files)
        texts = excerpt_of(files[0]), excerpt_of(files[1])
        if isinstance(ran, float):
            output = files[command.value.stream == "stderr"]
            try:
                found = finding.read(command.value.where, invocation.file, output, ran)
                return found, together(*texts, found)
            except NoValue as error:
                ran = trouble(NoNumber(str(error)))
        return Failure(*ran, together(*texts)), ""
