import json
import math
import pickle
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import InvalidInput
from paceline.commands import Command, NoValue, Value, parse_value

# What an operating system takes as an argument: anything but a zero byte.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
NASTY = [
    "a b",
    "",
    "it's",
    '"',
    "$(echo run)",
    "`echo run`",
    "\\",
    "a\nb",
    "{x}",
    "*",
    "; echo run",
]


def argv(template: str, **arm: Any) -> tuple[str, ...]:
    return Command.parse(template).fill(arm, seed=7, cores=2).argv


def test_placeholders_are_filled_after_the_words_are_split() -> None:
    assert argv("sim --x={x} {seed} {cores}", x="a b") == ("sim", "--x=a b", "7", "2")
    assert argv("sim '{x} {y}' \"\"", x=1, y="'") == ("sim", "1 '", "")
    assert argv("{x}/bin/sim", x="/opt") == ("/opt/bin/sim",)


def test_a_value_is_never_taken_for_a_template() -> None:
    assert argv("sim {x} {y}", x="{y}", y="{{seed}}") == ("sim", "{y}", "{{seed}}")


def test_doubled_braces_are_literal() -> None:
    assert argv("awk '{{print $1}}' {x}", x=1) == ("awk", "{print $1}", "1")
    assert argv("""sim '{{"x": {{"y": {x}}}}}'""", x=1) == ("sim", '{"x": {"y": 1}}')
    assert argv("sim {{{x}}}", x=1) == ("sim", "{1}")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.0, "1.0"), (1e-7, "1e-07"), (True, "true"), (Path("a/b"), "a/b"), ("", "")],
)
def test_values_are_written_plainly(value: Any, text: str) -> None:
    assert argv("sim {x}", x=value) == ("sim", text)


def test_the_environment_and_the_file_may_have_placeholders() -> None:
    command = Command.parse(
        "sim", environment={"X": "<{x}>", "N": "{cores}"}, cwd="/runs", value="file:{x}-{seed}.txt"
    )
    filled = command.fill({"x": "a b"}, seed=7, cores=2)
    assert filled.environment == {"X": "<a b>", "N": "2"}
    assert filled.file == "/runs/a b-7.txt"
    assert filled.cwd == "/runs"
    assert command.placeholders == {"x", "seed", "cores"}
    assert Command.parse("sim", value="file:/tmp/{seed}").fill({}, seed=1, cores=1).file == "/tmp/1"
    assert Command.parse("sim {x}").fill({"x": 1}, seed=1, cores=1).file is None


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_any_text_reaches_a_command_whole(values: list[str], extra: str) -> None:
    names = [f"x{index}" for index in range(len(values))]
    arm = dict(zip(names, values, strict=True))
    template = " ".join(["sim", *(f"{{{name}}}" for name in names), "--extra={y}"])
    expected = ["sim", *values, f"--extra={extra}"]
    plain = Command.parse(template).fill({**arm, "y": extra}, seed=0, cores=1)
    assert list(plain.argv) == expected
    shell = Command.parse(template, shell=True).fill({**arm, "y": extra}, seed=0, cores=1)
    assert shell.argv[:2] == ("/bin/sh", "-c")
    assert shlex.split(shell.argv[2]) == expected


@pytest.mark.parametrize(
    "template",
    [
        "printf '<%s>' {x}",
        "printf '<%s>' a{x}b",
        "y={x}; printf '<%s>' \"$y\"",
        "echo $(printf '<%s>' {x})x",
        "printf '<%s>' {x} # it's a comment",
        'printf \'<%s>\' "\\""{x}',
    ],
)
def test_a_real_shell_gets_values_whole(template: str) -> None:
    command = Command.parse(template, shell=True)
    for value in NASTY:
        filled = command.fill({"x": value}, seed=0, cores=1)
        done = subprocess.run(filled.argv, capture_output=True, text=True, check=True)
        if "echo" not in template:  # which reads backslashes
            assert value in done.stdout
        assert done.stdout.rstrip("x\n").count("<") == 1
        assert "run\n" not in done.stdout.replace("echo run", "")


