import json
import os
from pathlib import Path

import pytest

from paceline import PowerLaw, theory
from paceline.cli import main, plan

ARMS = ["--arms", "1024", "--scaling", "power:0.5", "--deadline", "500"]


def race_file(folder: Path, *lines: str) -> str:
    path = folder / "race.toml"
    head = ('command = "echo {x}"', "[arms]", f"x = {list(range(100))}", "[race]", "cores = 16")
    path.write_text("\n".join([*head, *lines, ""]))
    return str(path)


def test_the_chain_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *ARMS]) == 0
    lines = capsys.readouterr().out.splitlines()
    plan = theory.plan_race(1024, PowerLaw(0.5), 500.0)
    assert plan is not None
    chain = plan.chain.merged()
    assert lines[0].split()[:2] == ["stage", "arms"]
    assert [line.split()[2] for line in lines[1:5]] == [str(kept) for kept in chain.sizes[1:]]
    assert lines[2].split() == ["2", "107", "21", "110", "143", "11770", "108.5", "292.3"]
    assert f"bottleneck  {chain.bottleneck}: the least," in lines[-3]
    assert f" {plan.best} is the largest" in lines[-2]
    assert lines[-1].split() == ["SSH", "2304", "with", "its", "k*", "=", "2"]


def test_json_has_the_stages_and_the_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    means = ",".join(["0.9", *["0.4"] * 19])
    assert main(["plan", "-m", means, "-s", "amdahl:0.5", "-d", "20m", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["arms"], found["top"], found["deadline"]) == (20, 1, 1200.0)
    assert found["seconds"] == pytest.approx(found["stages"][-1]["ends_at"])
    assert found["stages"][0]["pulls"] == found["stages"][0]["in_all"]
    assert found["bottleneck"] >= found["ssh"]["bottleneck"] > 0
    assert found["success"]["chain"] >= found["success"]["staged"] > 0.9


def test_what_bounds_say_of_the_means(capsys: pytest.CaptureFixture[str]) -> None:
    means = "0.6,0.5,0.4,0.3,0.2"
    arguments = ["plan", "-m", means, "-s", "power:0.5", "-d", "20", "--top", "2"]
    assert main([*arguments, "--sigma", "0.3"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "beyond the top 1" in out
    assert "SSH" not in out  # which finds one arm only
    assert "at least 0." in out.partition("success")[2]
    assert main([*arguments, "--sigma", "30"]) == 0
    assert "at least 0 for this chain" in capsys.readouterr().out


def test_on_a_pool_the_cores_of_a_pull_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--arms", "6", "-s", "cores:4,0.5", "--pull", "8s", "-d", "10m"]
    assert main([*arguments, "--json"]) == 0
    stages = json.loads(capsys.readouterr().out)["stages"]
    assert {stage["at_once"] for stage in stages} == {4}
    assert all(1 in stage["cores"] for stage in stages)
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[-1] == "cores"
    assert "a pull takes 8 s on 1, 4 s on all" in out


def test_a_race_file_with_a_scaling_in_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = race_file(tmp_path, 'scaling = "cores:16,0.5"', 'deadline = "10m"', "top = 3")
    assert main(["plan", file, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["arms"], found["top"], found["deadline"]) == (100, 3, 600.0)
    assert main(["plan", file, "--pull", "2s", "-d", "20m", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bottleneck"] == found["bottleneck"]
    assert main(["plan", file, "--pull", "10ms", "-d", "2s"]) == 0  # 1 s a pull would not do
    assert main(["check", file]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"plan {' → '.join(['100', *(str(s['kept']) for s in found['stages'])])} arms" in out
    assert f"after {', '.join(str(s['in_all']) for s in found['stages'])} pulls each" in out


def test_a_race_file_with_a_shape_needs_the_seconds_of_a_pull(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = race_file(tmp_path, 'scaling = "power:0.5"', 'deadline = "10m"', "cores_per_pull = 2")
    assert main(["plan", file]) == 2
    assert "says how pulls scale, not how long one takes" in capsys.readouterr().err
    assert main(["check", file]) == 0
    assert "→" not in capsys.readouterr().out
    assert main(["plan", file, "--pull", "3s"]) == 0
    out = capsys.readouterr().out
    assert "a pull takes inf s on 1, 3 s on all" in out
    assert {line.split()[-1] for line in out.partition("\n\n")[0].splitlines()[1:]} == {"2"}


def test_a_race_file_without_a_scaling_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = race_file(tmp_path, 'deadline = "10m"')
    assert main(["plan", file]) == 2
    error = capsys.readouterr().err
    assert f"run `paceline profile {file}`" in error
    assert f"`paceline plan {file} --pilot 30s`" in error
    assert "--pull" in error
    assert main(["plan", file, "-s", "amdahl:0.1", "--pull", "3s"]) == 0


def test_another_policy_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = race_file(tmp_path, 'scaling = "cores:16,0.5"', 'policy = "ssh"', 'deadline = "10m"')
    assert main(["plan", file]) == 0
    assert "note        the policy of the race is SSH(" in capsys.readouterr().out


def test_low_is_good_where_the_race_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for direction, best, others in (("minimize", 0.1, 0.9), ("maximize", 0.9, 0.1)):
        file = race_file(
            tmp_path,
            'scaling = "cores:16,0.5"',
            'deadline = "10m"',
            f'direction = "{direction}"',
        )
        means = ",".join(str(mean) for mean in [best, *[others] * 99])
        assert main(["plan", file, "-m", means, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["success"]["staged"])
    assert found[0] == pytest.approx(found[1])
    assert found[0] > 0.99


@pytest.mark.parametrize("pool", ["power:0.5", "cores:64,0.9"])
def test_narrow_windows(
    pool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((60, 24)))
    assert main(["plan", "--arms", "1000000", "-s", pool, "-d", "30000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 60
    assert lines[0].split()[:4] == ["stage", "arms", "kept", "pulls"]
    assert main(["plan", *ARMS]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("ends at")  # in one piece


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "a race file, or --arms"),
        (["--arms", "9"], "give --scaling"),
        (["--arms", "9"], "--gap, how far the best is ahead, or --means"),
        (["--arms", "9", "--gap", "0.1"], "pull='30s'"),
        (["--arms", "9", "--gap", "2", "--pull", "1s", "--cores", "2"], "give sigma="),
        (["--gap", "0.1", "--pull", "1s", "--cores", "2"], "how many arms"),
        (["--arms", "9", "--gap", "0.1", "--pull", "1s", "--cores", "two"], "two"),
        (["--arms", "9", "--gap", "0.1", "--pull", "1s", "--cores", "2", "-c", "2"], "confidence"),
        (["--arms", "9", "-s", "power:0.5"], "give --deadline"),
        (["--arms", "1", "-s", "power:0.5", "-d", "9"], "--arms must be"),
        (["--arms", "9", "-s", "power:0.5", "-d", "soon"], "--deadline must be a span"),
        (["--arms", "9", "-s", "power:0.5", "-d", "9", "--top", "9"], "below the number of arms"),
        (["--arms", "9", "-s", "power:0.5", "-d", "9", "--cores", "4"], "cores:COUNT"),
        (["--arms", "9", "-s", "power:0.5", "-d", "9", "--pull", "1s"], "power:0.5 is in seconds"),
        (["--arms", "9", "-m", "0.9,0.5", "-s", "power:0.5", "-d", "9"], "9 arms and 2 means"),
        (["--arms", "1024", "-s", "power:0.5", "-d", "20"], "raise it to at least 32 s"),
        (["--arms", "1024", "-s", "power:0.5", "-d", "0.1"], "raise it to at least 32 s"),
        (["nowhere.toml"], "cannot read"),
        (["nowhere.toml", "--arms", "9"], "leave out one"),
    ],
)
def test_bad_input_exits_with_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err


def test_a_file_without_a_deadline_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = race_file(tmp_path, 'scaling = "cores:16,0.5"')
    assert main(["plan", file]) == 2
    assert "has no deadline to plan for" in capsys.readouterr().err
    assert main(["plan", file, "--deadline", "1s"]) == 2
    assert "raise it to at least" in capsys.readouterr().err


RACE = Path(__file__).parents[2] / "examples/queue/race.toml"


def test_the_examples_of_the_help_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in plan.DESCRIPTION.splitlines() if line.startswith("  paceline plan")]
    assert len(lines) == 5
    for line in lines:
        words = line.replace("race.toml", str(RACE)).split()[1:]
        assert main([*words, "--races", "10"]) == 0, line
        out = capsys.readouterr().out
        assert ("answer" if "--gap" in line else "bottleneck") in out


def test_a_confidence_on_several_pools(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--arms", "4", "--gap", "0.5", "--sigma", "1", "--pull", "30s"]
    goals = ["--cores", "1,2", "-c", "0.9,0.99", "--races", "10"]
    assert main(["plan", *arguments, *goals, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    asked = [(one["cores"], one["confidence"]) for one in found["forecasts"]]
    assert asked == [(1, 0.9), (1, 0.99), (2, 0.9), (2, 0.99)]
    assert found["cores"] == 2
    assert main(["plan", *arguments, *goals]) == 0
    out = capsys.readouterr().out
    assert out.split()[:3] == ["cores", "confidence", "time"]
    assert f"answer     {found['answer']}" in out


def test_a_race_file_is_planned_as_it_will_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its own number of arms, pool and confidence; the noise is declared in it."""
    file = race_file(
        tmp_path, 'scaling = "cores:16,0.5"', "confidence = 0.8", 'noise = "normal"', "sigma = 0.1"
    )
    assert main(["plan", file, "--gap", "1", "--races", "10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["arms"], found["policy"]) == (100, "racing")
    (one,) = found["forecasts"]
    assert (one["cores"], one["confidence"], one["deadline"]) == (16, 0.8, None)
    assert "deviation 0.1" in found["basis"]


def test_with_means_a_deadline_has_both_the_chain_and_forecasts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["plan", "-m", "0.9,0.5,0.4", "-s", "cores:4,0.5", "-d", "1m", "--races", "10"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stages"]
    assert [one["deadline"] for one in found["forecast"]["forecasts"]] == [15.0, 30.0, 60.0, 120.0]


def test_a_page_is_written(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    page = tmp_path / "plan.html"
    arguments = ["--arms", "4", "--gap", "0.5", "--sigma", "1", "--pull", "30s", "--races", "10"]
    assert main(["plan", *arguments, "--cores", "1,2", "-o", str(page)]) == 0
    assert "core-hours" in page.read_text()
    assert main(["plan", *ARMS, "-o", str(page)]) == 2
