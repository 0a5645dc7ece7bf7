"""What viewers are sent: all that they lack, and little else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.live.changes import Shown, Viewer
from paceline.live.watching import Status
from paceline.report import Parts

RUNNING = Status("running", "it runs")


class Page:
    """A page in a browser, as its script updates it."""

    def __init__(self, parts: Parts, version: int) -> None:
        self.viewer = Viewer(version)
        self.fragments = dict(parts.fragments)
        self.data: dict[str, Any] = dict(parts.data)
        self.sent: dict[str, Any] = {"fragments": {}, "data": {}}

    def update(self, shown: Shown) -> int:
        """How many characters were sent for it."""
        text = self.viewer.lacks(shown)
        event = json.loads(text or "{}")
        fragments, data = event.get("fragments", {}), event.get("data", {})
        for name, steps in event.get("rows", {}).items():
            first, *others = self.sent["fragments"][name].split("<tr")
            rows = ([first] if first else []) + ["<tr" + row for row in others]
            fragments[name] = "".join(
                step if isinstance(step, str) else "".join(rows[step[0] : step[0] + step[1]])
                for step in steps
            )
        for name, added in event.get("more", {}).items():
            old = self.sent["data"][name]
            data[name] = {column: old[column] + new for column, new in added.items()}
        self.sent["fragments"] |= fragments
        self.sent["data"] |= data
        self.fragments |= fragments
        self.data |= data
        return len(text)


def parts_of(rows: list[str], numbers: list[float]) -> Parts:
    return Parts(
        {"verdict": rows[0] if rows else "", "table": "".join(f"<tr><td>{row}" for row in rows)},
        {"values": {"x": list(range(len(numbers))), "y": list(numbers)}, "none": {}},
    )


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(["", "a", "b", "c", "<b>"]), max_size=5),
            st.lists(st.sampled_from([0.0, 1.5, 2.5]), max_size=5),
        ),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_whoever_looks_when_sees_what_there_is(
    story: list[tuple[list[str], list[float]]], looks: list[bool]
) -> None:
    shown = Shown(RUNNING)
    pages: list[Page] = []
    for (rows, numbers), look in zip(story, looks, strict=False):
        parts = parts_of(rows, numbers)
        shown = shown.then(RUNNING, parts)
        pages.append(Page(parts, shown.version))
        for place, page in enumerate(pages):
            if look or place % 2 == 0:  # some are slow
                page.update(shown)
                assert (page.fragments, page.data) == (parts.fragments, parts.data)


def test_what_is_as_it_was_is_no_new_version() -> None:
    shown = Shown(RUNNING).then(RUNNING, parts_of(["a"], [1.0]))
    ended = shown.then(Status("finished", "it ended"), parts_of(["a"], [1.0]))
    assert (ended.version, ended.status.state) == (shown.version, "finished")
    assert Viewer(shown.version).lacks(ended) == ""


def test_without_new_parts_the_old_ones_stay() -> None:
    shown = Shown(RUNNING).then(RUNNING, parts_of(["a"], [1.0]))
    gone = shown.then(Status("gone", "it was deleted"), None)
    assert (gone.place, gone.parts) == (shown.place, shown.parts)


def test_a_row_more_costs_a_row() -> None:
    rows, numbers = [f"arm {place} " + 50 * "x" for place in range(1000)], [0.5] * 5000
    parts = parts_of(rows, numbers)
    shown = Shown(RUNNING).then(RUNNING, parts)
    page = Page(parts, shown.version)
    sent = []
    for step in range(3):
        rows[500 + step] += " pulled"
        numbers.append(0.5)
        shown = shown.then(RUNNING, parts_of(rows, numbers))
        sent.append(page.update(shown))
        assert page.data["values"]["y"] == numbers
    assert sent[0] > 50_000  # once all, so that the browser has what the others add to
    assert sent[1:] == pytest.approx([200, 200], abs=100)
