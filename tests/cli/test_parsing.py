"""What the command line does not know, it refuses with what was probably meant."""

import pytest

from paceline.cli import VERBS, main, parser


def refusal(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit, match="2"):
        main(line.split())
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("race a -L x 1,2 --dedline 3s", "race: error: unknown flag --dedline: did you mean --dea"),
        ("run --max_pulls=4 a.toml", "did you mean --max-pulls?"),
        ("run a.toml --dry", "unknown flag --dry: did you mean --dry-run?"),
        ("run a.toml --quite", "did you mean --quiet?"),
        ("run a.toml --xyzzy", "unknown flag --xyzzy\n"),
        ("show a.jsonl -z", "unknown flag -z\n"),
        ("show --jsn", "unknown flag --jsn: did you mean --json?"),  # not: JOURNAL is missing
        ("show a.jsonl --deadline 3s", "show takes no --deadline, which is for race, run, check,"),
        ("show a.jsonl -L x 1,2", "show takes no -L, which is for race\n"),
        ("profile a.toml --time 3s", "race, run and resume: did you mean --timeout?"),
        ("--deadline 3s race a", "--deadline comes after the command, as in paceline race --dead"),
        ("race a --direction minimize", "write --maximize or --minimize"),
        ("run a.toml --callbacks f", "callbacks is for paceline.race in Python"),
        ("run a.toml --sbatch --account=x", "if it is a value, write --sbatch=--account"),
        ("rnu a.toml", "unknown command 'rnu': did you mean 'run'? Known: race, run, check"),
        ("a.toml", "a.toml is a file: did you mean paceline run a.toml?"),
        ("a.jsonl", "did you mean paceline show a.jsonl?"),
        ("race a --noise gaussian", "unknown noise 'gaussian': did you mean 'subgaussian'?"),
        ("run a.toml --on-failure drop", "unknown on-failure 'drop': did you mean 'drop-arm'?"),
        ("show a b", "there is a word too many, 'b'"),
        ("run a.toml --cores three", "--cores: give a whole number, not 'three'"),
        ("run a.toml -c high", "--confidence: give a number, not 'high'"),
        ("run a.toml --\x1b[2J", r"unknown flag --\x1b[2J"),
    ],
)
def test_what_was_probably_meant_is_said(
    line: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    err = refusal(line, capsys)
    assert says in err
    assert len(err.splitlines()) == 2
    assert "--help)" in err


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert "race settings of a command" in refusal("", capsys)


def test_words_that_look_like_flags_may_be_values(capsys: pytest.CaptureFixture[str]) -> None:
    options = parser().parse_args(["race", "cmd --dedline {x}", "-L", "x", "-1,-.5", "-nq"])
    assert options.commands == ["cmd --dedline {x}"]
    assert options.lists == [["x", "-1,-.5"]]
    assert options.dry_run
    assert options.quiet
    assert parser().parse_args(["race", "--", "--dedline"]).commands == ["--dedline"]
    assert parser().parse_args(["run", "a", "--sbatch=--account=x"]).sbatch == ["--account=x"]


def test_every_flag_of_every_command_is_known_to_all_others() -> None:
    for verb in parser().verbs.values():
        assert set(verb.verbs) == {one.NAME for one in VERBS}
