"""Players who wait for a table, and what has become of them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeVar

import asyncpg

from domain.events import GameOpened, GameStarted, SeatChanged
from domain.luck import link
from domain.ruleset import Players
from services.identity import GUEST_SCOPES, create_guest, who_is
from services.ids import new_uuid, public_id
from services.ports import Accounts, GameLog, Secrets
from services.tickets import PACES, NewTicket, Tickets

T = TypeVar("T")


class Mortal:
    """Ports whose process dies at one call: before it was carried out, or after. calls: how many there were."""

    def __init__(self, dies_at: int, *, is_done: bool) -> None:
        self.dies_at = dies_at
        self.is_done = is_done
        self.calls = 0

    def of(self, port: Any) -> Any:
        """Is the port, as this process has it."""
        return MortalPort(self, port)

    async def call(self, wanted: Callable[[], Awaitable[T]]) -> T:
        """Calls a port, or dies."""
        self.calls += 1
        if self.calls == self.dies_at and not self.is_done:
            raise Dead
        answer = await wanted()
        if self.calls == self.dies_at:
            raise Dead
        return answer


class MortalPort:
    """One port of a mortal process."""

    def __init__(self, mortal: Mortal, port: Any) -> None:
        self._mortal = mortal
        self._port = port

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        return lambda *arguments, **named: self._mortal.call(lambda: method(*arguments, **named))


class Dead(Exception):
    """The process is no more."""


async def ask(
    tickets: Tickets, accounts: Accounts, players: Players, ruleset: str = "davis", bots_after_s: int | None = None
) -> str:
    """Has a new player ask for a table; gives the player."""
    guest = await create_guest(accounts, "Anna", GUEST_SCOPES)
    principal = await who_is(accounts, guest.token)
    assert principal is not None
    new = NewTicket(guest.player_id, principal.token_id, ruleset, players, PACES["live"], bots_after_s, 25.0)
    assert await tickets.keep(new_uuid(), new)
    return guest.player_id


async def games_in(url: str) -> list[str]:
    """Lists the games of a database."""
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT game_id FROM event WHERE version = 1")
    await connection.close()
    return [public_id("gam", row["game_id"]) for row in rows]


async def everybody_sits_once(
    tickets: Tickets, log: GameLog, known: Collection[str], secrets: Secrets, players: list[str], seats: int
) -> None:
    """Asserts that all have a game that is there and has begun, and that each game is for those who were told so."""
    told = {}
    for player in players:
        [ticket] = await tickets.of_player(player, 10)
        assert (ticket.state, ticket.game_id is None) == ("matched", False)
        told[player] = ticket.game_id
    games = Counter(told.values())
    assert set(games.values()) == {seats}
    assert await tickets.seated() == []
    assert set(games) <= set(known)
    for game_id in known:
        events = [recorded.event for recorded in await log.read(game_id)]
        sit = [event.player_id for event in events if isinstance(event, SeatChanged)]
        assert sorted(sit) == sorted(player for player, game in told.items() if game == game_id)  # type: ignore[type-var]
        assert sum(isinstance(event, GameStarted) for event in events) == 1
        opened = events[0]
        assert isinstance(opened, GameOpened)
        assert opened.commitment == link(await secrets.seed(game_id), 0).hex()


async def nobody_waits(tickets: Tickets) -> bool:
    """Tells whether everybody sits and was told so."""
    return not await tickets.waiting(100) and not await tickets.seated()
