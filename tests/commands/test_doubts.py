import pytest

from paceline.commands import parse_value
from paceline.commands.doubts import doubts, others
from paceline.commands.finding import find


@pytest.mark.parametrize(
    ("word", "text", "says", "instead"),
    [
        ("last", "time: 12.1ms, 3 iterations", "before 'iterations'", r"pattern:time: (\S+?)ms"),
        ("stderr", "time: 1ms, 3 iterations", "a count", r"stderr:pattern:time: (\S+?)ms"),
        ("last", "accuracy=0.91 steps=200", "0.91 is on the same line", r"pattern:accuracy=(\S+)"),
        ("last", "loss: 0.31\nsteps: 10", "0.31 is on the line before", r"pattern:loss: (\S+)"),
        ("last", "speed 2.5\nversion 2024", "2024 may be a year", r"pattern:speed (\S+)"),
        ("last", "2024", "2024 may be a year", ""),
        ("last", "took 12.1 ms", "in 'ms', and other runs may", r"pattern:took (\S+) ms"),
        ("last", '{"a": {"b": 0.5}, "n": 3}', "the output is JSON", "json:a.b"),
        (r"pattern:took ([\d.]+)", "took 12.1ms", "in 'ms'", r"pattern:took ([\d.]+)ms"),
        (r"pattern:took ([\d.]+)", "took 12.1 s", "in 's'", r"pattern:took ([\d.]+) s"),
    ],
)
def test_a_number_that_may_not_be_meant(word: str, text: str, says: str, instead: str) -> None:
    value = parse_value(word)
    (doubt,) = doubts(value, find(value.kind, value.argument, text))
    assert says in doubt.text
    assert ([one for one, _ in doubt.instead] or [""])[0] == instead
    for written, number in doubt.instead:
        other = parse_value(written)
        assert other.read(text, stderr=text) == number


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("last", "score 0.7"),
        ("last", "3\n"),
        ("last", "step 1\nscore 3"),
        ("last", "0.5 0.7 0.9"),
        ("last", "[100%] 0.5"),
        ("json:n", '{"score": 0.5, "n": 3}'),
        (r"pattern:took ([\d.]+)ms", "took 12.1ms, 3"),
        (r"pattern:score (\S+)", "score 3 of 4.5"),
        ("time", ""),
    ],
)
def test_a_number_that_is_plainly_meant(word: str, text: str) -> None:
    value = parse_value(word)
    assert doubts(value, find(value.kind, value.argument, text, seconds=1.0)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loaded 3 files\nscore: 0.7 (took 3.5s)", {"pattern:score: (\\S+)": 0.7}),
        ('log\n{"a": {"b": 2}, "ok": true}', {"json:a.b": 2.0}),
        ("result: 7;", {"pattern:result: (\\S+?);": 7.0}),
        ("12.5s", {"pattern:^(\\S+?)s": 12.5}),
        ("12:30 and 1,234.5", {}),
        ("done", {}),
        ("", {}),
        ("(((1)))[[*2s*", None),
    ],
)
def test_what_could_be_read_instead(text: str, expected: dict[str, float] | None) -> None:
    offers = dict(others(parse_value("last"), text))
    assert expected is None or expected.items() <= offers.items()
    assert expected != {} or offers == {}
    assert all(parse_value(word).read(text) == number for word, number in offers.items())
