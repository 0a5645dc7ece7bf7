import json
from pathlib import Path
from typing import Any

import pytest

from paceline.cli import main
from paceline.cli.profile import chart_lines
from paceline.core.fitting import Runtime
from paceline.races import Profile

AMDAHL = Runtime("Amdahl", fixed=1.0, parallel=7.0, error=0.031)
MEASURED = {1: [8.0, 8.2], 2: [4.5, 4.4], 8: [1.9]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "race.toml"
    path.write_text('command = "echo {x} {cores}"\narms = [{x=1}, {x=2}]\n[race]\ncores = 4\n')
    return path


def test_times_are_tabulated_and_drawn(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[dict[str, Any]] = []

    def profile(command: Any, arms: Any, **keywords: Any) -> Profile:
        asked.append(keywords)
        return Profile(AMDAHL, MEASURED, cores=8)

    monkeypatch.setattr("paceline.races.profile", profile)
    assert main(["profile", str(file)]) == 0
    assert main(["profile", str(file), "--cores", "8", "-r", "5", "--seed", "1", "--json"]) == 0
    assert asked == [{"cores": 4, "repeats": 3}, {"cores": 8, "repeats": 5, "seed": 1}]
    text, _, plain = capsys.readouterr().out.partition("{")
    lines = text.splitlines()
    assert lines[0].split() == ["cores", "seconds", "runs", "fitted", "speed-up", "efficiency"]
    assert lines[2].split() == ["2", "4.45", "2", "4.5", "1.82", "91%"]
    assert "fitted: 8 s · (0.12 + 0.88/c) (Amdahl; c is the number of cores)" in lines
    assert "3.1% off" in lines[-1]
    assert max(len(line) for line in lines) <= 80
    found = json.loads("{" + plain)
    assert found["measured"] == {"1": [8.0, 8.2], "2": [4.5, 4.4], "8": [1.9]}
    assert found["fitted"] == {"1": 8.0, "2": 4.5, "8": 1.875}
    assert found["model"] == "Amdahl"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_the_chart_fits_the_window(width: int) -> None:
    lines = chart_lines(MEASURED, lambda cores: 20.0 / cores, width)
    assert max(len(line) for line in lines) <= width
    assert [line.count("┃") for line in lines[1:-1]] == [1, 1, 1]


def test_a_chart_of_no_time_at_all() -> None:
    lines = chart_lines({1: [0.0], 2: [0.0]}, lambda _: 0.0, 60)
    assert len(lines) == 4


def test_a_real_profile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "race.toml"
    file.write_text('command = "sleep 0.0{cores}{x}"\nvalue = "time"\narms = [{x=1}, {x=2}]\n')
    assert main(["profile", str(file), "--cores", "1", "-r", "2", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["cores"] == 1
    assert len(found["measured"]["1"]) == 3  # four pulls, two of each arm; one was to warm up
    assert 0.01 < found["fitted"]["1"] < 0.1


def test_the_curve_is_drawn_if_asked_for(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Profile(AMDAHL, MEASURED, cores=8)
    monkeypatch.setattr("paceline.races.profile", lambda *_, **__: found)
    figure = tmp_path / "curve.svg"
    assert main(["profile", str(file), "--figure", str(figure), "--up-to", "64"]) == 0
    assert f"figure: {figure}" in capsys.readouterr().out
    drawn = figure.read_text(encoding="utf-8")
    assert "beyond the 8 cores measured" in drawn
    assert main(["profile", str(file), "--figure", str(figure), "--up-to", "4"]) == 0
    assert "beyond" not in figure.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--figure", "curve.gif"], "must end in .png, .svg, .pdf"),
        (["--figure", "nowhere/curve.png"], "there is no folder nowhere"),
        (["--up-to", "8"], "give --figure too"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_first(
    words: list[str], said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["profile", str(file), *words]) == 2
    assert said in capsys.readouterr().err
