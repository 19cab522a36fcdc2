"""Who is seated with whom: the oldest first, as many as can be at once, with others who play about as well."""

from datetime import UTC, datetime

import pytest

from domain.ruleset import Players
from services.matching import CLOSE, FOR_MORE_S, WIDER_PER_S, companies
from services.tickets import PACES, NewTicket, Ticket

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ticket(
    name: str,
    waited_s: float = 0,
    players: tuple[int, int] = (3, 3),
    *,
    bots_after_s: int | None = None,
    rating: float = 25,
    ruleset: str = "davis",
    pace: str = "live",
) -> Ticket:
    new = NewTicket(f"ply_{name}", f"tok_{name}", ruleset, Players(*players), PACES[pace], bots_after_s, rating)
    return Ticket(name, new, "waiting", NOW, waited_s, 0, None)


def seated(*tickets: Ticket) -> list[tuple[str, int]]:
    """Gives the names at each table, and how many seats it has."""
    oldest_first = sorted(tickets, key=lambda each: -each.waited_s)
    return [("".join(each.ticket_id for each in those), seats) for those, seats in companies(oldest_first)]


def test_a_full_table_is_seated_at_once_the_oldest_first() -> None:
    assert seated(ticket("a", 4), ticket("b", 3), ticket("c", 2), ticket("d", 1)) == [("abc", 3)]
    assert seated(ticket("a", 2), ticket("b", 1)) == []
    assert seated() == []


def test_several_tables_are_found_at_once() -> None:
    assert seated(*(ticket(name, 9 - n) for n, name in enumerate("abcdefg"))) == [("abc", 3), ("def", 3)]


def test_only_who_wants_the_same_sits_together() -> None:
    others = ticket("b", ruleset="jokers"), ticket("c", pace="correspondence"), ticket("d")
    assert seated(ticket("a", 1, (2, 2)), *others) == []
    assert seated(ticket("a", 1, (2, 2)), *others, ticket("e", players=(2, 3))) == [("ae", 2)]


def test_a_table_that_might_grow_waits_a_moment() -> None:
    two = (2, 4)
    assert seated(ticket("a", FOR_MORE_S - 1, two), ticket("b", 1, two)) == []
    assert seated(ticket("a", FOR_MORE_S, two), ticket("b", 1, two)) == [("ab", 2)]
    assert seated(ticket("a", 3, two), ticket("b", 2, two), ticket("c", 1, two), ticket("d", 0, two)) == [("abcd", 4)]


def test_who_wants_many_does_not_keep_the_others_from_playing() -> None:
    assert seated(ticket("a", FOR_MORE_S, (2, 4)), ticket("b", 9, (4, 4)), ticket("c", 8, (2, 4))) == [("ac", 2)]
    assert seated(ticket("a", 99, (4, 4)), ticket("b", FOR_MORE_S, (2, 4)), ticket("c", 8, (2, 4))) == [("bc", 2)]


def test_bots_come_when_it_is_time_to_those_who_take_them() -> None:
    assert seated(ticket("a", 29, bots_after_s=30)) == []
    assert seated(ticket("a", 30, bots_after_s=30)) == [("a", 3)]
    assert seated(ticket("a", 30, bots_after_s=30), ticket("b", 20)) == [("a", 3)]
    assert seated(ticket("a", 30, bots_after_s=30), ticket("b", 9, bots_after_s=30)) == [("a", 3)]
    assert seated(ticket("a", 30, bots_after_s=30), ticket("b", 9, bots_after_s=0)) == [("ab", 3)]
    assert seated(ticket("a", 9, (2, 4), bots_after_s=0), ticket("b", 9, (3, 4), bots_after_s=0)) == [("ab", 3)]


def test_people_are_preferred_to_bots() -> None:
    those = ticket("a", 30, bots_after_s=0), ticket("b", 2), ticket("c", 1)
    assert seated(*those) == [("abc", 3)]


@pytest.mark.parametrize("waited_s", [0, 30, 100])
def test_ratings_are_close_and_less_so_the_longer_one_waits(waited_s: int) -> None:
    apart = CLOSE + waited_s * WIDER_PER_S
    others = ticket("b", rating=25 + apart, players=(2, 2)), ticket("c", rating=25 - apart - 0.01, players=(2, 2))
    assert seated(ticket("a", waited_s, (2, 2)), others[0]) == [("ab", 2)]
    assert seated(ticket("a", waited_s, (2, 2)), others[1]) == []
    assert seated(ticket("a", waited_s, (2, 2)), *others) == [("ab", 2)]
