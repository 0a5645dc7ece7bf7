import inspect
from importlib import import_module
from pathlib import Path

import pytest

import paceline
from paceline import APR, InvalidInput, Racing, Staged, Timed
from paceline.policies.base import Policy, Task
from paceline.policies.catalog import POLICIES, find_policy
from paceline.policies.opening import Opening


def test_the_promised_names_are_there() -> None:
    papers = {"apr", "batch-racing", "ssh", "sequential-halving", "ucb-e", "lil-ucb", "uniform"}
    assert papers | {"racing"} <= POLICIES.keys()


def test_every_policy_has_a_file_of_its_own_and_is_public() -> None:
    files = [Path(inspect.getfile(kind)).stem for kind in POLICIES.values()]
    assert len(set(files)) == len(files)
    for name, kind in POLICIES.items():
        assert getattr(paceline, kind.__name__) is kind
        assert kind.name == name


def test_every_policy_is_in_the_catalog_but_the_one_that_only_opens_a_race() -> None:
    folder = Path(inspect.getfile(Policy)).parent
    modules = [import_module(f"paceline.policies.{file.stem}") for file in folder.glob("*.py")]
    kinds = {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Policy) and kind is not Policy
    }
    assert kinds == {*POLICIES.values(), Opening}


def test_the_defaults_follow_the_goal() -> None:
    assert find_policy(None, confidence=True, deadline=False) == Racing()
    assert find_policy(None, confidence=False, deadline=True) == Staged()
    assert find_policy(None, confidence=True, deadline=True) == Timed()


def test_unknown_policies_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match="unknown policy 'aprr': did you mean 'apr'"):
        find_policy("aprr")
    with pytest.raises(InvalidInput, match=r"write APR\(\)"):
        find_policy(APR)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"arms": 1}, "at least 2"),
        ({"confidence": 1.0}, "strictly between 0 and 1"),
        ({"confidence": None}, "say when to stop"),
        ({"deadline": -1.0}, "deadline"),
        ({"deadline": 0.5}, "shorter than one pull"),
        ({"top": 4}, "nothing to find"),
        ({"top": 0}, "at least 1"),
        ({"tolerance": -0.1}, "tolerance"),
    ],
)
def test_impossible_tasks_are_refused(changes: dict[str, float], says: str) -> None:
    good = {"arms": 4, "scaling": paceline.PowerLaw(0.5), "confidence": 0.9}
    with pytest.raises(InvalidInput, match=says):
        Task(**(good | changes))  # type: ignore[arg-type]
