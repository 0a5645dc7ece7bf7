"""Whatever a name, a message or a file holds, a terminal is shown it and never obeys it."""

import copy
import json
import os
import re
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline.characters import visible
from paceline.cli import VERBS, main
from tests.cli.test_race import NOISY
from tests.display.test_screen import on_terminal

# Clears the screen, sets a title, colours by one byte (C1), turns the text, hides, breaks lines.
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\x90q\u202eturned\u2066\u200b\u2028\u2029\x85\x7f\x08\r\ufeff"
BYTES = EVIL.encode() + b"\xff\xfe"  # as a program prints it, or a shell passes it on
ARGUMENT = os.fsdecode(BYTES)
ANY = EVIL + "\ud800\0"  # as Python or a file may have it
OCTAL = "".join(f"\\{one:03o}" for one in BYTES)
# What our own screen may send: colours, one line up, erase a line, the cursor on and off.
OWN = re.compile(r"\x1b\[(?:[0-9;]*m|1A|2K|\?25[lh])|\r")


def acts(shown: str) -> str:
    """What in a text would act on a terminal, or break a line."""
    return "".join(sorted({one for one in shown if visible(one) != one}))


def ran(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it printed; nothing in that acts."""
    try:
        code = main(list(arguments))
    except SystemExit as error:  # of argparse
        code = int(error.code or 0)
    out, err = capfd.readouterr()
    assert acts(out) == ""
    assert acts(err) == ""
    assert "Traceback (most recent" not in err, err
    return code, out, err


def test_labels_and_commands(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    values = f"0{EVIL},5{EVIL}"
    race = ["race", "sh -c 'echo $1 | cut -c1' - {x}", "-L", "x", values, "--bounds", "0,6"]
    files = [str(tmp_path / f"a.{ending}") for ending in ("csv", "md", "json")]
    for more in ([], ["-q"], ["-n"], ["--json"], *(["--export", file] for file in files)):
        code, out, _ = ran(capfd, *race, *more)
        assert code == 0
        assert "[2J" in out
        if more == ["--json"]:
            assert json.loads(out)["best"] == f"x=5{' '.join(EVIL.split())}".strip()
    code, out, _ = ran(capfd, "race", f"echo 0 #{EVIL}", f"echo 5 #{EVIL}", "--bounds", "0,6")
    assert (code, "#\\x1b[2J" in out) == (0, True)


def test_what_a_failing_program_prints(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    crying = f"sh -c \"printf '{OCTAL}' >&2; exit {{x}}\""
    journal = str(tmp_path / "race.jsonl")
    options = ["-L", "x", "3,4", "--retries", "0", "-j", journal]
    code, _, err = ran(capfd, "race", crying, *options, "--on-failure", "stop")
    assert (code, "\\x1b[2J" in err) == (4, True)
    assert ran(capfd, "show", journal)[0] == 0
    code, out, _ = ran(capfd, "show", journal, "--printed")
    assert (code, "\\x1b[2J" in out) == (0, True)
    no_number = f"sh -c \"printf '{OCTAL}{{x}}'\""
    assert ran(capfd, "race", no_number, "-L", "x", "a,b", "--retries", "0")[0] == 4
    lines = f"sh -c \"printf '{OCTAL}' >&2; test {{x}} -gt 0 && echo {{x}}{{seed}}\""
    assert ran(capfd, "race", lines, "-L", "x", "0,1,2", "--max-pulls", "30")[0] in (0, 3)


@pytest.mark.parametrize("text", [EVIL, ARGUMENT, ANY], ids=["text", "argument", "any"])
def test_arguments_of_every_verb(capfd: pytest.CaptureFixture[str], text: str) -> None:
    for verb in VERBS:
        if verb.NAME not in ("demo", "live"):  # a page waits for a journal that is not there yet
            assert ran(capfd, verb.NAME, text)[0] == 2, verb.NAME
        assert ran(capfd, verb.NAME, f"--{text}")[0] == 2
        assert ran(capfd, verb.NAME, "x", "--json", f"--cores={text}", text)[0] == 2
    race = ["race", "echo {x}", "-L", "x", "1,2", "-n"]
    exports = ["--export", "--export-values", "--export-hyperfine"]
    flags = ["-c", "-d", "-p", "-s", "-j", "--noise", "--bounds", "--engine", "--cwd", "--value"]
    for flag in [*flags, "--timeout", "--cores-per-pull", "--on-failure", *exports, "--env"]:
        assert ran(capfd, *race, flag, text)[0] in (0, 2), flag
    assert ran(capfd, "race", f"echo {{{text}}}", "-L", text, "1,2")[0] == 2
    assert ran(capfd, "race", f"{text} {{x}}", "-L", "x", "1,2")[0] == 2
    assert ran(capfd, "race", "echo {x}", "-L", "x", f"1,{text},{text}")[0] == 2
    assert ran(capfd, "simulate", "0.9,0.5", "-c", "0.9", "-p", text)[0] == 2
    assert ran(capfd, text)[0] == 2


TOML = {
    "key": 'command = "echo {x}"\n"EVIL" = 1\n[arms]\nx = [1, 2]\n',
    "command": 'command = "EVIL {x}"\n[arms]\nx = [1, 2]\n',
    "word": 'command = ["echo", "EVIL", "{x}"]\n[arms]\nx = [1, 2]\n',
    "placeholder": 'command = "echo {EVIL}"\n[arms]\nx = [1, 2]\n',
    "parameter": 'command = "echo {x}"\n[arms]\n"EVIL" = [1, 2]\n',
    "values": 'command = "echo {x}"\n[arms]\nx = ["1EVIL", "2EVIL"]\n',
    "no values": 'command = "echo {x}"\n[arms]\nx = "EVIL"\n',
    "option": 'command = "echo {x}"\n[arms]\nx = [1, 2]\n[race]\n"EVIL" = 1\n',
    "deadline": 'command = "echo {x}"\n[arms]\nx = [1, 2]\n[race]\ndeadline = "EVIL"\n',
    "journal": 'command = "echo {x}"\n[arms]\nx = [1, 2]\n[race]\njournal = "EVIL/j"\n',
    "variable": 'command = "echo {x}"\n[arms]\nx = [1, 2]\n[env]\n"EVIL" = "1"\n',
    "set": 'command = "echo {x}"\nenv = ["A=EVIL", "EVIL"]\n[arms]\nx = [1, 2]\n',
    "folder": 'command = "echo {x}"\ncwd = "EVIL"\n[arms]\nx = [1, 2]\n',
    "value": 'command = "echo {x}"\nvalue = "EVIL"\n[arms]\nx = [1, 2]\n',
    "table": 'command = "echo {x}"\narms = "EVIL.csv"\n',
    "broken": '"EVIL" "EVIL"\n',
}


@pytest.mark.parametrize("place", TOML)
def test_race_files(place: str, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    escaped = "".join(f"\\u{ord(one):04x}" for one in EVIL)
    path = tmp_path / "race.toml"
    for evil in (escaped, escaped + "\\u0000", EVIL):  # the last is no valid TOML
        path.write_text(TOML[place].replace("EVIL", evil), encoding="utf-8", newline="")
        for verb in ("check", "run", "profile", "plan"):
            more = ["-n"] if verb == "run" else []
            assert ran(capfd, verb, str(path), *more)[0] in (0, 2, 4), verb


def places(plain: Any) -> Iterator[tuple[Any, ...]]:
    """Where the texts in a record are."""
    if isinstance(plain, str):
        yield ()
    if isinstance(plain, dict | list):
        inside = plain.items() if isinstance(plain, dict) else enumerate(plain)
        yield from ((key, *rest) for key, one in inside for rest in places(one))


def write_journal(path: Path, records: list[dict[str, Any]]) -> None:
    """Write records with checksums that fit."""
    chain, text = 0, b""
    for record in records:
        plain = {key: value for key, value in record.items() if key != "sum"}
        body = json.dumps(plain, separators=(",", ":")).encode()[:-1]
        chain = zlib.crc32(body, chain)
        text += body + f',"sum":"{chain:08x}"}}\n'.encode()
    path.write_bytes(text)


def test_a_journal_that_somebody_wrote(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each text in it in turn holds what would act: labels, verdict, warnings, host, versions …"""
    journal = tmp_path / "race.jsonl"
    failing = "sh -c 'test {x} = 2 && test {seed} -gt 0 && exit 3; echo {x}{seed}'"
    options = ["-L", "x", "1,2,3", "--max-pulls", "12", "--retries", "0", "-j", str(journal)]
    assert ran(capfd, "race", failing, *options)[0] in (0, 3)
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    late = records[-1]["at"]
    records.insert(-1, {"kind": "warning", "at": late, "about": "outlier", "text": "odd"})
    write_journal(journal, records)
    assert ran(capfd, "show", str(journal))[0] == 0
    tried, shown = 0, set()
    for number, record in enumerate(records):
        for place in places(record):
            changed = copy.deepcopy(records)
            inside = changed[number]
            for key in place[:-1]:
                inside = inside[key]
            if place == ("sum",):
                continue
            inside[place[-1]] = f"{inside[place[-1]]}{ANY}"
            write_journal(journal, changed)
            where = (record["kind"], place)
            code, out, err = ran(capfd, "show", str(journal))
            assert code in (0, 2), (where, err)
            if code == 0 and "[2J" in out:
                shown.add(place[0])
            code, out, err = ran(capfd, "show", "--json", str(journal))
            assert code in (0, 2), (where, err)
            assert code == 2 or json.loads(out)
            tried += 1
            if record["kind"] in ("race", "ending", "failure"):
                code, _, err = ran(capfd, "resume", str(journal), "--max-pulls", "12")
                assert code in (0, 2, 3, 4), (where, err)
    assert tried > 25
    assert {"labels", "verdict"} <= shown


SCRIPT = """
import random, sys, warnings, paceline
evil = sys.argv[1] + "\\ud800"
def evaluate(arm, *, seed):
    if arm.startswith("bad"):
        raise ValueError("no" + evil)
    if seed % 50 == 0:
        return -1e20
    return float(arm[0]) + random.Random(seed).gauss(0, 0.1)
arms = ["1" + evil, "2" + evil, "bad" + evil]
result = paceline.race(evaluate, arms, progress=sys.argv[2] == "yes" or None, max_pulls=400)
print(result)
paceline.race(evaluate, arms, on_failure="stop", retries=0, progress=False)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("hostile") / "script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return [sys.executable, "-u", str(path), EVIL]


@pytest.mark.parametrize("progress", ["yes", "no"])
def test_python_lines_warnings_results_and_tracebacks(script: list[str], progress: str) -> None:
    done = subprocess.run([*script, progress], capture_output=True, check=False)
    assert done.returncode == 1
    assert "paceline.errors.RaceFailed: " in done.stderr.decode()
    assert b"[2J" in done.stdout
    assert b"[2J" in done.stderr
    assert acts(done.stdout.decode()) == ""
    assert acts(done.stderr.decode()) == ""


def test_python_on_a_terminal(script: list[str]) -> None:
    shown = on_terminal([*script, "no"], columns=70, rows=20)
    assert "arms in" in shown  # the live table
    assert acts(OWN.sub("", shown)) == ""


def test_the_command_line_on_a_terminal(tmp_path: Path) -> None:
    journal = tmp_path / "race.jsonl"
    command = [sys.executable, "-m", "paceline"]
    template = "sh -c 'echo $1 | cut -c1; sleep 0.1' - {x}"
    race = ["race", template, "-L", "x", f"0{EVIL},5{EVIL}", "--bounds", "0,6", "-j", str(journal)]
    shown = on_terminal([*command, *race], columns=70, rows=20)
    assert "arms in" in shown
    assert "\\x1b[2J" in shown
    assert acts(OWN.sub("", shown)) == ""
    shown = on_terminal([*command, "show", str(journal)], columns=50, rows=20)
    assert acts(OWN.sub("", shown)) == ""
    table = OWN.sub("", shown).split("\n\n")[0].splitlines()
    assert max(map(len, table)) <= 50


@pytest.mark.parametrize("encoding", [{"LANG": "C", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_stream_that_takes_only_ascii(encoding: dict[str, str], tmp_path: Path) -> None:
    known = {name: one for name, one in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    environment = known | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} | encoding
    values = b"0\xc3\xa9\xff,5\xe6\x97\xa5"
    arguments: list[Any] = [b"race", NOISY.encode(), b"-L", b"x", b"0,5", b"--bounds", b"0,6"]
    arguments += [b"-j", str(tmp_path / "j").encode()]
    named: list[Any] = [b"race", b"sh -c 'echo $1 | cut -c1' - {x}", b"-L", b"x", values, b"-n"]
    for words in (arguments, named, [b"show", values], [b"show", str(tmp_path / "j").encode()]):
        done = subprocess.run(
            [sys.executable, "-m", "paceline", *words],
            capture_output=True,
            env=environment,
            check=False,
        )
        assert done.returncode in (0, 2), done.stderr
        assert b"Traceback" not in done.stderr
        assert acts(done.stdout.decode("ascii")) == ""
        assert acts(done.stderr.decode("ascii")) == ""


def test_a_terminal_that_takes_only_ascii() -> None:
    template = "sh -c 'echo $1 | cut -c1; sleep 0.1' - {x}"
    race = ["race", template, "-L", "x", "0é,5日本", "--bounds", "0,6"]
    command = ["env", "PYTHONIOENCODING=ascii", sys.executable, "-m", "paceline", *race]
    shown = on_terminal(command, columns=70, rows=20)
    assert "arms in" in shown
    assert "has the highest mean" in shown
    assert OWN.sub("", shown).isascii()


def test_a_fault_of_our_own_is_printed_through_the_same_stream(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str) -> None:
        raise RuntimeError(EVIL)

    monkeypatch.setattr("paceline.races.Follower", broken)
    assert main(["show", "j"]) == 1
    err = capfd.readouterr().err
    assert "RuntimeError: \\x1b[2J" in err
    assert acts(err) == ""
