import contextlib
import io
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import paceline
from paceline.cli import VERBS, main, parser

DOCS = Path(__file__).parents[2] / "docs"


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--version", "--help"):
        with pytest.raises(SystemExit, match="0"):
            main([option])
    assert paceline.__version__ in capsys.readouterr().out


def test_a_missing_command_exits_with_2() -> None:
    with pytest.raises(SystemExit, match="2"), contextlib.redirect_stderr(io.StringIO()):
        main([])


def test_the_demo_races_for_real(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert '"48" has the highest mean, with probability at least 0.95' in out
    assert "on 1 core" in out
    assert "Race 2" in out
    assert max(len(line) for line in out.splitlines()) <= 110


def test_the_demo_in_virtual_time_tells_its_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--virtual"]) == 0
    out = capsys.readouterr().out
    assert "arm 0 is the best, with probability at least 0.95" in out
    assert max(len(line) for line in out.splitlines()) <= 110


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m paceline simulate uniform:2000 -d 100 -r 300 --json | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_the_page_of_commands_is_up_to_date() -> None:
    """`docs/cli.md` holds the help of every command; tools/write_cli_page.py writes it."""
    from tools.write_cli_page import cli_page

    assert (DOCS / "cli.md").read_text(encoding="utf-8") == cli_page()


def test_every_verb_is_in_the_help() -> None:
    text = parser().format_help()
    assert all(verb.NAME in text for verb in VERBS)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs a device that is full")
@pytest.mark.parametrize("redirection", [">/dev/full", ">/dev/full 2>/dev/full"])
def test_an_answer_that_cannot_be_written_is_said_in_a_line(
    redirection: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.csv"
    race = f"race 'echo {{x}}' -L x 1,2 --max-pulls 4 --export {kept}"
    done = _in_a_shell(f"{race} {redirection}")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    if "2>" not in redirection:
        assert "cannot write the answer: No space left on device" in done.stderr
    assert kept.read_text().startswith("index,label")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_race_goes_on_without_a_stream(closed: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    race = f"race 'echo {{x}}' -L x 1,2 --max-pulls 4 --export {kept}"
    done = _in_a_shell(f"{race} {closed}")
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert kept.read_text().startswith("index,label")


def _in_a_shell(arguments: str) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.quote(sys.executable)} -m paceline {arguments}"
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=False)


def test_an_interrupt_while_modules_are_imported_is_told_like_any_other() -> None:
    script = """
import runpy, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "paceline.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
runpy.run_module("paceline", run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "paceline: interrupted\n")
