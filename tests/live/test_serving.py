"""A server in a process of its own: what it sends to whom, and how it ends."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paceline.live.listening import listen
from tests.live.journals import RACES, Growing
from tests.live.servers import SECONDS, Viewer, serving
from tests.races.processes import soon


def test_a_race_is_followed_from_before_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    with serving(path) as server:
        page = server.page()
        assert f"Waiting for {path}" in page
        early = Viewer(server, page)
        assert early.until("status")["state"] == "waiting"
        race = Growing(path)
        race.lock()
        race.write(10)
        early.until("reload")  # now there is a page to show
        viewers = [Viewer(server), Viewer(server, packed=True)]
        for viewer in viewers:
            viewer.until("status", "running")
        for lines in (5, 1, 1):
            race.write(lines)
            updates = [viewer.until("update") for viewer in viewers]
            assert updates[0] == updates[1]
        race.write()
        race.unlock()
        for viewer in viewers:
            said = ""
            while "probability at least 0.95" not in said:
                said = json.dumps(viewer.until("update"))
            viewer.until("status", "finished")
        race.close()


def test_a_race_that_is_killed_deleted_and_damaged(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    race = Growing(path, "format-2-command-capped.jsonl")
    race.lock()
    race.write(8)
    with serving(path) as server:
        viewer = Viewer(server)
        viewer.until("status", "running")
        race.unlock()
        assert viewer.until("status", "stopped")["command"] == f"paceline resume {path}"
        race.lock()
        viewer.until("status", "running")
        path.rename(tmp_path / "away")
        viewer.until("status", "gone")
        (tmp_path / "away").rename(path)
        viewer.until("status", "running")
        with path.open("ab") as stream:
            stream.write(b"\x1b[31m<script>\n")
        assert "line 9" in viewer.until("status", "damaged")["text"]
        assert "x=3" in server.page()  # what is known stays
    race.close()


def test_whoever_comes_back_is_sent_what_is_new(tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.write(8)
    with serving(race.path) as server:
        page = server.page()
        viewer = Viewer(server, page)
        viewer.until("status")
        viewer.close()
        race.write(8)
        again = Viewer(server, page)
        update = again.until("update")
        assert {"facts", "standings"} <= update["fragments"].keys()
    race.close()


def test_the_page_of_another_server_is_loaded_anew(tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.write(8)
    with serving(race.path) as server:
        page, first = server.page(), server.port
    with serving(race.path) as server:
        assert server.port == first  # so a browser finds it
        assert Viewer(server, page).next() == ("reload", {})
    race.close()


def test_nobody_watches_nothing_is_read(tmp_path: Path) -> None:
    race = Growing(tmp_path / "race.jsonl")
    race.write(8)
    with serving(race.path) as server:
        Viewer(server).close()
        opens = Path(f"/proc/{server.process.pid}/io")
        assert soon(lambda: reads_nothing(opens), SECONDS)
    race.close()


def reads_nothing(io: Path) -> bool:
    """Whether a process reads nothing for half a second."""
    before = re.findall(r"(?:rchar|syscr): \d+", io.read_text())
    time.sleep(0.5)
    return before == re.findall(r"(?:rchar|syscr): \d+", io.read_text())


def test_ctrl_c_tells_viewers_and_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    shutil.copy(RACES / "format-2-function-ended.jsonl", path)
    with serving(path) as server:
        viewer = Viewer(server)
        viewer.until("status", "finished")
        assert server.end() == 0
        assert viewer.until("bye")["state"] == "finished"
        assert viewer.next() == ("nothing", None)


def test_ctrl_c_before_anybody_came(tmp_path: Path) -> None:
    with serving(tmp_path / "race.jsonl") as server:
        assert server.end() == 0


def test_a_journal_has_its_port_unless_that_is_taken(tmp_path: Path) -> None:
    with listen(tmp_path / "a") as first, listen(tmp_path / "a") as second:
        usual = first.getsockname()[1]
        assert second.getsockname()[1] != usual
    with listen(tmp_path / "a") as again, listen(tmp_path / "b") as other:
        assert again.getsockname()[1] == usual != other.getsockname()[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{folder}"], "is a folder"),
        (["{folder}/text"], "is not a journal"),
        (["{folder}/no", "--port", "70000"], "--port must be from 0"),
        (["{folder}/no", "--port", "{taken}"], "Address already in use. Give another"),
        (["{folder}/no", "--host", "no.such.example"], "cannot listen on no.such.example"),
        (["{folder}/no", "--token", "short"], "at least 8 characters"),
    ],
)
def test_what_cannot_be_served_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no journal\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "paceline", "live"]
            + [word.format(folder=tmp_path, taken=port) for word in words],
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
