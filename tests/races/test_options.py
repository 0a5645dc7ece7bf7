"""Options are described once: the call, flags, race file, journal and page agree."""

import argparse
import inspect
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import paceline
from paceline import APR, Command, CorePool, InvalidInput, PowerLaw, races
from paceline.cli import main
from paceline.cli.flags import add_options
from paceline.durations import Deadline
from paceline.engines.catalog import find_engine
from paceline.journal import read_records
from paceline.journal.records import SessionBegun
from paceline.races.identity import header_of, recalled_options, recalled_settings, session_of
from paceline.races.options import OPTIONS, check_options
from paceline.races.settings import Settings
from tools.write_options_page import options_page

ARMS = [{"x": 1}, {"x": 2}, {"x": 3}]
# Of every option a value that is not its default, as `race` takes it.
OTHER: dict[str, Any] = {
    "confidence": 0.9,
    "deadline": "20m",
    "max_pulls": 500,
    "direction": "minimize",
    "top": 2,
    "tolerance": 0.25,
    "policy": APR(beta=1.5),
    "noise": "bounded",
    "bounds": (0.0, 7.0),
    "sigma": 2.0,
    "paired": True,
    "seed": 11,
    "engine": "local",
    "cores": 3,
    "cores_per_pull": (1, 2),
    "at_once": 2,
    "memory_per_pull": 1_000_000,
    "unit": "gpus",
    "scaling": PowerLaw(0.5),
    "timeout": 90.0,
    "retries": 5,
    "on_failure": "stop",
    "backups": False,
    "keep_prints": False,
    "journal": "other.jsonl",
    "accept_changes": True,
    "labels": ("a", "b", "c"),
    "callbacks": (print,),
    "progress": False,
}
TOGETHER: dict[str, dict[str, Any]] = {  # what else it takes for a race to be sound
    "noise": {"bounds": (0.0, 7.0)},
    "top": {"policy": None},
    "unit": {"cores": 3},
}
KEPT = [name for name, option in OPTIONS.items() if option.kept is not None]


def test_race_takes_exactly_the_options_with_their_defaults() -> None:
    parameters = inspect.signature(paceline.race).parameters
    keywords = {
        name: one.default for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY
    }
    assert keywords == {name: option.default for name, option in OPTIONS.items()}
    assert list(parameters)[:2] == ["evaluate", "arms"]


def test_the_page_of_options_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "options.md"
    assert page.read_text(encoding="utf-8") == options_page()


def test_defaults_pass_their_own_checks_and_a_checked_value_passes_again() -> None:
    once = check_options({})
    assert {name for name in once if once[name] != OPTIONS[name].default} == {"engine"}
    assert check_options(once) == once
    other = check_options(OTHER)
    assert check_options(other) == other


def test_there_is_another_value_of_every_option_here() -> None:
    assert OTHER.keys() == OPTIONS.keys()
    assert all(
        OTHER[name] != option.default for name, option in OPTIONS.items() if name != "engine"
    )


# The command line.


def flags_of(wanted: Any) -> set[str]:
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser, wanted)
    return {action.dest for action in parser._actions}


def test_every_option_that_words_can_say_has_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    in_words = {name for name, option in OPTIONS.items() if option.words is not None}
    assert flags_of(lambda _: True) == in_words
    assert OPTIONS.keys() - in_words == {"labels", "callbacks", "progress"}
    for verb in ("race", "run", "resume", "profile"):
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        page = capsys.readouterr().out
        for option in OPTIONS.values():
            if option.words is None or option.flag == "each choice":
                continue
            has = f"--{option.name.replace('_', '-')}" in page
            stricter = ("confidence", "tolerance", "accept_changes")
            resumes = option.kept == "session" or option.name in stricter
            wanted = {"resume": resumes, "profile": option.in_profile}
            assert has == wanted.get(verb, True), (verb, option.name)


# The race file.

WORDS = {"policy": '"apr:beta=1.5"', "scaling": '"power:0.5"', "timeout": '"90s"'}


@pytest.mark.parametrize("name", [name for name in OPTIONS if OPTIONS[name].words is not None])
def test_a_race_file_gives_options_that_race_takes(tmp_path: Path, name: str) -> None:
    text = WORDS.get(name) or json.dumps(OTHER[name])
    path = tmp_path / "race.toml"
    path.write_text(f'command = "echo {{x}} {{seed}}"\narms = [{{x = 1}}, {{x = 2}}, {{x = 3}}]\n'
                    f"[race]\n{name} = {text}\n")  # fmt: skip
    file = races.read_race_file(path)
    wanted = OTHER[name]
    if name == "journal":
        wanted = str(tmp_path / wanted)
    if name == "engine":
        wanted = find_engine(wanted)
    assert file.options == {name: wanted}
    together = {"confidence": 0.9, "policy": APR(sigma=1.0)} if name == "policy" else {}
    rest = TOGETHER.get(name, {}) | together | file.options
    if name == "bounds":
        rest["noise"] = "bounded"
    settings = races.prepare(file.command, file.arms, **rest).settings
    assert settings.options[name] == OPTIONS[name].check(file.options[name], name)


