"""Which nodes a race knows, and what happens to their places."""

import socket

from paceline.engines.ray.roster import Node, Roster, refusing


def node(name: str, cores: int = 20, port: int = 1) -> Node:
    return Node(name, "127.0.0.1", port, cores, memory=10**9)


def test_a_node_keeps_its_place_and_a_new_one_gets_the_next() -> None:
    roster = Roster([node("a"), node("b", 8)])
    assert roster.update([node("b", 8), node("c", 4)])
    assert roster.sizes("cores") == (0, 8, 4)
    assert roster.memory() == (0, 10**9, 10**9)
    assert roster.update([node("b", 8), node("c", 4)]) == ""


def test_places_of_nodes_that_are_gone_can_be_had_again_when_nobody_uses_them() -> None:
    roster = Roster([node("a"), node("b", 8)])
    used = roster.copy()
    roster.update([node("b", 8)])
    roster.forget_gone()
    assert roster.sizes("cores") == (8,)
    assert used.sizes("cores") == (20, 8)


def test_a_node_that_does_not_answer_is_gone_until_it_does() -> None:
    """Ray itself believes in it for some seconds more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        a = node("a", port=port)
        assert refusing([a]) == []
    assert refusing([a]) == [a]
    roster = Roster([a])
    roster.lose(0)
    assert roster.update([a]) == ""
    assert roster.is_gone(0)
    with socket.create_server(("127.0.0.1", port)):
        assert roster.update([a]) == "127.0.0.1 is back"
    assert not roster.is_gone(0)


def test_a_node_that_never_answered_again_is_not_told_of_twice() -> None:
    a = node("a")
    roster = Roster([a])
    roster.lose(0)
    assert roster.update([]) == ""
    assert roster.sizes("cores") == (0,)
    roster.forget_gone()
    assert roster.nodes == []
