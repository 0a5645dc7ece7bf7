"""`--try` runs one pull, and shows which number is read from what it printed."""

import tomllib
from pathlib import Path

import pytest

from paceline.cli import main
from paceline.cli.trying import in_file


def tried(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words, "--try"])
    return code, capfd.readouterr().out.partition("\ntried ")[2]


def script(tmp_path: Path, text: str, more: str = "") -> str:
    (tmp_path / "bench.sh").write_text(text)
    file = tmp_path / "race.toml"
    file.write_text(f'command = "sh bench.sh {{x}}"\n{more}\n[arms]\nx = [1, 2]\n')
    return str(file)


def test_the_number_and_its_line_are_shown_and_one_pull_is_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = script(tmp_path, 'touch "ran$1"; echo start; echo "time: 12.1ms, $(ls | wc -l) runs"')
    assert main(["check", file]) == 0
    assert not (tmp_path / "ran1").exists()
    for words in (["check", file], ["run", file], ["run", file, "-n"]):
        capfd.readouterr()
        code, out = tried(capfd, *words)
        assert code == 0
        assert 'read 3 from stdout, in "time: 12.1ms, 3 runs"' in out
        assert "after " in out
        assert "with exit code 0" in out
        assert r"value = 'pattern:time: (\S+?)ms'  reads 12.1" in out
    assert not (tmp_path / "ran2").exists()
    assert not (tmp_path / "race.jsonl").exists()


def test_on_the_command_line_values_are_offered_as_flags(capfd: pytest.CaptureFixture[str]) -> None:
    code, out = tried(capfd, "race", "echo time: {x}.5ms, 3 times", "-L", "x", "1,2")
    assert code == 0
    assert r"instead  --value 'pattern:time: (\S+?)ms'  reads 1.5" in out


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("stderr", 'read 0.5 from stderr, in "loss 0.5"'),
        ("json:a.b", "read 2 from stdout, where the JSON has a.b"),
        ("file:out-{seed}", "from the file"),
        ("time", ", the seconds it took"),
    ],
)
def test_the_source_is_named(
    value: str, says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = 'echo loss 0.5 >&2; echo \'{"a": {"b": 2}}\'; test -z "$2" || echo 7 > out-$2'
    file = script(tmp_path, text, f'value = "{value}"')
    more = ["--cores-per-pull", "1"] if value == "time" else []
    if value.startswith("file"):
        content = Path(file).read_text().replace("bench.sh {x}", "bench.sh {x} {seed}")
        Path(file).write_text(content)
    code, out = tried(capfd, "check", file, *more)
    assert (code, says in out) == (0, True), out


def test_what_was_printed_is_shown_if_it_has_no_number(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "seq 50 | sed 's/^/line /'; printf 'score: 0.7 (in 3.5s)\\033[2J\\n'; echo bad 4x >&2"
    code, out = tried(capfd, "check", script(tmp_path, text))
    assert code == 4
    assert "value    none: it gave no number: where the output should have its last" in out
    assert "line 49" in out
    assert "line 39" not in out, "only the end is shown"
    assert r"score: 0.7 (in 3.5s)\x1b[2J" in out
    assert "stderr   bad 4x" in out
    assert r"instead  value = 'pattern:score: (\S+)'  reads 0.7" in out
    assert r"value = 'stderr:pattern:bad (\S+?)x'  reads 4" in out


@pytest.mark.parametrize(
    ("command", "more", "says"),
    [
        ("sh -c 'echo broken {x} >&2; exit 3'", "", "not well: it ended with status 3"),
        ("sleep 6{x}", "--timeout 0.3s", "it took longer than the timeout of 300 ms"),
        ("echo {x}", "--value file:out-{seed}", "have the command write"),
    ],
)
def test_a_pull_that_fails(
    command: str, more: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out = tried(capfd, "race", command, "-L", "x", "1,2", *more.split())
    assert (code, says in out) == (4, True), out
    assert "broken" not in command or "stderr  broken 1\n" in out


def test_a_race_that_is_submitted_is_not_tried(capfd: pytest.CaptureFixture[str]) -> None:
    line = ["race", "echo {x}", "-L", "x", "1,2", "--engine", "slurm", "--nodes", "1", "--try"]
    assert main(line) == 2
    assert "leave --nodes out" in capfd.readouterr().err


@pytest.mark.parametrize("value", [r"pattern:a 'b' (\S+)", r"pattern:a (\S+)", 'pattern:"(.)"'])
def test_a_value_for_a_file_is_toml(value: str) -> None:
    assert tomllib.loads(in_file(value)) == {"value": value}
