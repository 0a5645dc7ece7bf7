import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paceline import APR, InvalidInput, PowerLaw
from paceline.commands import Command, Value
from paceline.races.file import RaceFile, read_race_file

COMMAND = 'command = "echo {x} {seed}"\n'
ARMS = "[arms]\nx = [1, 2]\n"


def read(tmp_path: Path, text: str) -> RaceFile:
    path = tmp_path / "race.toml"
    path.write_text(text, encoding="utf-8")
    return read_race_file(path)


def test_paths_start_at_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("pulls,seconds\n1,1.0\n4,2.0\n")
    text = """
        command = "echo {x}"
        arms = [{x = 1}, {x = 2}]
        [race]
        journal = "race.jsonl"
        scaling = "measured:times.csv"
        """
    race = read(tmp_path, text)
    assert race.options["journal"] == str(tmp_path / "race.jsonl")
    assert race.options["scaling"].seconds(4.0) == pytest.approx(2.0)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("1,1.0\n4,2.0\n", encoding="utf-8-sig")
    measured = '[race]\nscaling = "measured:times.csv"\n'
    race = read(tmp_path, f"\ufeff{COMMAND}{ARMS}{measured}")
    assert race.arms == ({"x": 1}, {"x": 2})
    assert race.options["scaling"].seconds(1.0) == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="line 5"):
        read(tmp_path, f"\ufeff{COMMAND}{ARMS}[race]\nretries = -1\n")


def test_a_whole_file(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    race = read(
        tmp_path,
        r"""
        command = "echo {x} {mode} --seed {seed} --threads {cores}"
        shell = false
        cwd = "runs"
        value = "pattern:score = (\\S+)"
        [env]
        OMP_PROC_BIND = "true"
        LEVEL = 3
        X = "{x}"
        [arms]
        x = [1, 2.0]
        mode = ["fast", "slow"]
        [race]
        confidence = 0.95
        deadline = "10m"
        direction = "minimize"
        top = 1
        tolerance = 0
        noise = "bounded"
        bounds = [0, 1]
        sigma = 0.5
        paired = true
        cores = 8
        cores_per_pull = [1, 4]
        policy = "apr:beta=1.5"
        scaling = "power:0.5"
        journal = "race.jsonl"
        seed = 0
        retries = 0
        timeout = "90s"
        on_failure = "stop"
        max_pulls = 1000
        """,
    )
    assert race.command == Command(
        ("echo", "{x}", "{mode}", "--seed", "{seed}", "--threads", "{cores}"),
        cwd=str(tmp_path / "runs"),
        environment={"OMP_PROC_BIND": "true", "LEVEL": "3", "X": "{x}"},
        value=Value("pattern", r"score = (\S+)"),
    )
    assert race.arms == (
        {"x": 1, "mode": "fast"},
        {"x": 1, "mode": "slow"},
        {"x": 2.0, "mode": "fast"},
        {"x": 2.0, "mode": "slow"},
    )
    assert race.command.fill(race.arms[2], seed=5, cores=2).argv[1:3] == ("2.0", "fast")
    assert race.options == {
        "confidence": 0.95,
        "deadline": "10m",
        "direction": "minimize",
        "top": 1,
        "tolerance": 0.0,
        "noise": "bounded",
        "bounds": (0.0, 1.0),
        "sigma": 0.5,
        "paired": True,
        "cores": 8,
        "cores_per_pull": (1, 4),
        "policy": APR(beta=1.5),
        "scaling": PowerLaw(0.5),
        "journal": str(tmp_path / "race.jsonl"),
        "seed": 0,
        "retries": 0,
        "timeout": 90.0,
        "on_failure": "stop",
        "max_pulls": 1000,
    }


def test_what_may_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    race = read(tmp_path, COMMAND + ARMS)
    assert race.command == Command(("echo", "{x}", "{seed}"), cwd=str(tmp_path))
    assert race.options == {}
    monkeypatch.chdir(tmp_path.parent)
    assert read_race_file(f"{tmp_path.name}/race.toml") == race


def test_a_program_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "sim").write_text("#!/bin/sh\n")
    (tmp_path / "sim").chmod(0o755)
    assert read(tmp_path, 'command = ["./sim", "{x}"]\n' + ARMS).command.words == ("./sim", "{x}")


def test_a_command_for_the_shell(tmp_path: Path) -> None:
    race = read(tmp_path, 'command = "echo {x} | cat"\nshell = true\n' + ARMS)
    assert race.command.fill({"x": "a b"}, seed=0, cores=1).argv[2] == "echo 'a b' | cat"


def test_arms_one_by_one(tmp_path: Path) -> None:
    race = read(tmp_path, COMMAND + "[[arms]]\nx = 1\n[[arms]]\nx = 'two'\n")
    assert race.arms == ({"x": 1}, {"x": "two"})


