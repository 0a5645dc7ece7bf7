import dataclasses
import json
import re

import pytest

from paceline.cli import main
from paceline.cli.means import parse_means
from paceline.policies.catalog import POLICIES


def test_a_race_is_simulated_and_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "linear:0.3", "--policy", "apr:deviation=0.2", "-r", "20"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("APR(beta=2.0, deviation=0.2, sigma=None) on 16 bernoulli arms, PowerLaw")
    assert "correct   20 of 20" in out
    assert "guarantee none" in out
    assert "T* " in out


def test_json_has_every_replication(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "0.9,0.2", "-c", "0.9", "-r", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["index"] == [0, 0, 0]
    assert found["confidence"] == 0.9
    assert len(found["seconds"]) == 3


def test_an_undecided_race_exits_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "0.5,0.5,0.1", "-p", "apr", "-c", "0.9", "--max-rounds", "9"]) == 3
    out = capsys.readouterr().out
    assert "undecided 1 of 1" in out
    assert "no verdict after 9 rounds" in out
    assert "still in: arms 0, 1\n" in out
    assert main(["simulate", "0.5,0.5", "-p", "apr", "--max-pulls", "50", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["still_in"] == [[0, 1]]
    assert "no more than 50 pulls" in found["reasons"][0]


def test_a_deadline_beside_a_confidence_says_what_was_reached(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["simulate", "0.7,0.6,0.3", "-c", "0.95", "-d", "30", "-r", "20"]
    assert main(arguments) == 0
    found = re.search(r"^guarantee correct with probability (.*)$", capsys.readouterr().out, re.M)
    assert found is not None
    assert re.fullmatch(r"0\.\d+ to 0\.95 in \d+ of 20", found[1])
    assert main([*arguments, "--json"]) == 0
    confidences = json.loads(capsys.readouterr().out)["confidences"]
    assert len(confidences) == 20
    assert {None, 0.95} < set(confidences)


def test_a_scaling_that_breaks_an_assumption_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "0.9,0.2", "-s", "cores:4,0.5"]) == 0
    assert "note: λ is not concave" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["0.9"], "only one arm"),
        (["0.9,x"], "'x' is not a number"),
        (["linear"], "write linear:GAP"),
        (["linear:0.1,5,6"], "write linear:GAP"),
        (["linear:0.1,nan"], "'nan' is not a whole number"),
        (["unifrom:20"], "did you mean 'uniform'"),
        (["uniform:2.7"], "'2.7' is not a whole number"),
        (["uniform:-5"], "at least 2"),
        (["uniform:10", "--seed", "-1"], "seed must be"),
        (["0.9,0.5", "-p", "apr:2,beta=3"], "gives beta twice"),
        (["0.9,0.5", "-p", "ssh:k=2.0", "-d", "50"], "'2.0' is not a whole number"),
        (["0.9,0.5", "-p", "ssh:k=²", "-d", "50"], "is not a whole number"),
        (["0.9,0.5", "-s", "cores:inf,0.5"], "'inf' is not a whole number"),
        (["0.9,0.5", "-s", "cores:4,0.5,x=3"], "cores:COUNT,EXPONENT"),
        (["0.9,0.5", "-s", "power:"], "write power:q=…"),
        (["0.9,nan"], "finite"),
        (["0.9,0.5", "-p", "arp"], "did you mean 'apr'"),
        (["0.9,0.5", "-p", "apr:gamma=2"], "unknown option of apr 'gamma'"),
        (["0.9,0.5", "-p", "apr:2,1,1,1"], "too many values"),
        (["0.9,0.5", "-p", "apr:beta=two"], "'two' is not a number"),
        (["0.9,0.5", "-p", "apr:beta=1"], "beta must be above 1"),
        (["0.9,0.5", "-p", "ssh:keep_samples=maybe", "-d", "9"], "true or false"),
        (["0.9,0.5", "-s", "power"], "lacks q: write power:q=…"),
        (["0.9,0.5", "-s", "pwer:0.5"], "did you mean 'power'"),
        (["0.9,0.5", "-s", "power:2"], "must lie in"),
        (["0.9,0.5", "-s", "cores:4"], "cores:COUNT,EXPONENT"),
        (["0.9,0.5", "-s", "measured:nowhere.csv"], "cannot read nowhere.csv"),
        (["0.9,0.5", "-c", "2"], "strictly between"),
        (["0.9,0.5", "-d", "0.1"], "shorter than one pull"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_to_do(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("paceline: error: ")
    assert says in captured.err


def test_words_become_means() -> None:
    assert parse_means("linear:0.1,8", seed=0).size == 8
    assert parse_means("uniform:50", seed=0).size == 50


def test_the_help_lists_every_policy_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["simulate", "--help"])
    out = capsys.readouterr().out
    for name, kind in POLICIES.items():
        assert name in out
        assert all(f"{field.name}=" in out for field in dataclasses.fields(kind))  # type: ignore[arg-type]
