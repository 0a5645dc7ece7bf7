"""Races that are submitted: the script, what is refused, and time limits that do not end them."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from paceline.cli import main
from paceline.engines.slurm.batch import SUBMITTED, Batch
from paceline.errors import InvalidInput
from paceline.journal import read_records
from paceline.journal.records import RaceEnded, SessionBegun
from tests.engines.slurm.driving import agree, recorded
from tools.slurm_cluster import Cluster

RACE = """
command = "sleep 1; awk -v s={seed} -v x={x} 'BEGIN {{ srand(s); print x + 4 * rand() }}'"
shell = true
[arms]
x = [1.0, 1.4, 1.8, 2.4]
[race]
confidence = 0.9
noise = "bounded"
bounds = [0, 7]
cores = 4
cores_per_pull = 1
engine = "slurm"
"""


@pytest.fixture
def race_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("SLURM_JOB")]:
        monkeypatch.delenv(name)
    (tmp_path / "race.toml").write_text(RACE)
    return tmp_path / "race.toml"


def test_the_script_is_what_a_shell_understands(tmp_path: Path) -> None:
    script = Batch(("run", "a b.toml"), tmp_path / "it's.jsonl", 2, 3600.0, "long").script()
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert "#SBATCH --partition=long\n" in script
    assert "#SBATCH --signal=B:USR1@120\n" in script
    assert "run 'a b.toml' &" in script


def test_whole_nodes_are_asked_for_unless_parts_of_them_are(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    assert "--exclusive" in Batch(("run",), journal).script()
    part = Batch(("run",), journal, options=("--cpus-per-task=8",)).script()
    assert "--exclusive" not in part
    assert "#SBATCH --cpus-per-task=8\n" in part


def test_a_dry_run_prints_the_script(race_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(race_file), "--nodes", "2", "--time", "6h", "-n"]) == 0
    script = capsys.readouterr().out
    assert "#SBATCH --nodes=2\n" in script
    assert "#SBATCH --time=360\n" in script
    assert f"run {race_file} --nodes 2 --time 6h -j {race_file.with_suffix('.jsonl')} &" in script


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--engine", "local", "--nodes", "2"], "--nodes is for races that Slurm runs"),
        (["--time", "10s"], "less than a minute"),
        (["--nodes", "0"], "needs one at least"),
        (["--nodes", "2", "--sbatch", "physics"], "is no option"),
        (["--nodes", "2", "--confidence", "7"], "confidence"),
    ],
)
def test_what_cannot_be_submitted_is_refused(
    words: list[str], why: str, race_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(race_file), *words, "-n"]) == 2
    assert why in capsys.readouterr().err


def test_flags_of_a_submission_are_refused_in_a_job(
    race_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert main(["run", str(race_file), "--nodes", "2"]) == 2
    assert "this is job 17 already" in capsys.readouterr().err


def test_what_is_missing_is_said(
    race_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    command = '"/bin/sleep {x}{seed}"'
    race_file.write_text(re.sub(r"command = .*", f"command = {command}", RACE))
    assert main(["run", str(race_file)]) == 2
    assert "srun is not on PATH: Slurm is not installed" in capsys.readouterr().err
    assert main(["run", str(race_file), "--nodes", "2"]) == 2
    assert "sbatch, a program of Slurm, is not on PATH" in capsys.readouterr().err


def test_a_race_without_a_file_needs_a_journal(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["race", "echo {x} {seed}", "-L", "x", "1,2", "--engine", "slurm", "--nodes", "1"]
    assert main(words) == 2
    assert "add -j FILE" in capsys.readouterr().err


def ended(journal: Path) -> list[RaceEnded]:
    if not journal.exists():
        return []
    return [one for one in read_records(journal) if isinstance(one, RaceEnded)]


def wait_for_end(cluster: Cluster, job: str, seconds: float) -> None:
    """Wait until the job is no longer queued nor running."""
    until = time.monotonic() + seconds
    while cluster.ask("squeue", "--noheader", "--jobs", job).strip():
        assert time.monotonic() < until, cluster.ask("squeue")
        time.sleep(0.5)


@pytest.mark.slurm
def test_a_race_that_hits_its_time_limit_three_times_ends_with_the_undisturbed_verdict(
    cluster: Cluster, race_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = race_file.with_suffix(".jsonl")
    assert main(["run", str(race_file), "--nodes", "2", "--time", "1m"]) == 0
    found = re.search(r"Slurm job (\d+), on 2 nodes for 1 min", capsys.readouterr().out)
    assert found is not None
    wait_for_end(cluster, found[1], 280)
    sessions = [one for one in read_records(journal) if isinstance(one, SessionBegun)]
    assert len(sessions) >= 4, race_file.with_suffix(".out").read_text()
    (verdict,) = ended(journal)
    other = race_file.with_name("undisturbed.jsonl")
    words = ["--engine", "local", "--cores", "24", "-q", "-j", str(other)]
    assert main(["run", str(race_file), *words]) == 0
    (undisturbed,) = ended(other)
    assert (verdict.arms, verdict.decided) == (undisturbed.arms, undisturbed.decided)
    assert agree(recorded(journal), recorded(other))
    capsys.readouterr()
    assert main(["show", str(journal), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.slurm
def test_a_job_that_is_cancelled_does_not_come_back(
    cluster: Cluster, race_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(race_file), "--nodes", "1", "--time", "10m"]) == 0
    found = re.search(r"Slurm job (\d+)", capsys.readouterr().out)
    assert found is not None
    journal = race_file.with_suffix(".jsonl")
    until = time.monotonic() + 60
    while not (journal.exists() and '"results"' in journal.read_text()):
        assert time.monotonic() < until
        time.sleep(0.2)
    cluster.ask("scancel", found[1])
    wait_for_end(cluster, found[1], 30)
    time.sleep(8)
    assert not cluster.ask("squeue", "--noheader", "--jobs", found[1]).strip()
    assert not ended(journal)


def test_a_script_of_this_job_may_have_the_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    from argparse import Namespace

    from paceline.cli.submitting import is_submitted

    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv(SUBMITTED, "17")
    options = Namespace(nodes=2, time=None, partition=None, sbatch=None)
    assert not is_submitted(options, "slurm:pmix")
    with pytest.raises(InvalidInput, match="add --engine slurm"):
        is_submitted(options, "local")