def test_arms_of_a_csv_file_stay_texts(tmp_path: Path) -> None:
    text = '\ufeffx, mode\n1.0,"a, b"\n\n2,slow\n'
    (tmp_path / "arms.csv").write_text(text, encoding="utf-8")
    race = read(tmp_path, 'command = "echo {x} {mode}"\narms = "arms.csv"\n')
    assert race.arms == ({"x": "1.0", "mode": "a, b"}, {"x": "2", "mode": "slow"})


def test_a_moment_is_a_deadline_too(tmp_path: Path) -> None:
    race = read(tmp_path, COMMAND + ARMS + "[race]\ndeadline = 2030-01-31T18:00:00Z\n")
    assert race.options["deadline"] == datetime(2030, 1, 31, 18, tzinfo=UTC)
    assert read(tmp_path, COMMAND + ARMS + "[race]\ndeadline = 90\n").options["deadline"] == 90


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("command = ", "is not valid TOML: Invalid value (at end of document)"),
        (COMMAND + "x = = 3\n", "is not valid TOML: Invalid value (at line 2, column 5)"),
        (ARMS, "there is no command"),
        (COMMAND, "there are no arms: write [arms]"),
        ("command = 3\n" + ARMS, "command must be a string or a list of strings, got 3"),
        ("command = ['echo', 3]\n" + ARMS, "list of strings"),
        ("comand = 'echo'\n", "unknown key 'comand': did you mean 'command'?"),
        ("deadline = '10m'\n" + COMMAND + ARMS, "'deadline' belongs under [race]"),
        (COMMAND + "shell = 1\n" + ARMS, "shell must be true or false, got 1"),
        (COMMAND + "cwd = 1\n" + ARMS, "cwd must be a string"),
        (COMMAND + "cwd = 'nowhere'\n" + ARMS, "nowhere', does not exist"),
        (COMMAND + "value = 'jsn:a'\n" + ARMS, "did you mean 'json'?"),
        (COMMAND + "env = 3\n" + ARMS, "[env] must be a table"),
        (COMMAND + ARMS + "[env]\nA = [1]\n", "A in [env] must be a string, got [1]"),
        ("command = 'echo {y}'\n" + ARMS, "unknown placeholder 'y'"),
        ("command = 'no-such-program {x}'\n" + ARMS, "cannot find the program"),
        (COMMAND + "arms = 3\n", "[arms] must be a table"),
        (COMMAND + "arms = [3]\n", "each of [[arms]] must be a table"),
        (COMMAND + "arms = []\n", "at least two arms, got 0"),
        (COMMAND + "arms = 'no.csv'\n", "No such file"),
        (COMMAND + "[arms]\n", "there are no parameters"),
        (COMMAND + "[arms]\nx = []\n", "x has no values"),
        (COMMAND + "[arms]\nx = [1]\n", "at least two arms, got 1"),
        (COMMAND + "[arms]\nx = 1\n", "x in [arms] must be a list of values, got 1: write x = [1]"),
        (COMMAND + ARMS + "value = 'last'\n", "or move it above [arms]"),
        (COMMAND + "[arms]\nx = [1, 2, 1]\n", "arms 0 and 2 are the same, {'x': 1}"),
        (COMMAND + "[arms]\nx = [1, nan]\n", "x is nan: write it as a string, 'nan'"),
        (
            COMMAND + "[arms]\nx = [1, [2]]\n",
            "x must be a string, a number, true or false, got [2]",
        ),
        (COMMAND + "[arms]\nx = [1, 2030-01-31]\n", "x must be a string"),
        (COMMAND + ARMS + "'learning rate' = [1]\n", "cannot be the name of a parameter"),
        (COMMAND + ARMS + "seed = [1]\n", "'seed' is filled in for every pull"),
        (COMMAND + "[[arms]]\nx = 1\n[[arms]]\ny = 1\n", "arm 1 has the parameters y, but arm 0"),
        (
            COMMAND + "[arms]\n" + "".join(f"x{i} = [{'1,' * 100}]\n" for i in range(20)),
            "more than 1,000,000",
        ),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "race.toml") in str(caught.value)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("confidnce = 0.9", "unknown option in [race] 'confidnce': did you mean 'confidence'?"),
        ("command = 'echo'", "'command' does not belong under [race]"),
        ("confidence = 95", "strictly between 0 and 1"),
        ("confidence = '0.9'", "confidence must be a number"),
        ("deadline = 'soon'", "deadline must be a span of time"),
        ("deadline = 0", "deadline must be a finite time above 0"),
        ("deadline = 18:00:00", "or a date with a time of day"),
        ("direction = 'minimise'", "did you mean 'minimize'?"),
        ("top = 0", "top must be a whole number of at least 1"),
        ("top = 1.5", "top must be a whole number"),
        ("tolerance = -1", "tolerance must be"),
        ("noise = 'gaussian'", "did you mean 'subgaussian'?"),
        ("noise = []", "unknown noise []"),
        ("bounds = [1, 0]", "bounds must be (lowest, highest)"),
        ("bounds = 1", "bounds must be (lowest, highest)"),
        ("bounds = [0, inf]", "bounds must be finite"),
        ("bounds = ['a', 'b']", "bounds must be numbers"),
        ("sigma = 0", "sigma must be"),
        ("paired = 'yes'", "paired must be True, False or None"),
        ("cores = true", "cores must be a whole number"),
        ("cores_per_pull = 0", "cores_per_pull must be a whole"),
        ("cores_per_pull = [4, 1]", "cores_per_pull runs from 4 down to 1"),
        ("cores_per_pull = [1.5, 2]", "cores_per_pull must be a whole number"),
        ("policy = 3", "unknown policy 3"),
        ("journal = ''", "journal must be a string in quotes"),
        ("seed = -1", "seed must be a whole number of at least 0"),
        ("timeout = '1x'", "timeout must be a span of time"),
        ("timeout = 2030-01-31T18:00:00", "timeout must be a span of time"),
        ("on_failure = 'ignore'", "unknown on_failure 'ignore'. Known: drop-arm, stop"),
        ("max_pulls = 0", "max_pulls must be"),
    ],
)
def test_a_bad_option_is_refused(tmp_path: Path, option: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        read(tmp_path, COMMAND + ARMS + f"[race]\n{option}\n")


def test_paired_pulls_need_the_seed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"does not use \{seed\}"):
        read(tmp_path, 'command = "echo {x}"\n' + ARMS + "[race]\npaired = true\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("x\n1,2\n3\n", "line 2 of"),
        ("x,x\n1,2\n", "has the column 'x' twice"),
        ("x,\n1,2\n", "'' cannot be the name of a parameter"),
        ("x\n1\n1\n", "arms 0 and 1 are the same"),
        ('x\n"1\n', "cannot read the arms"),
    ],
)
def test_a_bad_csv_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "arms.csv").write_text(text)
    with pytest.raises(InvalidInput, match=re.escape(says)):
        read(tmp_path, COMMAND + "arms = 'arms.csv'\n")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read .*race\.toml: there is no such file"):
        read_race_file(tmp_path / "race.toml")
    with pytest.raises(InvalidInput, match=r"cannot read .*: it is a folder"):
        read_race_file(tmp_path)
    (tmp_path / "race.toml").write_bytes(b"command = '\xff'\n")
    with pytest.raises(InvalidInput, match="is not valid TOML: 'utf-8' codec"):
        read_race_file(tmp_path / "race.toml")


