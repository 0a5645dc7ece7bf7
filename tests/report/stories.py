"""Stories of races for pages: of real small races, and made up for large ones."""

import heapq
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import paceline
from paceline.core.noise.catalog import checked
from paceline.core.pool import CorePool
from paceline.story.standing import ArmRecord, Standing, Status
from paceline.story.story import Milestones, Outcome, Recipe, Story, Trouble
from paceline.story.timeline import USES, Timeline
from paceline.story.values import Values

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script></textarea></title><svg onload=alert(3)>",
    "a\u202egnp.exe\u2066",
    "\x1b[31mred\x07",
    "{{7*7}} ${7*7} $$\\alpha$$ @label",
    "-->]]><!--",
    "x" * 10_000,
    "שלום עולם",
    "🏁",
)


def raced(labels: Sequence[str] = ("a", "b", "c"), **options: Any) -> Story:
    """A story of a real race; the last arm is the best."""

    def pull(arm: int, *, seed: int) -> float:
        return arm + float(np.random.default_rng(seed).normal(0.0, 0.5))

    given: dict[str, Any] = {"confidence": 0.95, "cores": 2, "progress": False, "max_pulls": 400}
    return named(paceline.race(pull, range(len(labels)), **given | options).story, labels)


def named(story: Story, labels: Sequence[str]) -> Story:
    """The same race, of arms with other labels; the verdict names the best of them."""
    arms = tuple(replace(arm, label=labels[arm.index]) for arm in story.standing.arms)
    verdict = story.outcome.verdict.replace(
        f'"{story.standing.arms[story.outcome.index].label}"', labels[story.outcome.index]
    )
    return replace(
        story,
        standing=replace(story.standing, arms=arms),
        outcome=replace(story.outcome, verdict=verdict),
    )


class _Pool:
    """Nodes whose cores are given to pulls, first come, first served."""

    def __init__(self, nodes: Sequence[int]) -> None:
        self.free = list(nodes)
        self.ends: list[tuple[float, int, int]] = []
        self.now = 0.0

    def start(self, cores: int, seconds: float) -> float:
        """Begin as soon as a node has room; when."""
        while True:
            for node, free in enumerate(self.free):
                if free >= cores:
                    self.free[node] -= cores
                    heapq.heappush(self.ends, (self.now + seconds, node, cores))
                    return self.now
            self.step()

    def step(self) -> None:
        self.now, node, cores = heapq.heappop(self.ends)
        self.free[node] += cores

    def finish(self) -> None:
        while self.ends:
            self.step()


def grid(arms: int) -> tuple[dict[str, Any], ...]:
    """Parameters of every kind: numbers, magnitudes, words, and a hostile name."""
    words = ("adam", "sgd", "<b>lion</b>")
    return tuple(
        {
            "rate": 10.0 ** (-1 - arm % 4),
            "depth": 1 + arm % 7,
            "width": str(16 * (1 + arm % 5)),
            "optimizer": words[arm % 3],
            "</script>": bool(arm % 2),
        }
        for arm in range(arms)
    )


