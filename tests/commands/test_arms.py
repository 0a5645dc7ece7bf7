import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import InvalidInput
from paceline.commands import check_arms, grid, parse_list

PARAMETERS = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.integers(), min_size=1, max_size=4, unique=True), min_size=1
)


@given(PARAMETERS)
def test_a_grid_has_every_combination_in_order(parameters: dict[str, list[int]]) -> None:
    arms = grid({name: sorted(values) for name, values in parameters.items()})
    rows = [tuple(arm.values()) for arm in arms]
    assert rows == sorted(rows)
    for arm in arms:
        assert list(arm) == list(parameters)
    for name, values in parameters.items():
        assert {arm[name] for arm in arms} == set(values)


def test_one_and_true_are_two_arms() -> None:
    check_arms([{"x": 1}, {"x": True}, {"x": "1"}])
    with pytest.raises(InvalidInput, match="are the same"):
        check_arms([{"x": 1, "y": 0}, {"y": 0, "x": 1.0}])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,4", ("1", "2", "4")),
        ("fast, slow", ("fast", "slow")),
        ("01,1,1.0", ("01", "1", "1.0")),
        ("a\\,b,c", ("a,b", "c")),
        ("../a,./b..c", ("../a", "./b..c")),
        ("1..4", ("1", "2", "3", "4")),
        ("1..8..2", ("1", "3", "5", "7")),
        ("8..1..-3", ("8", "5", "2")),
        ("-1..1", ("-1", "0", "1")),
        ("-0.1..0.1..0.1", ("-0.1", "0.0", "0.1")),
        ("1..2..0.5", ("1.0", "1.5", "2.0")),
        ("1..3,8,16", ("1", "2", "3", "8", "16")),
        ("5..5", ("5",)),
        (f"{10**40}..{10**40 + 1}", (f"{10**40}", f"{10**40 + 1}")),
    ],
)
def test_lists_of_values(text: str, values: tuple[str, ...]) -> None:
    assert parse_list("x", text) == values


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("x", "", "x has an empty value in ''"),
        ("x", "1,,2", "empty value"),
        ("x", "1,2,", "empty value"),
        ("x", "1,2,1", "the value '1' twice"),
        ("x", "1..3,2", "the value '2' twice"),
        ("x", "1..", "'1..' is not a range"),
        ("x", "1..b", "is not a range"),
        ("x", "1..2..3..4", "is not a range"),
        ("x", "1..1e9", "with numbers in plain digits (1000, not 1e3)"),
        ("x", "0.1..0.5", "give the step of '0.1..0.5'"),
        ("x", "8..1", "from 8, steps of 1 never reach 1"),
        ("x", "1..8..0", "steps of 0 never reach 8"),
        ("x", f"1..{10**30}", "more than 1,000,000 values"),
        ("seed", "1,2", "'seed' is filled in for every pull"),
        ("a b", "1,2", "cannot be the name of a parameter"),
        ("1", "1,2", "cannot be the name of a parameter"),
    ],
)
def test_a_bad_list_is_refused(name: str, text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        parse_list(name, text)


@given(st.decimals(-10, 10, places=2), st.decimals("0.01", 3, places=2), st.integers(0, 50))
def test_a_range_ends_exactly_where_its_steps_do(first: Any, step: Any, steps: int) -> None:
    last = first + steps * step
    values = parse_list("x", f"{first}..{last}..{step}")
    assert [Fraction(value) for value in values] == [
        Fraction(first) + index * Fraction(step) for index in range(steps + 1)
    ]
