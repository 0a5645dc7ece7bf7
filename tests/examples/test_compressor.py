"""The settings of xz of examples/compressor."""

import lzma
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.compressor import compress
from paceline.cli import main
from paceline.races.file import read_race_file

FOLDER = Path(__file__).parents[2] / "examples" / "compressor"
RACE = FOLDER / "race.toml"
needs_xz = pytest.mark.skipif(shutil.which("xz") is None, reason="xz is not installed")


def run(*options: str, path: str | None = None) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | ({} if path is None else {"PATH": path})
    command = [sys.executable, str(FOLDER / "compress.py"), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_seed_gives_the_same_log_and_another_seed_another() -> None:
    assert compress.make_log(3) == compress.make_log(3)
    assert compress.make_log(3) != compress.make_log(4)


def test_a_log_looks_like_one() -> None:
    log = compress.make_log(5).decode("ascii").splitlines()
    assert len(log) == compress.LINES
    line = re.compile(r"(\d{7}) ([a-z ]+) took=(\d+) user=([a-z]{6})")
    parts = [found.groups() for found in map(line.fullmatch, log) if found]
    assert len(parts) == compress.LINES
    times = [int(time) for time, _, _, _ in parts]
    assert times == sorted(times)
    assert {len(words.split()) for _, words, _, _ in parts} == {compress.WORDS_PER_LINE}
    durations = [int(duration) for _, _, duration, _ in parts]
    assert sum(durations) / len(durations) == pytest.approx(127.5, abs=3)
    said = Counter(word for _, words, _, _ in parts for word in words.split())
    assert said.most_common(1)[0][1] > 5 * said.total() / len(said)  # some come often


def test_there_are_blocks_for_several_cores() -> None:
    assert len(compress.make_log(1)) > 8 * compress.BLOCK_BYTES


@pytest.mark.parametrize("cores", [1, 2, 7])
def test_xz_is_told_the_cores_and_the_settings(cores: int) -> None:
    words = compress.command(lc=4, pb=0, cores=cores)
    assert words[0] == "xz"
    assert f"--threads={cores}" in words
    assert f"--block-size={compress.BLOCK_BYTES}" in words  # else one thread would do it all
    assert any(word.startswith("--lzma2=") and word.endswith(",lc=4,pb=0") for word in words)


@needs_xz
def test_what_xz_makes_can_be_read_again() -> None:
    log = compress.make_log(1, lines=3000)
    packed = subprocess.run(
        compress.command(lc=3, pb=2, cores=2), input=log, stdout=subprocess.PIPE, check=True
    ).stdout
    assert lzma.decompress(packed) == log
    assert compress.ratio(log, lc=3, pb=2, cores=2) == len(packed) / len(log)


@needs_xz
def test_the_cores_hardly_change_the_ratio_and_the_settings_do() -> None:
    log = compress.make_log(2)
    best = compress.ratio(log, lc=3, pb=0, cores=1)
    assert compress.ratio(log, lc=3, pb=0, cores=2) == pytest.approx(best, rel=5e-4)
    assert compress.ratio(log, lc=0, pb=4, cores=2) > 1.02 * best


@needs_xz
def test_the_command_prints_the_ratio() -> None:
    done = run("--lc", "4", "--pb", "0", "--seed", "2", "--cores", "2")
    assert done.returncode == 0, done.stderr
    expected = compress.ratio(compress.make_log(2), lc=4, pb=0, cores=2)
    assert float(done.stdout.split()[-1]) == expected


@needs_xz
def test_what_xz_objects_to_is_passed_on() -> None:
    done = run("--lc", "9", "--seed", "1")
    assert done.returncode != 0
    assert "xz:" in done.stderr
    assert "xz ended with status 1" in done.stderr


def test_without_xz_it_says_what_to_install(tmp_path: Path) -> None:
    done = run("--seed", "1", path=str(tmp_path))
    assert done.returncode != 0
    assert done.stdout == ""
    assert "there is no xz here: install it" in done.stderr


def test_the_race_file_hands_on_the_cores() -> None:
    race = read_race_file(RACE)
    argv = race.command.fill(race.arms[0], seed=5, cores=2).argv
    assert argv[-2:] == ("--cores", "2")


def test_the_race_file_passes_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(RACE)]) == 0
    assert "compress.py --lc 0 --pb 0" in capsys.readouterr().out