@pytest.mark.parametrize(
    "template",
    [
        'echo "{x}"',
        "echo '{x}'",
        "echo `echo {x}`",
        "echo ${x}",
        "echo \\{x}",
        "echo $(({x} + 1))",
        'echo "$(echo "{x}")"',
        'echo "`echo "{x}"`"',
        "cat <<END\n{x}\nEND",
        "echo # {x}",
        "echo # don't\necho '{x}'",
    ],
)
def test_in_a_shell_no_placeholder_stands_where_its_quotes_would_not_hold(template: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape('begin with x={x}; and write "$x" there')):
        Command.parse(template, shell=True)
    Command.parse(f"x={{x}}; {template.replace('{x}', '$x')}", shell=True)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("", "the command is empty"),
        ("   ", "the command is empty"),
        ("'' {x}", "the command is empty"),
        ([], "the command is empty"),
        ("sim 'a", 'cannot split "sim \'a" into words: no closing quotation'),
        ("sim {x", "'{' has no partner in '{x': a literal brace is written {{"),
        ("sim x}", "'}' has no partner"),
        ("sim {}", "{} in '{}' is not a placeholder"),
        ("sim {0}", "{0} in '{0}' is not a placeholder"),
        ("sim '{print $1}'", "if the braces are meant, double them, {{ and }}"),
        ("sim {x:03d}", "formats are not supported"),
        ("sim {x!r}", "and {x} here"),
        ("sim {x} | tail -1", "'|' in 'sim {x} | tail -1' has a meaning only in a shell"),
        ("sim {x} 2>&1", "'2>&1' in"),
        ("sim {x} >out.txt", "'>out.txt' in"),
    ],
)
def test_a_bad_template_is_refused(template: str | list[str], says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        Command.parse(template)


def test_what_a_shell_would_act_upon_may_be_quoted() -> None:
    assert argv("sim '|' '>'") == ("sim", "|", ">")
    assert argv("sim -c 'a | b; c'") == ("sim", "-c", "a | b; c")
    assert Command.parse(["sim", "|"]).words == ("sim", "|")


def test_a_command_for_the_shell_is_one_text_with_closed_quotes() -> None:
    with pytest.raises(InvalidInput, match="is one text, got 2 words"):
        Command.parse(["sim", "{x}"], shell=True)
    with pytest.raises(InvalidInput, match="' has no partner"):
        Command.parse("sim {x} 'a", shell=True)


def test_names_of_the_environment_are_checked() -> None:
    for name in ("", "A=B"):
        with pytest.raises(InvalidInput, match="cannot be the name of an environment variable"):
            Command.parse("sim", environment={name: "1"})


X12 = [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize(
    ("command", "arms", "says"),
    [
        (Command.parse("echo {rat}"), [{"rate": 1}, {"rate": 2}], "did you mean 'rate'?"),
        (Command.parse("echo {HOME} {x}"), X12, "Literal braces are written {{HOME}}"),
        (Command.parse("echo {x}"), [{"x": 1, "y": 2}], "never uses 'y': put {y} where it"),
        (Command.parse("echo {x} {y}"), [{"x": 1, "y": 1}, {"x": 2}], "{y}, but arm 1 has none"),
        (Command.parse("echo {x}"), [{"x": 1}, {"x": "1"}], "arms 0 and 1 give the same command"),
        (Command.parse("echo {x}{y}"), [{"x": 1, "y": 23}, {"x": 12, "y": 3}], "same command"),
        (Command.parse("echo {seed}"), [{"seed": 1}], "'seed' is filled in for every pull"),
        (Command.parse("echo {cores}"), [{"cores": 1}], "'cores' is filled in for every pull"),
        (Command.parse("echo {x}"), [{"x": [1]}], "x of arm 0 is [1]: only strings and numbers"),
        (Command.parse("echo {x}"), [{"x": "a\0"}], "zero byte"),
        (Command.parse("no-such-program {x}"), X12, "cannot find the program 'no-such-program'"),
        (Command.parse("/no/such {x}"), X12, "there is no file /no/such"),
        (Command.parse("echo{x}"), [{"x": ""}, {"x": "-no"}], "cannot find the program 'echo-no'"),
        (Command.parse("echo {x}", environment={"PATH": "/no"}), X12, "cannot find the program"),
        (Command.parse("echo {x}", cwd="/no/folder"), X12, "'/no/folder', does not exist"),
        (Command.parse("echo {x}", value="file:out.txt"), X12, "would overwrite 'out.txt'"),
    ],
)
def test_what_cannot_be_raced_is_refused(
    command: Command, arms: list[dict[str, Any]], says: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        command.check(arms)


def test_paired_pulls_need_the_seed_and_files_of_their_own() -> None:
    Command.parse("echo {x}").check(X12)
    with pytest.raises(InvalidInput, match=r"does not use \{seed\}"):
        Command.parse("echo {x}").check(X12, paired=True)
    command = Command.parse("echo {x} {seed}", value="file:{seed}.txt")
    command.check(X12)
    with pytest.raises(InvalidInput, match=r"would write the same file '\{seed\}\.txt'"):
        command.check(X12, paired=True)
    Command.parse("echo {x}", value="file:{x}-{seed}.txt").check(X12, paired=True)


def test_arms_may_differ_by_the_environment_only() -> None:
    Command.parse("echo", environment={"X": "{x}"}).check(X12)
    with pytest.raises(InvalidInput, match="give the same command"):
        Command.parse("echo", value="file:{x}-{seed}.txt").check(X12)


def test_a_relative_program_is_looked_for_in_the_folder_to_run_in(tmp_path: Path) -> None:
    program = tmp_path / "sim"
    command = Command.parse("./sim {x}", cwd=str(tmp_path))
    with pytest.raises(InvalidInput, match=f"there is no file {tmp_path}/sim"):
        command.check(X12)
    program.write_text("#!/bin/sh\n")
    with pytest.raises(InvalidInput, match=r"is not executable: try chmod \+x"):
        command.check(X12)
    program.chmod(0o755)
    command.check(X12)
    Command.parse("sim {x}", environment={"PATH": str(tmp_path)}).check(X12)


def test_filling_with_a_missing_parameter_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown placeholder 'y'"):
        argv("sim {y}", x=1)


COMMANDS = st.builds(
    lambda words, shell, cwd, environment, value: Command.parse(
        words[0] if shell else words, shell=shell, cwd=cwd, environment=environment, value=value
    ),
    st.lists(
        TEXTS.map(lambda text: "sim " + re.sub(r"[{}'\"`]", "", text) + " {x}{{"), min_size=1
    ).filter(lambda words: not re.search(r"[$\\#]|<<", words[0])),
    st.booleans(),
    st.none() | TEXTS,
    st.dictionaries(st.text("ABC_", min_size=1), st.sampled_from(["", "{seed}", "ü\n"])),
    st.sampled_from(["last", "time", "json:a.b", r"pattern:x: (\S+)", "file:{x}:{seed}"]),
)


@given(COMMANDS)
def test_a_command_comes_back_from_json(command: Command) -> None:
    text = json.dumps(command.to_json(), allow_nan=False)
    assert Command.from_json(json.loads(text)) == command
    assert pickle.loads(pickle.dumps(command)) == command


@pytest.mark.parametrize(
    "change",
    [{"words": "sim"}, {"words": [1]}, {"shell": 1}, {"cwd": 3}, {"environment": {"A": 1}}],
)
def test_a_record_that_is_no_command_is_refused(change: dict[str, Any]) -> None:
    plain = Command.parse("sim {x}").to_json()
    with pytest.raises(InvalidInput, match="not a recorded command"):
        Command.from_json(plain | change)
    for key in plain:
        with pytest.raises(InvalidInput, match=f"not a recorded command .*'{key}'"):
            Command.from_json({name: value for name, value in plain.items() if name != key})


def test_later_changes_do_not_reach_a_command() -> None:
    environment = {"A": "1"}
    command = Command.parse("sim", environment=environment)
    environment["A"] = "2"
    assert command.environment == {"A": "1"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-2.5e-3\n", -0.0025),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1.5D-03", 0.0015),
        ("epoch 3\nscore = 0.25\nDone.\n", 0.25),
        ("score=0.25", 0.25),
        ("score: 0.25", 0.25),
        ("The score is 0.25.", 0.25),
        ("[0.1, 0.25]", 0.25),
        ('{"a":1,"score":0.25}', 0.25),
        ('{"score": 0.25}', 0.25),
        ("**0.25**", 0.25),
        ("| 0.25 |", 0.25),
        ("\x1b[32m0.25\x1b[0m\n", 0.25),
        ("10 %\r20 %\r0.25", 0.25),
        ("1e999", math.inf),
        ("0.5\ninf", math.inf),
        ("0.5\nloss: -Infinity", -math.inf),
        ("0.25 at the end of training, no information", 0.25),
    ],
)
def test_the_last_number(text: str, number: float) -> None:
    assert Value().read(text) == number


@pytest.mark.parametrize("text", ["nan", "step 3 loss NaN", "0.5 -nan", "loss=nan.", "3 -nan(ind)"])
def test_nan_is_not_passed_over_for_an_earlier_number(text: str) -> None:
    assert math.isnan(Value().read(text))


@pytest.mark.parametrize(
    "last",
    [
        "3.5s",
        "53%",
        "12:30:45",
        "2030-01-31",
        "1,234.5",
        "0,53",
        "1/10",
        "1.2.3",
        "cuda:0",
        "tensor(0.25)",
        "tensor(nan)",
        "[worker-3] bye",
        "1_000",
        "0x1F",
        "loss None",
        "loss: NA",
        '"loss":null}',
        '{"b":0.53,"name":"x"}',
        '{"b":NaN,"name":"x"}',
        "0.5 ± 0.1",
        "0.5 +/- 0.1",
        "nan%",
    ],
)
def test_what_is_like_a_number_and_is_none_is_not_passed_over(last: str) -> None:
    with pytest.raises(NoValue, match="which is not a plain number"):
        Value().read(f"0.99\n{last}")


@given(
    st.floats(), st.sampled_from(["", "score = ", "step 3\nscore: "]), st.sampled_from(["", "\n"])
)
def test_any_float_that_python_prints_is_read_back(number: float, before: str, after: str) -> None:
    read = Value().read(f"{before}{number}{after}")
    assert read == number or (math.isnan(read) and math.isnan(number))
    file_value = Value("file", "{seed}.txt")
    assert repr(file_value.read("3", f"{before}{number}{after}")) == repr(number)
    matched = Value("pattern", r"<(\S+)>").read(f"<{number}> 3")
    assert repr(matched) == repr(number)
    assert repr(Value("json", "a").read(json.dumps({"a": number}))) == repr(number)


@pytest.mark.parametrize(
    ("word", "text", "number"),
    [
        ("json:score", '{"score": 3}', 3.0),
        ("json:metrics.score", 'starting\n{"metrics": {"score": 0.5}}\n', 0.5),
        ("json:metrics.score", '{"metrics.score": 0.5}', 0.5),
        ("json:runs.1.time", '{\n "runs": [{}, {"time": 2e3}]\n}', 2000.0),
        ("json:-1", "[1, 2]", 2.0),
        ("json:score", '{"score": "-inf"}', -math.inf),
        ("json:score", '{"score": 1' + "0" * 5000 + "}", math.inf),
        (r"pattern:^score (\S+)$", "score 1\nscore 2\nthe score 3\n", 2.0),
        (r"pattern:took (\S+)s", "took 1.5s", 1.5),
        ("time", "", 12.0),
        ("file:out-{seed}.txt", "3", 0.75),
        ("stderr", "3", 0.25),
        ("stderr:json:score", "3", 0.25),
        (r"stderr:pattern:: (\S+)}", "3", 0.25),
    ],
)
def test_other_places(word: str, text: str, number: float) -> None:
    stderr = '{"score": 0.25}'
    assert parse_value(word).read(text, "score 0.75", 12.0, stderr) == number
    assert str(parse_value(word)) == word


@pytest.mark.parametrize(
    ("word", "text", "says"),
    [
        ("last", "", "the output is empty"),
        ("last", "all done", "no number in the output, which ends with 'all done'"),
        ("last", "x" * 500 + " end", "xxx end'"),
        ("json:score", "", "the output is empty"),
        ("json:score", "score 3", "is JSON; it ends with 'score 3'"),
        ("json:score", "[" * 100_000, "is JSON; it ends with …"),
        ("json:score", '{"scor": 3}', "'score' is not in the keys scor"),
        ("json:a.b", '{"a": 3}', "'b' is not in '3.0'"),
        ("json:a.7", '{"a": [1, 2]}', "no a.7 in the output"),
        ("json:a.b", '{"a": [1, 2]}', "'b' is not in a list of 2"),
        ("json:a", '{"a": true}', "a in the output is 'true', which is not a number"),
        ("json:a", '{"a": null}', "'null'"),
        ("json:a", '{"a": {"b": 1}}', "which is not a number"),
        ("json:a", '{"a": "fast"}', "which is not a number"),
        (r"pattern:score (\S+)", "all done", "is not in the output, which ends with 'all done'"),
        (r"pattern:score (\S+)", "score 1\nscore 2,5", "its group holds '2,5'"),
        (r"pattern:score( \S+)?", "score", "its group holds None"),
        ("file:{seed}.txt", "0.5", "wrote no file '{seed}.txt'"),
        ("stderr", "0.5", "the stderr output is empty: it should end with a number"),
        ("stderr:json:a", "0.5", "the stderr output is empty: it should be JSON"),
        ("stderr:pattern:(1)", "1", "is not in the stderr output, which is empty"),
    ],
)
def test_what_was_seen_is_said(word: str, text: str, says: str) -> None:
    with pytest.raises(NoValue, match=re.escape(says)) as caught:
        parse_value(word).read(text, None, 1.0)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("lst", "did you mean 'last'?"),
        ("", "unknown value ''"),
        ("last:3", "write last"),
        ("time:3", "write time"),
        ("json", "write json:KEY, as in json:metrics.score"),
        ("pattern:", "write pattern:REGEX"),
        ("stdrr", "did you mean 'stderr'?"),
        ("stderr:", "unknown value ''"),
        ("stderr:time", "is read as stderr, stderr:json:KEY or stderr:pattern:REGEX"),
        ("stderr:file:{seed}", "is read as stderr, stderr:json:KEY"),
        ("stderr:json", "write stderr:json:KEY, as in stderr:json:metrics.score"),
        ("pattern:score", "has 0 groups"),
        ("pattern:(a)(b)", "has 2 groups"),
        ("pattern:(", "is not a regular expression"),
        ("file:{", "has no partner"),
    ],
)
def test_a_bad_value_is_refused(word: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        parse_value(word)
