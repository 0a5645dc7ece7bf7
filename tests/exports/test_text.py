"""Files for spreadsheets and pages: nothing in them is calculated or taken for markup."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from paceline.story.standing import ArmRecord
from tests.cli.made_up import result


def exported(path: Path, *labels: str, failure: str = "") -> str:
    arms = tuple(
        ArmRecord(place, label, -0.25, -1.0, 0.5, 4, "out", 1.0, failure)
        for place, label in enumerate(labels)
    )
    result(list(arms), index=0).export(path)
    return path.read_text(encoding="utf-8")


FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "\uff1d1",
    "=cmd|'/C calc'!A0",
]


@pytest.mark.parametrize("label", FORMULAS)
def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path, label: str) -> None:
    text = exported(tmp_path / "a.csv", label, failure=label)
    row = next(csv.DictReader(text.splitlines()))
    for cell in (row["label"], row["failure"]):
        assert cell.startswith(("'", "\\r"))
        assert cell.lstrip("'").endswith(label.lstrip("\r"))


@pytest.mark.parametrize("label", ["-1.5", "+3", "-2e-05", "x=-1", "a=b"])
def test_numbers_and_other_labels_stay_as_they_are(tmp_path: Path, label: str) -> None:
    row = next(csv.DictReader(exported(tmp_path / "a.csv", label).splitlines()))
    assert (row["label"], row["mean"], row["low"]) == (label, "-0.25", "-1.0")


def test_markup_in_a_markdown_file_is_only_text(tmp_path: Path) -> None:
    label = "a|b `c` <img src=x> [l](http://h) *b* _i_ \\ & $x$ ~s~\nnew"
    lines = exported(tmp_path / "a.md", label).splitlines()
    assert len(lines) == 3  # a header, dashes and a row
    assert lines[1] == "| " + " | ".join(["---"] * 9) + " |"
    cell = lines[2].removeprefix("| 0 | ")
    unescaped = cell
    for mark in "|`<>[]*_&$~":
        unescaped = unescaped.replace("\\" + mark, "")
    assert not set("`<>[]*_&$~") & set(unescaped.split(" | ")[0])
    assert lines[2].replace("\\|", "").count("|") == lines[0].replace("\\|", "").count("|")


def test_json_is_data_and_comes_back_unchanged(tmp_path: Path) -> None:
    label = "=1|`<b>`\x1b[2J\x7f\x9b\u202e\ud800\n\0"
    found: Any = json.loads(exported(tmp_path / "a.json", label))
    assert found["arms"][0]["label"] == label


@pytest.mark.parametrize("ending", [".csv", ".md"])
def test_any_label_can_be_written(tmp_path: Path, ending: str) -> None:
    text = exported(tmp_path / f"a{ending}", "\x1b[2J\ud800\0\x9b\u2028")
    assert text.replace("\n", "").isprintable()


def test_what_is_unknown_is_a_dash_in_markdown(tmp_path: Path) -> None:
    failed = ArmRecord(0, "x", math.nan, -math.inf, math.inf, 0, "failed", 1.0, "it fell")
    path = tmp_path / "a.md"
    result([failed], index=0).export(path)
    assert "| x | – | – | – | 0 | failed |" in path.read_text(encoding="utf-8")
