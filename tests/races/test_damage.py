"""Journals that somebody or something has changed: refused where it shows, and never believed."""

import json
import random
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline import Command, race, resume
from paceline.errors import InvalidInput
from paceline.journal import Reader, read_records
from paceline.journal.reading import Damaged
from paceline.journal.records import RaceBegun
from paceline.races import JournalView, read_journal
from paceline.races.history import History
from tests.races.virtual import VirtualEngine

FIRST_FORMAT = Path(__file__).with_name("journals")
Plain = dict[str, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Plain]:
    """A race of commands on two cores, with failures; as it stands in its journal."""
    folder = tmp_path_factory.mktemp("recorded")
    command = Command.parse(
        ["/bin/sh", "-c", "test {x} -lt 3 && expr 10 \\* {x} + {seed} % 7"], cwd=str(folder)
    )
    arms = [{"x": 1}, {"x": 2}, {"x": 3}]
    race(
        command, arms, bounds=(0, 60), retries=1, max_pulls=30, cores=2, cores_per_pull=1,
        journal=folder / "race.jsonl", progress=False,
    )  # fmt: skip
    lines = (folder / "race.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "sum"} for line in lines]


def write(path: Path, plains: list[Plain], *, sealed: bool) -> None:
    """A journal of these lines; without checksums, it is one of the first format."""
    lines, chain = [], 0
    for plain in plains:
        body = json.dumps(plain, separators=(",", ":")).encode()
        if sealed:
            chain = zlib.crc32(body[:-1], chain)
            body = body[:-1] + b',"sum":"%08x"}' % chain
        lines.append(body + b"\n")
    path.write_bytes(b"".join(lines))


def change(**fields: Any) -> Callable[[Plain], None]:
    return lambda plain: plain.update(fields)


def nth(kind: str, number: int = 3) -> Callable[[list[Plain]], int]:
    """Where the `number`-th line of a kind is, or the last if there are fewer."""

    def find(plains: list[Plain]) -> int:
        places = [place for place, plain in enumerate(plains) if plain["kind"] == kind]
        return places[min(number, len(places)) - 1]

    return find


NAN = float("nan")
WRONG: dict[str, tuple[Callable[[list[Plain]], int], Callable[[Plain], None], str]] = {
    "no time": (nth("results"), change(at=NAN), "a time that is no finite number"),
    "endless": (nth("results"), change(at=float("inf")), "a time that is no finite number"),
    "a time in words": (nth("results"), change(at="soon"), "a time that is no finite number"),
    "back in time": (nth("results", 9), change(at=0.0), "has the time 0 s"),
    "far in the future": (nth("results"), change(at=1e9), r"has the time 1e\+09 s"),
    "no value": (nth("results"), change(values=[NAN]), "a value that is no finite number"),
    "a value in words": (nth("results"), change(values=["1"]), "a value that is no finite"),
    "too many values": (nth("results"), change(values=[1.0, 2.0]), "not one value"),
    "no values": (nth("results"), change(values=[], seconds=[], pulls=[]), "has no pulls"),
    "values that are no list": (nth("results"), change(values=1.0), "no list"),
    "negative seconds": (nth("results"), change(seconds=[-1.0]), "seconds below 0"),
    "an arm too many": (nth("results"), change(pulls=[[3, 0, 1]]), "arm 3, and there are 3"),
    "a negative arm": (nth("results"), change(pulls=[[-1, 0, 1]]), "arm -1, and there are 3"),
    "half an arm": (nth("results"), change(pulls=[[0.5, 0, 1]]), "no whole number"),
    "an empty run": (nth("results"), change(pulls=[[0, 0, 0], [0, 9, 1]]), "has 0 pulls"),
    "a pull far ahead": (nth("results"), change(pulls=[[0, 10**12, 1]]), "from number 1000000000"),
    "a pull twice": (nth("results", 9), change(pulls=[[0, 0, 1]]), "a second value"),
    "too many cores": (nth("results"), change(cores=3), "uses 3 cores, and the pool has 2"),
    "no cores": (nth("results"), change(cores=0), "cores"),
    "a failure of nobody": (nth("failure", 1), change(arm=7), "names arm 7"),
    "a failure before all": (nth("failure", 1), change(attempt=0), "an attempt"),
    "out without failing": (nth("out"), change(arm=0), "which never failed"),
    "a plan for nobody": (nth("plan"), change(arms=[]), "names an arm twice, or none"),
    "a plan for one twice": (nth("plan"), change(arms=[1, 1]), "names an arm twice"),
    "a plan without a pool": (nth("plan"), change(pool=[]), ""),
    "a plan of no noise": (nth("plan"), change(noise={"kind": "pink"}), ""),
    "a round from the future": (nth("round"), change(seconds=1e6), "later than it was recorded"),
    "time of nobody": (nth("spent"), change(arm=-2), "an arm that is no whole number"),
    "time on many cores": (nth("spent"), change(cores=64), "uses 64 cores"),
    "an end for nobody": (nth("ending"), change(arms=[0, 5]), "names arm 5"),
    "an end of another": (nth("ending"), change(arms=[0], index=1), "not among the best"),
    "more than sure": (nth("ending"), change(confidence=1.5), "a confidence of 1.5"),
    "a warning of nothing": (nth("warning"), change(text=7), "without words"),
    "a session without cores": (nth("session"), change(cores=-1), "a number of cores"),
    "another race": (nth("results"), change(kind="race", format=2, problem={}, options={},
                                            labels=["a"]), "begins another race"),
}  # fmt: skip


def _in_order(plains: list[Plain]) -> int:
    """How many values are shown: those of an arm up to the first pull that is not back."""
    runs = [run for plain in plains if plain["kind"] == "results" for run in plain["pulls"]]
    known = {(arm, first + k) for arm, first, pulls in runs for k in range(pulls)}
    return sum(
        next(number for number in range(len(known) + 1) if (arm, number) not in known)
        for arm in {arm for arm, _ in known}
    )


@pytest.mark.parametrize("sealed", [True, False], ids=["resealed", "format 1"])
@pytest.mark.parametrize(("find", "harm", "why"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_true_is_refused_and_what_stands_before_it_is_kept(
    recorded: list[Plain],
    tmp_path: Path,
    find: Callable[[list[Plain]], int],
    harm: Callable[[Plain], None],
    why: str,
    sealed: bool,
) -> None:
    path = tmp_path / "a race.jsonl"
    plains = json.loads(json.dumps(recorded))
    plains[0]["format"] = 2 if sealed else 1
    kinds = {plain["kind"] for plain in plains}
    assert {"spent", "failure", "out", "plan", "round", "warning", "ending"} <= kinds
    place = find(plains)
    harm(plains[place])
    plains.append(dict(plains[-1], at=plains[-1]["at"] + 1))  # so that no line is the last
    write(path, plains, sealed=sealed)
    whole = path.read_bytes()
    with pytest.raises(Damaged, match=rf"a race\.jsonl is damaged: line {place + 1} .*{why}") as at:
        read_journal(path)
    with pytest.raises(Damaged, match=f"line {place + 1} "):
        resume(path)
    assert path.read_bytes() == whole
    pulls = sum(len(plain["values"]) for plain in plains[:place] if plain["kind"] == "results")
    assert f"with {pulls} pulls," in str(at.value)
    keep = re.search(r"head -n .*$", str(at.value))
    assert keep is not None
    subprocess.run(keep[0], shell=True, check=True)  # as the message says
    mended = tmp_path / "a race.mended.jsonl"
    assert mended.read_bytes() == b"".join(whole.splitlines(keepends=True)[:place])
    assert read_journal(mended).standing.pulls == _in_order(plains[:place])
    if place > 1:
        done = resume(mended, max_pulls=300, progress=False)
        assert (done.decided, done.best) == (True, {"x": 2})


def test_a_round_before_anything_is_refused(recorded: list[Plain], tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    rounds = [plain for plain in recorded if plain["kind"] == "round"]
    write(path, [*recorded[:2], rounds[0]], sealed=True)
    with pytest.raises(InvalidInput, match="line 3 ends a round before there was a plan"):
        read_journal(path)


def test_results_before_a_session_are_refused(recorded: list[Plain], tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    write(path, [recorded[0], recorded[2]], sealed=True)
    with pytest.raises(InvalidInput, match="line 2 comes before any session"):
        read_journal(path)


def test_as_many_arms_are_named_as_described(recorded: list[Plain], tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    write(path, [dict(recorded[0], labels=["a", "b"]), *recorded[1:]], sealed=True)
    with pytest.raises(InvalidInput, match=r"line 1 names 2 arms.* Restore"):
        read_journal(path)


def test_of_several_lines_that_are_wrong_the_first_is_named(
    recorded: list[Plain], tmp_path: Path
) -> None:
    """Lines of one pull each are read together: what is wrong with them is told in turn."""
    path = tmp_path / "race.jsonl"
    plains: list[Plain] = json.loads(json.dumps(recorded[:2]))
    like = next(plain for plain in recorded if plain["kind"] == "results")
    plains += [dict(like, at=1.0 + pull, pulls=[[0, pull, 1]]) for pull in range(20)]
    plains[12]["values"] = [NAN]
    plains[10]["seconds"] = [-1.0]
    plains[8]["pulls"] = [[0, 2, 1]]
    for line, why in ((9, "second value"), (11, "below 0"), (13, "no finite number")):
        write(path, plains, sealed=True)
        with pytest.raises(InvalidInput, match=rf"line {line} .*{why}.* with {line - 3} pulls"):
            read_journal(path)
        plains[line - 1] = dict(like, at=line - 2.0, pulls=[[0, line - 3, 1]])
    write(path, plains, sealed=True)
    assert read_journal(path).standing.pulls == 20


# Whatever happens to a file: the same answer, or a refusal.


def noisy(arm: float, *, seed: int) -> float:
    return arm + random.Random(seed).gauss(0, 0.3)


def flip(arm: float, *, seed: int) -> float:
    return float(random.Random(seed).random() < arm)


def make(name: str, path: Path) -> None:
    """A small journal of each sort."""
    if name.startswith("format-1"):
        shutil.copy(FIRST_FORMAT / name, path)
        return
    options: dict[str, Any] = {"journal": path, "cores": 4, "progress": False}
    if name == "command":
        race(
            Command.parse("echo {x}", cwd=str(path.parent)), [{"x": 1}, {"x": 2}, {"x": 3}],
            bounds=(0, 4), max_pulls=40, **options,
        )  # fmt: skip
    elif name == "failures":
        host = VirtualEngine(faults=0.2, fatal=lambda arm, pull: arm == 2 and pull > 1, seed=1)
        race(noisy, [0.0, 0.6, 1.0], engine=host, timeout=20, max_pulls=60, **options)
    elif name == "deadline":
        race(noisy, [0.0, 0.4, 1.0], engine=VirtualEngine(), deadline=12, **options)
    else:
        goals: dict[str, Any] = {"confidence": 0.95, "deadline": 15}
        race(flip, [0.2, 0.9], engine=VirtualEngine(), **goals, **options)


SORTS = [
    "command",
    "failures",
    "deadline",
    "both",
    *sorted(one.name for one in FIRST_FORMAT.glob("*.jsonl")),
]


def told(view: JournalView) -> Any:
    return view.standing, view.ending, view.chosen, view.core_seconds, view.header


def outcome(path: Path) -> Any:
    """What is read, or None if it is refused. Anything else that is raised is an error."""
    try:
        return told(read_journal(path))
    except InvalidInput:
        return None


@pytest.mark.parametrize("name", SORTS)
def test_bytes_that_change_lead_to_no_other_answer(name: str, tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    make(name, path)
    whole = path.read_bytes()
    right = repr(outcome(path))
    assert right != "None"
    lot = random.Random(name)
    refused = 0
    for trial in range(150):
        place = lot.randrange(len(whole))
        data = bytearray(whole)
        if trial % 3 == 0:
            data[place] ^= 1 << lot.randrange(8)
        elif trial % 3 == 1:
            digits = [at for at in range(place, len(whole)) if chr(whole[at]).isdigit()]
            place = digits[0] if digits else place
            data[place] = lot.choice(b"0123456789-.e")
        else:
            data[place : place + lot.randrange(1, 30)] = lot.randbytes(lot.randrange(5))
        path.write_bytes(bytes(data))
        found = outcome(path)
        refused += found is None
        if not name.startswith("format-1") and found is not None:
            # Only a last line that a crash may have torn, or left a hole in, may be missing.
            lines = bytes(data).splitlines(keepends=True)
            kept = lines if lines[-1].endswith(b"\n") and b"\0" not in lines[-1] else lines[:-1]
            assert whole.startswith(b"".join(kept))
    assert refused > (20 if name.startswith("format-1") else 100)


@pytest.mark.parametrize("name", SORTS)
def test_wherever_a_journal_is_cut_off_it_is_read_up_to_there(name: str, tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    make(name, path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    pulls = [len(json.loads(line).get("values", ())) for line in lines]
    lot = random.Random(name)
    for _ in range(40):
        cut = lot.randrange(len(whole) + 1)
        path.write_bytes(whole[:cut])
        found = outcome(path)
        count = whole[:cut].count(b"\n")
        if count == 0:
            assert found is None
        else:
            assert found[0].pulls <= sum(pulls[:count])
            if cut == len(whole):
                assert found[0].pulls == sum(pulls)


def test_lines_read_together_say_the_same_as_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    for name in SORTS:
        path.unlink(missing_ok=True)
        make(name, path)
        alone = read_records(path)
        header = alone[0]
        assert isinstance(header, RaceBegun)
        together = list(Reader(path).records(together=True))
        assert len(together) < len(alone)
        books = []
        for records in (alone, together):
            history = History(len(header.labels), 1.0, records)
            one = history.books
            books.append(
                (one.pulls, one.core_seconds, one.arm_seconds, history.elapsed,
                 one.times.mean_seconds(1), one.ledger.snapshot(),
                 [one.ledger.values(arm, in_order=False).tolist() for arm in range(2)])
            )  # fmt: skip
        assert books[0] == books[1]
