"""A Slurm of made-up nodes on this machine, for tests and benchmarks: it needs root.

    python tools/slurm_cluster.py start FOLDER     # prints what to export
    python tools/slurm_cluster.py stop FOLDER
    python tools/slurm_cluster.py run COMMAND …    # starts one, runs the command in it, stops it

Everything is in the folder: the configuration, the state, the logs, and a munge of its own. All
ports are on loopback. Nodes have as many CPUs as they are said to have, whatever the machine has.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGES = ("slurm-wlm", "slurmctld", "slurmd", "slurm-client", "munge", "openmpi-bin")
MPI_PACKAGES = ("libopenmpi-dev", "libpmix-dev", "gcc")  # Slurm looks for libpmix.so
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
NODES = ("n1", "n2")
CORES_PER_NODE = 20
MEMORY_MB_PER_NODE = 10_000
NODE_TIMEOUT_SECONDS = 10  # until a node that does not answer is down

_READY_SECONDS = 30.0
_END_SECONDS = 10.0

_CONFIGURATION = """\
ClusterName=paceline
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SlurmdTimeout={timeout}
KillWait=2
MinJobAge=60
MaxJobCount=20000
GresTypes=gpu
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} CPUs={cores} Boards=1 \
SocketsPerBoard=1 CoresPerSocket={cores} ThreadsPerCore=1 RealMemory={memory} Gres=gpu:2 \
State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(RuntimeError):
    """No Slurm can be started here; the message says why."""


class Cluster:
    """A Slurm in a folder. Its daemons can be killed and started one by one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.configuration = self.folder / "slurm.conf"

    def start(self) -> None:
        """Write the configuration, start all daemons, and wait until the nodes are idle."""
        self._configure()
        os.chmod(self.folder, 0o755)  # munge checks that all may reach its socket
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        paths = [f"--{what}={self.folder}/munge.{what.partition('-')[0]}" for what in _MUNGE_FILES]
        _call("munged", *paths)
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self.wait_until_idle()

    def start_controller(self) -> None:
        """Start slurmctld."""
        _call("slurmctld", "-f", str(self.configuration))

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node."""
        _call("slurmd", "-f", str(self.configuration), "-N", node)

    def kill(self, daemon: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to "slurmctld", "slurmd.n1", "munge"; wait until the daemon is gone."""
        file = self.folder / f"{daemon}.pid"
        with contextlib.suppress(OSError, ValueError):
            process = int(file.read_text())
            os.kill(process, number)
            until = time.monotonic() + 10.0
            while time.monotonic() < until and Path(f"/proc/{process}").exists():
                time.sleep(0.02)

    def wait_until_idle(self) -> None:
        """Wait until no node has work, and all answer."""
        until = time.monotonic() + _READY_SECONDS
        while True:
            states = self.ask("sinfo", "-h", "-N", "-o", "%T").split()
            if states == ["idle"] * len(NODES):
                return
            if time.monotonic() > until:
                raise Unavailable(f"the nodes are {states}; see the logs in {self.folder}")
            time.sleep(0.1)

    def ask(self, *command: str) -> str:
        """What one of Slurm's commands prints; empty if it fails."""
        done = subprocess.run(
            command, env=self.environment(), capture_output=True, text=True, check=False
        )
        return done.stdout if done.returncode == 0 else ""

    def environment(self) -> dict[str, str]:
        """The environment of whoever uses it: no job, and this configuration."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("SLURM_")}
        return kept | {"SLURM_CONF": str(self.configuration)}

    def stop(self) -> None:
        """Cancel all jobs, and end all daemons and what they left."""
        self.ask("scancel", "--full", "--signal=KILL", "--state=RUNNING", "--user=root")
        self.ask("scancel", "--user=root")
        until = time.monotonic() + _END_SECONDS
        while time.monotonic() < until and self.ask("squeue", "--noheader"):
            time.sleep(0.1)
        for daemon in (*(f"slurmd.{node}" for node in NODES), "slurmctld", "munge"):
            self.kill(daemon, signal.SIGTERM)

    def _configure(self) -> None:
        folders = [f"{what}.{node}" for node in NODES for what in ("spool", "tmp")]
        for name in ("state", *folders):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        port, *ports = _free_ports(1 + len(NODES))
        text = _CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0],
            folder=self.folder,
            port=port,
            nodes=",".join(NODES),
            ports=",".join(map(str, ports)),
            cores=CORES_PER_NODE,
            memory=MEMORY_MB_PER_NODE,
            timeout=NODE_TIMEOUT_SECONDS,
        )
        self.configuration.write_text(text)
        # A device must be a file that exists; nobody opens it.
        devices = "".join(f"NodeName={','.join(NODES)} Name=gpu File={file}\n" for file in _DEVICES)
        (self.folder / "gres.conf").write_text(devices)


_DEVICES = ("/dev/null", "/dev/zero")
_MUNGE_FILES = ("socket", "key-file", "pid-file", "log-file", "seed-file")


def install() -> None:
    """Install the Debian packages that are missing; their daemons need root in any case."""
    if os.geteuid():
        raise Unavailable("to start Slurm's daemons takes root")
    if all(shutil.which(program) for program in NEEDED):
        return
    if not shutil.which("apt-get"):
        raise Unavailable(f"Slurm is missing, and installing {', '.join(PACKAGES)} takes apt-get")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ["update"],
        ["install", "-y", "--no-install-recommends", *PACKAGES, *MPI_PACKAGES],
    ):
        done = subprocess.run(
            ["apt-get", "-q", *words], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Unavailable(f"apt-get {words[0]} failed: {done.stderr.strip()[-500:]}")


@contextlib.contextmanager
def running() -> Iterator[Cluster]:
    """A cluster in a folder for temporary files, from its start to its end."""
    with tempfile.TemporaryDirectory(prefix="paceline-slurm-") as folder:
        install()
        cluster = Cluster(Path(folder))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


def _call(*command: str) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"{command[0]} did not start: {done.stderr.strip()[-500:]}")


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(number):
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        return ports


def main(words: Sequence[str]) -> int:
    """The command line; returns the exit code, 77 where no Slurm can be started."""
    if not words or words[0] not in ("start", "stop", "run") or len(words) < 2:
        print(__doc__)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # whoever ends it wants no daemons left
    try:
        if words[0] == "run":
            with running() as cluster:
                return subprocess.run(words[1:], env=cluster.environment(), check=False).returncode
        cluster = Cluster(Path(words[1]))
        if words[0] == "stop":
            cluster.stop()
        else:
            install()
            cluster.start()
            print(f"export SLURM_CONF={cluster.configuration}")
    except Unavailable as error:
        print(f"no Slurm here: {error}", file=sys.stderr)
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