def made(
    arms: int = 64,
    pulls: int = 4000,
    nodes: Sequence[int] = (16, 16, 8),
    *,
    seed: int = 0,
    top: int = 1,
    decided: bool = True,
    failing: float = 0.02,
    hostile: bool = False,
    seconds: float = 20.0,
    minimize: bool = False,
) -> Story:
    """A race that was never run: halvings until few are in, on nodes of which one comes late."""
    rng = np.random.default_rng(seed)
    sign = -1 if minimize else 1
    given = grid(arms)
    quality = np.array(
        [-abs(math.log10(one["rate"]) + 3) / 3 - abs(one["depth"] - 4) / 9 for one in given]
    )
    means = 0.8 + 0.3 * sign * (quality + 0.02 * rng.normal(size=arms))
    effort = rng.uniform(0.7, 1.4, arms)
    broken = set(range(3, arms, 41)) if failing else set()
    pool = _Pool(nodes[:1])
    alive = list(range(arms))
    counts = np.zeros(arms, dtype=int)
    rows: list[tuple[int, int, int, float, float, int, float]] = []
    troubles: list[Trouble] = []
    falls: dict[int, float] = {}
    rounds: list[float] = []
    sizes: list[tuple[float, tuple[int, ...]]] = [(0.0, tuple(nodes[:1]))]
    stages = max(2, math.ceil(math.log2(max(arms / max(top, 1), 2))) + 1)
    for core in range(nodes[0]):
        loaded, use = 0.4 + 0.01 * core, USES.index("starting")
        rows.append((0, -1, 1, loaded, loaded, use, 0.0))
    pool.now = 0.6
    for stage in range(stages):
        if stage == 1:
            pool.free += nodes[1:]
            sizes.append((pool.now, tuple(nodes)))
        each = max(2, pulls // stages // len(alive))
        cores = max(1, min(max(pool.free), sum(pool.free) // len(alive)))
        cores = 1 << int(math.log2(cores))
        for k in range(each):
            for arm in alive:
                if arm in falls:
                    continue
                took = seconds * effort[arm] * rng.uniform(0.8, 1.25) * (0.15 + 0.85 / cores)
                start = pool.start(cores, took)
                number = int(counts[arm])
                if arm in broken or rng.random() < failing / 10:
                    what = (
                        "raised ValueError: singular matrix" if arm % 2 else "ended with status 3"
                    )
                    text = f"Traceback:\n  </pre><script>alert(4)</script>\n{'x' * 300}\n"
                    troubles.append(
                        Trouble(start + took / 2, arm, number, 1 + k, "exception", what, text)
                    )
                    use = USES.index("failed")
                    rows.append((arm, -1, cores, start + took / 2, took / 2, use, 0.0))
                    if arm in broken and k:
                        falls[arm] = start + took / 2
                    continue
                value = means[arm] + 0.08 * rng.normal()
                rows.append((arm, number, cores, start + took, took, 0, value))
                counts[arm] += 1
        pool.finish()
        rounds.append(pool.now)
        alive = [arm for arm in alive if arm not in falls]
        alive.sort(key=lambda arm: -sign * means[arm])
        keep = max(top if decided else top + 1, -(-len(alive) // 2))
        for arm in alive[keep:]:
            falls[arm] = pool.now
        alive = alive[:keep]
    elapsed = pool.now
    span = np.array(rows)
    order = np.argsort(span[:, 3], kind="stable")
    span = span[order]
    whole = span[:, [0, 1, 2, 5]].astype(np.int64)
    got = np.flatnonzero((whole[:, 1] >= 0) & (whole[:, 3] == 0))
    values = Values(
        whole[got, 0], whole[got, 1], span[got, 6], span[got, 4], whole[got, 2], span[got, 3]
    )
    timeline = Timeline(
        whole[:, 0],
        whole[:, 1],
        np.ones(len(rows), dtype=np.int64),
        whole[:, 2],
        span[:, 3],
        span[:, 4],
        whole[:, 3],
        tuple((at, sum(cores)) for at, cores in sizes),
        elapsed,
    )
    noise = checked("normal", sigma=0.08)
    records = _records(values, arms, falls, broken, alive, hostile, decided, given)
    leaders = sorted(alive, key=lambda arm: -sign * records[arm].mean)
    best = leaders[:top]
    names = " and ".join(records[arm].label for arm in best)
    return Story(
        standing=Standing(
            elapsed,
            None,
            len(rounds),
            len(got),
            sum(nodes),
            0,
            records,
            minimize,
            warnings=("two nodes are much slower than the others",) if hostile else (),
        ),
        outcome=Outcome(
            best[0],
            decided,
            f"{names} has the highest mean, with probability at least 0.95"
            if decided
            else f"undecided between {names} and others: no more than {pulls} pulls were allowed",
            0.95 if decided else None,
            tuple(best),
            () if decided else tuple(leaders),
        ),
        timeline=timeline,
        values=values,
        milestones=Milestones(
            falls, tuple(rounds), ((0.0, "node17", "2026-11-18T19:00:00+00:00"),), tuple(sizes)
        ),
        recipe=Recipe(
            "python train.py --rate {rate} --depth {depth} '</script>' \u202e",
            {"confidence": 0.95, "cores": sum(nodes), "seed": 7, "noise": "normal", "sigma": 0.08},
            {"python": "3.11.7", "numpy": "2.1.0"},
            "/home/user/races/</script>/race.jsonl",
        ),
        noise=noise,
        assumed=noise.describe(),
        level=0.05,
        core_seconds=float((span[:, 4] * span[:, 2]).sum()),
        scaling=CorePool(
            sum(nodes), lambda cores: seconds * (0.15 + 0.85 / cores), nodes=tuple(nodes)
        ),
        troubles=tuple(troubles),
        parameters=given,
    )


def _records(
    values: Values,
    arms: int,
    falls: dict[int, float],
    broken: set[int],
    alive: Sequence[int],
    hostile: bool,
    decided: bool,
    given: Sequence[dict[str, Any]],
) -> tuple[ArmRecord, ...]:
    counts = np.bincount(values.arm, minlength=arms)
    totals = np.bincount(values.arm, values.value, arms)
    spent = np.bincount(values.arm, values.seconds, arms)
    found = []
    for arm in range(arms):
        status: Status = "failed" if arm in broken else "out" if arm in falls else "in"
        status = "best" if status == "in" and decided else status
        mean = totals[arm] / counts[arm] if counts[arm] else math.nan
        half = 0.08 * math.sqrt(2 * math.log(40 * arms) / counts[arm]) if counts[arm] else math.inf
        label = " ".join(f"{name}={value}" for name, value in given[arm].items())
        if hostile and arm % 3 == 0:
            label = HOSTILE[arm // 3 % len(HOSTILE)]
        found.append(
            ArmRecord(
                arm,
                label,
                mean,
                mean - half if counts[arm] else -math.inf,
                mean + half if counts[arm] else math.inf,
                int(counts[arm]),
                status,
                float(spent[arm]),
                "raised ValueError: </td><script>" if arm in broken else "",
            )
        )
    return tuple(found)
