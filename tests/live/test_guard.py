"""Who may see a page, and what browsers are told about it."""

import pytest

from paceline.errors import InvalidInput
from paceline.live.guard import Door
from paceline.live.listening import token_for
from tests.live.journals import RACES
from tests.live.servers import SECONDS, Server, serving
from tests.races.processes import soon

JOURNAL = RACES / "format-2-function-ended.jsonl"
TOKEN = "a b&c=d/é-token"


@pytest.fixture(scope="module")
def opened():  # type: ignore[no-untyped-def]
    with serving(JOURNAL, "--port", "0") as server:
        yield server


@pytest.fixture(scope="module")
def closed():  # type: ignore[no-untyped-def]
    with serving(JOURNAL, "--port", "0", "--token", TOKEN) as server:
        yield server


@pytest.mark.parametrize("path", ["/", "/events?since=a.1", "/favicon.ico", "/nothing"])
def test_every_answer_is_strict(opened: Server, path: str) -> None:
    headers = opened.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(opened: Server, method: str) -> None:
    assert opened.ask(method).status == 405


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:80", "[::1]:1", "[::1]"])
def test_names_of_this_machine_are_answered(opened: Server, host: str) -> None:
    assert opened.get(Host=host).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", ""])
@pytest.mark.parametrize("path", ["/", "/events"])
def test_a_name_that_was_bent_to_this_machine_is_not(opened: Server, host: str, path: str) -> None:
    assert opened.get(path, Host=host).status == 403


def test_other_sites_may_link_to_the_page_but_not_read_it(opened: Server) -> None:
    for site in ("cross-site", "same-site"):
        assert opened.get("/events", Sec_Fetch_Site=site, Sec_Fetch_Mode="cors").status == 403
        assert opened.get("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200
    assert opened.get("/", Sec_Fetch_Site="none", Sec_Fetch_Mode="navigate").status == 200


@pytest.mark.parametrize("path", ["/", "/events", "/?token=", "/?token=wrong", "/?token=%ff"])
def test_without_the_token_nothing_is_told(closed: Server, path: str) -> None:
    answer = closed.get(path)
    assert answer.status == 403
    assert "probability" not in answer.text
    assert closed.get(path, Cookie=f"paceline-{closed.port}=wrong; a=b").status == 403
    assert closed.get(path, Cookie="\x01=;;=").status == 403


def test_the_token_leaves_the_address_at_once(closed: Server) -> None:
    path = closed.url.partition(f":{closed.port}")[2]
    answer = closed.get(path)
    cookie = answer.headers["set-cookie"]
    assert (answer.status, answer.headers["location"]) == (303, "./")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "token" not in cookie
    mine = cookie.partition(";")[0]
    # The first look may take a moment.
    assert soon(lambda: "probability at least 0.95" in closed.get("/", Cookie=mine).text, SECONDS)
    page = closed.get("/", Cookie=mine)
    assert page.status == 200
    assert TOKEN not in page.text
    assert closed.get(path, Cookie=mine).status == 303  # also the next time


def test_the_token_is_told_to_nobody(closed: Server) -> None:
    """Neither a log nor a page has it; `serving` sees that stderr is empty."""
    closed.get("/?token=a%20b%26c")
    assert closed.url.endswith("?token=a%20b%26c%3Dd%2F%C3%A9-token")


def test_a_token_from_the_environment(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serving(JOURNAL, "--port", "0", PACELINE_TOKEN="from-the-environment") as server:
        assert server.url.endswith("?token=from-the-environment")
        assert server.get().status == 403
        assert server.get("/?token=from-the-environment").status == 303


def test_an_empty_token_in_the_environment_is_none() -> None:
    with serving(JOURNAL, "--port", "0", PACELINE_TOKEN="") as server:
        assert "token" not in server.url
        assert server.get().status == 200


def test_a_token_that_is_made_up() -> None:
    with serving(JOURNAL, "--port", "0", "--token", "new") as server:
        assert len(server.url.partition("?token=")[2]) > 20
        assert server.get().status == 403


def test_whoever_can_be_reached_from_elsewhere_has_a_token() -> None:
    assert token_for("127.0.0.1") == token_for("localhost") == token_for("::1") == ""
    tokens = {token_for(host) for host in ("0.0.0.0", "::", "10.0.0.7", "node17")}
    assert len(tokens) == 4
    assert min(map(len, tokens)) > 20
    with pytest.raises(InvalidInput, match="at least 8 characters"):
        token_for("0.0.0.0", "")


def test_from_elsewhere_any_name_will_do() -> None:
    with serving(JOURNAL, "--host", "0.0.0.0", "--port", "0") as server:
        path = server.url.partition(f":{server.port}")[2]
        assert server.get(path, Host="node17.cluster").status == 303
        assert server.get("/", Host="node17.cluster").status == 403


def test_addresses() -> None:
    assert Door("127.0.0.1", 80).address() == "http://localhost:80/"
    assert Door("fe80::1", 80, "x").address() == "http://[fe80::1]:80/?token=x"


def test_a_viewer_of_a_guarded_page(closed: Server) -> None:
    mine = closed.get(closed.url.partition(f":{closed.port}")[2]).headers["set-cookie"]
    answer = closed.get("/events?since=old.1", Cookie=mine.partition(";")[0])
    assert answer.text == "event: reload\ndata: {}\n\n"
