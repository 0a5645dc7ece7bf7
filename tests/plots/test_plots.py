"""Pictures of races: what is on them, for any race and any names, without a warning."""

import builtins
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import paceline
from paceline.plots import Plots
from paceline.story.story import Milestones, Story
from tests.cli.made_up import ARMS, arm, result
from tests.races.virtual import VirtualEngine

KINDS = ["standings", "race", "pool", "scaling"]
LABELS = ["$x^2$ and $\\alpha$", "\\frac{1", "_a_b%#&{}~^", "日本 <b> \u202e$", "x" * 500, ""]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """If another test has imported pyplot, it keeps all figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def raced(arms: Any, **options: Any) -> paceline.Result:
    def noisy(arm: float, *, seed: int) -> float:
        return arm + float(np.random.default_rng(seed).normal(0.0, 0.3))

    cores = options.get("cores", 4)
    given: dict[str, Any] = {"engine": VirtualEngine(cores=cores), "cores": cores}
    return paceline.race(noisy, arms, progress=False, **given | options)


def drawn(plots: Plots, kind: str, ax: Any = None) -> Any:
    ax = getattr(plots, kind)(ax)
    ax.figure.savefig(io.BytesIO(), dpi=40)  # also what is only found when it is drawn
    return ax


def texts(ax: Any) -> list[str]:
    """What can be read on axes, in the order in which it was added."""
    found = [text.get_text() for text in ax.get_yticklabels()] + [t.get_text() for t in ax.texts]
    legend = ax.get_legend()
    return found + ([] if legend is None else [text.get_text() for text in legend.get_texts()])


RACES: dict[str, Callable[[], paceline.Result]] = {
    "two": lambda: raced([1.0, 1.5]),
    "many": lambda: raced([place / 64 for place in range(64)], max_pulls=500),
    "minimize": lambda: raced([0.1, 0.5, 0.9], direction="minimize"),
    "top": lambda: raced([place / 5 for place in range(10)], top=3),
    "failures": lambda: raced(
        [0.3, 0.6, 1.0],
        timeout=10,
        engine=VirtualEngine(faults=0.05, fatal=lambda arm, pull: arm == 1),
    ),
    "undecided": lambda: raced([0.5, 0.5, 0.1], max_pulls=60),
    "deadline": lambda: raced([0.1, 0.5, 0.9], deadline=9),
    "nothing": lambda: raced([0.1, 0.5], deadline=0.01),
    "given": lambda: raced([0.1, 0.9], scaling=paceline.CorePool(4, lambda cores: 1 / cores)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RACES)
def test_every_race_can_be_drawn(name: str, kind: str) -> None:
    before = dict(mpl.rcParams)
    ax = drawn(RACES[name]().plot, kind)
    assert dict(mpl.rcParams) == before
    assert np.all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e200, 1e307, 1.7e308])
def test_so_can_values_near_the_largest_floats(size: float, kind: str) -> None:
    def huge(arm: float, *, seed: int) -> float:
        return size * float(np.random.default_rng([seed, int(arm)]).uniform(-1, 1))

    with pytest.warns(paceline.RaceWarning, match="too large"):
        race = paceline.race(huge, [1.0, 2.0], max_pulls=60, progress=False, engine=VirtualEngine())
    ax = drawn(race.plot, kind)
    assert np.all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))
    if size == 1.7e308 and kind == "race":
        assert "the values are too large to be drawn: scale them to about 1" in texts(ax)


def test_means_that_are_too_far_apart_to_be_drawn_are_called_so() -> None:
    race = result([arm(0, "a", 1.5e308, "in"), arm(1, "b", -1.5e308, "in")])
    assert any("too large to be drawn" in text for text in texts(drawn(race.plot, "standings")))


def test_standings_have_the_best_on_top_with_its_interval() -> None:
    race = raced([0.1, 0.5, 2.5])
    ax = drawn(race.plot, "standings")
    labels = ax.get_yticklabels()
    assert labels[0].get_text() == race.arms[2].label
    assert labels[0].get_fontweight() == "bold"
    assert len({label.get_color() for label in labels}) == 2  # the others are grey
    interval = ax.get_lines()[0].get_xdata()
    assert interval == pytest.approx([race.arms[2].low, race.arms[2].high])
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert [f"{one.pulls}" in texts(ax) for one in race.arms] == [True] * 3


def test_of_many_arms_the_best_are_drawn_and_it_says_so() -> None:
    many = result([arm(place, f"x={place}", place / 100, "out") for place in range(1000)])
    ax = drawn(many.plot, "standings")
    assert len(ax.get_yticklabels()) == 30
    assert "the best 30 of 1000 arms" in texts(ax)
    assert len(drawn(Plots(many.story), "standings").get_yticklabels()) == 30
    assert len(many.plot.standings(most=5).get_yticklabels()) == 5


def test_an_interval_that_is_far_wider_than_all_others_does_not_hide_them() -> None:
    arms = [arm(0, "a", 1.0, "best"), arm(1, "b", 0.5, "out", half=1e6)]
    infinite = replace(arm(2, "c", 0.7, "out"), low=-np.inf, high=np.inf)
    low, high = drawn(result([*arms, infinite]).plot, "standings").get_xlim()
    assert -1 < low < 0.5
    assert 1 < high < 3


def test_arms_without_a_value_are_named() -> None:
    assert "failed" in " ".join(texts(drawn(result(ARMS).plot, "standings")))


@pytest.mark.parametrize("usetex", [False, True])
def test_names_are_shown_and_are_no_formulas(usetex: bool) -> None:
    arms = [arm(place, label, place / 10, "in") for place, label in enumerate(LABELS)]
    with mpl.rc_context({"text.usetex": usetex}):
        ax = result(arms).plot.standings()  # TeX itself may not be installed
        shown = [label.get_text() for label in ax.get_yticklabels()]
    assert max(map(len, shown)) < 120
    if usetex:
        assert "\\_a\\_b\\%\\#\\&\\{\\}\\textasciitilde{}\\textasciicircum{}" in shown
    else:
        drawn(result(arms).plot, "standings")
        assert "\\$x^2\\$ and \\$\\alpha\\$" in shown
        assert "?? <b> \\u202e\\$" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_drawn(kind: str) -> None:
    drawn(raced(list(range(6)), max_pulls=30, labels=[*LABELS[:5], "z"]).plot, kind)


def test_intervals_narrow_until_arms_fall() -> None:
    race = raced([0.0, 0.4, 1.0], paired=False, confidence=0.99)
    ax = drawn(race.plot, "race")
    leader, *others = ax.get_lines()
    assert leader.get_ydata()[-1] == pytest.approx(race.arms[2].mean, abs=0.05)
    ends = {float(line.get_xdata()[-1]) for line in others}
    falls = race.story.milestones.falls
    assert {fall for fall in falls.values() if fall < race.elapsed} <= ends
    band = ax.collections[0].get_paths()[0].vertices
    widths = [np.ptp(band[band[:, 0] == at][:, 1]) for at in np.unique(band[:, 0])[[5, -3]]]
    assert widths[0] > 1.5 * widths[1]
    survivors = ax.figure.axes[1].get_lines()[0]
    assert survivors.get_ydata()[0] == 3
    assert survivors.get_ydata()[-1] == 3 - len(falls)


@pytest.mark.parametrize("kind", ["standings", "race", "pool"])
def test_as_few_arms_are_drawn_as_one_likes(kind: str) -> None:
    race = raced([0.0, 0.4, 1.0], max_pulls=30)
    for most in (0, 1, 100):
        getattr(race.plot, kind)(most=most).figure.savefig(io.BytesIO(), dpi=40)


def blocks(ax: Any) -> list[Any]:
    from matplotlib.collections import PolyCollection

    found = [one for one in ax.collections if type(one) is PolyCollection and one.get_zorder() == 2]
    return [path.vertices for one in found for path in one.get_paths()]


def area(vertices: Any) -> float:
    return float(np.ptp(vertices[:, 0]) * np.ptp(vertices[:, 1]))


def test_every_pull_is_a_block_on_cores_of_its_own() -> None:
    race = raced([0.0, 0.5, 1.0], max_pulls=60)
    found = blocks(drawn(race.plot, "pool"))
    timeline = race.timeline
    assert len(found) >= race.pulls
    used = float((timeline.cores * timeline.seconds).sum())
    assert sum(map(area, found)) == pytest.approx(used)
    boxes = np.array([[*one[:, 0:2].min(axis=0), *one[:, 0:2].max(axis=0)] for one in found])
    for place, (left, bottom, right, top) in enumerate(boxes):
        others = np.delete(boxes, place, axis=0)
        wide = np.minimum(others[:, 2], right) - np.maximum(others[:, 0], left)
        high = np.minimum(others[:, 3], top) - np.maximum(others[:, 1], bottom)
        assert not ((wide > 0.05) & (high > 0.01)).any()


def with_nodes(story: Story, *nodes: tuple[float, tuple[int, ...]]) -> Story:
    return replace(story, milestones=Milestones(nodes=nodes))


def test_nodes_are_bands_and_no_pull_crosses_one() -> None:
    story = raced([0.0, 0.5, 1.0], max_pulls=60, cores_per_pull=2).story
    ax = drawn(Plots(with_nodes(story, (0.0, (2, 2)))), "pool")
    assert ax.get_ylabel() == "cores of 2 nodes"
    for one in blocks(ax):
        bottom, top = one[:, 1].min(), one[:, 1].max()
        assert top <= 2 or bottom >= 2
    gone = Plots(with_nodes(story, (0.0, (2, 2)), (5.0, (2, 0)), (8.0, (2, 2, 2))))
    assert drawn(gone, "pool").get_ylim() == (0, 6)


def big(pulls: int, arms: int = 50, cores: int = 32) -> Story:
    """A story of very many short pulls."""
    rng = np.random.default_rng(0)
    seconds = rng.uniform(0.5, 1.5, pulls)
    row = np.arange(pulls) % cores
    end = np.array([np.cumsum(seconds[row == core]) for core in range(cores)]).T.ravel()
    which = rng.integers(0, arms, pulls)
    ones, elapsed = np.ones(pulls, dtype=np.int64), float(end.max())
    timeline = paceline.Timeline(
        which, which, ones, ones, end, seconds, 0 * ones, ((0.0, cores),), elapsed
    )
    values = paceline.Values(which, which, rng.normal(which / arms), seconds, ones, end)
    records = [arm(place, f"x={place}", place / arms, "in", pulls=9) for place in range(arms)]
    return result(records, timeline=timeline, values=values, elapsed=elapsed).story


@pytest.mark.parametrize("kind", KINDS)
def test_a_million_pulls_are_drawn_and_thinned(kind: str) -> None:
    ax = drawn(Plots(big(1_000_000 // 32 * 32)), kind)
    artists = len(ax.collections) + len(ax.patches) + len(ax.get_lines())
    assert artists < 500
    if kind == "pool":
        assert any("averages over" in text for text in texts(ax))
        top = max(patch.get_data().values.max() for patch in ax.patches)
        assert top == pytest.approx(32, rel=0.01)  # all cores were in use, nearly all the time


def test_the_fitted_curve_is_that_of_the_pool() -> None:
    race = raced([0.1, 0.9], scaling=paceline.CorePool(4, lambda cores: 2 / cores**0.5))
    ax = drawn(race.plot, "scaling")
    fitted = next(line for line in ax.get_lines() if line.get_label() == "fitted")
    assert fitted.get_ydata()[0] == pytest.approx(2.0)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_a_profile_is_drawn_as_a_race_is() -> None:
    profile = paceline.profile(
        abs, [1, 2], cores=4, engine=VirtualEngine(cores=4), cores_per_pull=(1, 4), repeats=3
    )
    ax = profile.plot()
    ax.figure.savefig(io.BytesIO(), dpi=40)
    fitted = next(line for line in ax.get_lines() if line.get_label() == "fitted")
    assert fitted.get_ydata().tolist() == [profile.runtime(cores) for cores in range(1, 5)]


def test_pictures_are_drawn_beside_each_other() -> None:
    figure = Figure(layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    race = raced([0.1, 0.9])
    for kind, ax in zip(KINDS, axes, strict=True):
        assert getattr(race.plot, kind)(ax) is ax
    figure.savefig(io.BytesIO())


def test_dark_figures_have_light_text() -> None:
    with mpl.rc_context({"text.color": "white"}):
        labels = raced([0.1, 0.2], max_pulls=9).plot.standings().get_yticklabels()
    assert [label.get_color() for label in labels] == ["white"] * 2


def test_a_journal_gives_the_same_pictures(tmp_path: Path) -> None:
    race = raced([0.1, 0.5, 0.9], journal=tmp_path / "j", engine="local", cores=2)
    opened = paceline.open(tmp_path / "j")
    for kind in KINDS:
        pages = [io.BytesIO(), io.BytesIO()]
        for page, one in zip(pages, (race, opened), strict=True):
            getattr(one.plot, kind)().figure.savefig(page, format="raw", dpi=40)
        assert pages[0].getvalue() == pages[1].getvalue(), kind


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plots, imported = result().plot, builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    for kind in KINDS:
        with pytest.raises(paceline.MissingExtra, match=r"pip install 'paceline\[figures\]'"):
            getattr(plots, kind)()


@pytest.mark.parametrize("first", ["", "import matplotlib.pyplot as plt; "])
def test_figures_belong_to_pyplot_only_if_it_is_in_use(first: str) -> None:
    script = (
        f"{first}import sys; from tests.cli.made_up import result; "
        "ax = result().plot.standings(); "
        "plt = sys.modules.get('matplotlib.pyplot'); "
        "print(plt is not None and plt.get_fignums() == [1])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={"PATH": "/usr/bin:/bin", "MPLBACKEND": "Agg", "PYTHONPATH": "."},
    )
    assert (done.stdout, done.stderr) == (f"{bool(first)}\n", "")