def test_a_race_from_a_file_is_run_by_race(tmp_path: Path) -> None:
    path = tmp_path / "race.toml"
    path.write_text(
        'command = "echo {x}"\n[arms]\nx = [1, 2]\n[race]\nmax_pulls = 8\nbounds = [0, 5]\n'
        'policy = "racing"\nscaling = "power:0.5"\n'
    )
    file = races.read_race_file(path)
    result = paceline.race(file.command, file.arms, **file.options, progress=False)
    assert result.pulls == 8


# The journal.


def settings_with(name: str, value: Any) -> Settings:
    given = {"noise": "bounded", "bounds": (0.0, 9.0), "cores": 4} | {name: value}
    if name == "noise":
        given["bounds"] = None if value != "bounded" else (0.0, 9.0)
    if name == "sigma":
        given |= {"noise": "subgaussian", "bounds": None}
    if name == "policy" and value is not None:
        given["confidence"] = 0.9
    command = Command.parse("echo {x} {seed}")
    return races.prepare(command, ARMS, **given).settings


VALUES = [
    *[(name, OTHER[name]) for name in KEPT],
    ("deadline", datetime(2099, 1, 31, 18, tzinfo=UTC)),
    ("paired", False),
    ("paired", None),
    ("cores_per_pull", 2),
    ("scaling", CorePool(4, lambda cores: 3.0 / cores)),
    ("noise", "bernoulli"),
    ("timeout", None),
]


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_what_the_journal_keeps_comes_back_as_it_was(name: str, value: Any) -> None:
    settings = settings_with(name, value)
    header, session = header_of(settings), session_of(settings, 0.0)
    kept = header.problem if OPTIONS[name].kept == "race" else header.options
    assert name in kept
    assert json.loads(json.dumps(kept)) == kept
    records = [header, session]
    options = recalled_options(records)
    again = recalled_settings(records, options)
    assert (again.goal, again.noise, again.pairing) == (
        settings.goal,
        settings.noise,
        settings.pairing,
    )
    assert (again.pool, again.shape) == (settings.pool, settings.shape)
    assert again.policy == settings.policy
    assert again.engine == settings.engine
    assert (again.rules.cores, again.rules.least_cores, again.rules.most_cores) == (
        settings.rules.cores,
        settings.rules.least_cores,
        settings.rules.most_cores,
    )
    for one in ("seed", "on_failure", "retries", "timeout", "max_pulls"):
        assert again.options[one] == settings.options[one]
    assert header_of(again).problem == header.problem


CHANGES: dict[str, Any] = {
    "deadline": "30s", "max_pulls": 12, "engine": "local", "cores": 1, "cores_per_pull": 1,
    "scaling": "power:0.3", "timeout": "20s", "retries": 0, "on_failure": "stop", "backups": False,
    "memory_per_pull": "1MB", "unit": "gpus", "at_once": 1, "keep_prints": False,
}  # fmt: skip


def test_there_is_a_change_of_every_option_that_a_resume_may_change() -> None:
    assert CHANGES.keys() == {name for name in OPTIONS if OPTIONS[name].kept == "session"}


@pytest.mark.parametrize("name", CHANGES)
def test_a_resume_may_change_how_a_race_is_run(tmp_path: Path, name: str) -> None:
    path = tmp_path / "race.jsonl"
    command = Command.parse("echo {x}", cwd=str(tmp_path))
    options: dict[str, Any] = {"bounds": (0, 9), "max_pulls": 6, "cores": 2, "progress": False}
    paceline.race(command, ARMS, journal=path, **options)
    more: dict[str, Any] = {} if name == "max_pulls" else {"max_pulls": 12}
    result = paceline.resume(path, progress=False, **{name: CHANGES[name]}, **more)
    assert result.pulls <= 12
    sessions = [record for record in read_records(path) if isinstance(record, SessionBegun)]
    assert len(sessions) == 2
    before, after = sessions[0].options[name], sessions[1].options[name]
    assert before != after or name == "engine"
    expected = OPTIONS[name].check(CHANGES[name], name)
    if name == "deadline":
        assert OPTIONS[name].recall(after) == Deadline(30.0)
    elif name not in ("engine", "scaling"):
        assert after == expected


@pytest.mark.parametrize("name", [name for name in KEPT if OPTIONS[name].kept == "race"])
def test_a_resume_may_not_change_what_the_race_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "race.jsonl"
    command = Command.parse("echo {x} {seed}", value="pattern:^(.)")
    options: dict[str, Any] = {"bounds": (0, 9), "max_pulls": 6, "cores": 2, "progress": False}
    paceline.race(command, ARMS, journal=path, **options)
    change: dict[str, Any] = {name: "normal" if name == "noise" else OTHER[name]}
    with pytest.raises(InvalidInput, match=f"{name} is part of what the race is"):
        paceline.resume(path, **change)
    other = {name: OTHER[name]}
    if name == "sigma":
        other = {"sigma": 2.0, "noise": "subgaussian", "bounds": None}
    if name == "noise":
        other = {"noise": "normal", "bounds": None}
    if name == "policy":
        other = {"policy": APR(beta=1.5)}
    changed = options | other
    with pytest.raises(InvalidInput, match=r"another race: that one has \w+=.*, this one has \w+="):
        paceline.race(command, ARMS, journal=path, **changed)