def test_what_a_file_says_goes_into_a_journal_and_back(tmp_path: Path) -> None:
    race = read(tmp_path, COMMAND + ARMS + "[race]\nbounds = [0, 1]\n")
    again = json.loads(json.dumps([race.command.to_json(), race.arms], allow_nan=False))
    assert Command.from_json(again[0]) == race.command
    assert tuple(again[1]) == race.arms


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("command = 'echo {x}'\nvalue = 3\n[arms]\nx = [1, 2]\n", "line 2: value must be a string"),
        ("comand = 'echo {x}'\n", "line 1: unknown key 'comand': did you mean 'command'?"),
        (COMMAND + "[arms]\nx = 3\n", "line 3: x in [arms] must be a list of values, got 3"),
        (COMMAND + ARMS + "[race]\nseed = 1\nretries = 'three'\n", "line 6: retries must be a"),
        (COMMAND + ARMS + "[race]\n'dedline' = '3s'\n", "line 5: unknown option in [race] 'dedli"),
        (COMMAND + ARMS + "[env]\nA = []\n", "line 5: A in [env] must be a string"),
        (COMMAND + "race.top = 'two'\n" + ARMS, "line 2: top must be"),
        (COMMAND + "deadline = '3s'\n" + ARMS, "line 2: 'deadline' belongs under [race]"),
        ("command = 'echo {y}'\n" + ARMS, "line 1: unknown placeholder 'y'"),
        ("command = 'echo {x}'\n[arms]\nx = [1, 1]\n", "line 2: "),
        (COMMAND + "x = = 3\n", "(at line 2, column 5), in 'x = = 3'"),
        ('{"command": "echo"}', "race.toml is JSON, but a race file is TOML, as in command = "),
    ],
)
def test_the_line_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "race.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=re.escape(says)):
        read_race_file(path)


def test_other_files_are_told_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "race.toml").write_text("")
    says = {
        "a.yaml": ("command: echo\n", "a.yaml is YAML, but a race file is TOML"),
        "a.json": ('{"command": 1}', "a.json is JSON, but"),
        "a.py": ("import paceline\n", "a.py is Python, but"),
        "a.jsonl": ('{"kind": "race"}\n{}\n', "a.jsonl is a journal: paceline show says how"),
        "odd.toml": ('{"kind": "race"}\n{}\n', "odd.toml is a journal"),
    }
    for name, (text, message) in says.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(InvalidInput, match=re.escape(message)):
            read_race_file(tmp_path / name)
    with pytest.raises(InvalidInput, match=r"there is no such file; did you mean race\.toml\?"):
        read_race_file(tmp_path / "rac.toml")
    with pytest.raises(InvalidInput, match=r"it is a folder; give a race file in it, such as odd"):
        read_race_file(tmp_path)
