"""A player who is forgotten between the place at a table and its game, while the matcher dies: who sits there then."""

from contextlib import suppress
from datetime import timedelta
from itertools import count

import asyncpg
import pytest

from domain.events import GameStarted, SeatChanged
from domain.ruleset import Players
from infra.embedded.engines import Engines
from infra.settings import Settings
from infra.wiring import open_services
from services.matching import LEFT_S, match
from services.memory import MemoryLog, MemorySecrets, utc_now
from services.memory_accounts import MemoryAccounts
from services.memory_lobby import MemoryTickets
from services.ports import Accounts, GameLog, Secrets
from services.tables import Tables
from services.tickets import Tickets
from tests.engines import new_database, settings_of
from tests.infra.quick_match import Dead, Mortal, ask


@pytest.fixture
def settings(engines: Engines) -> Settings:
    """Settings of a server whose database is new for this test."""
    return settings_of(engines, new_database(engines))


async def is_led(tickets: Tickets, log: GameLog, player_id: str) -> str | None:
    """Gives the game of a player's one ticket, which has begun; None while it waits."""
    [ticket] = await tickets.of_player(player_id, 10)
    assert ticket.state in ("waiting", "matched")
    if ticket.game_id is not None:
        assert any(isinstance(each.event, GameStarted) for each in await log.read(ticket.game_id))
    return ticket.game_id


async def seats_of(log: GameLog, game_id: str) -> list[tuple[str, str | None]]:
    events = [recorded.event for recorded in await log.read(game_id)]
    return [(event.controller, event.player_id) for event in events if isinstance(event, SeatChanged)]


async def dies(
    dies_at: int, tickets: Tickets, log: GameLog, secrets: Secrets, accounts: Accounts, *, done: bool
) -> bool:
    """Matches until the call at which the process dies; tells whether it has come so far."""
    mortal = Mortal(dies_at, is_done=done)
    ports = [mortal.of(port) for port in (tickets, log, secrets, accounts)]
    with suppress(Dead):
        await match(ports[0], Tables(ports[1]), ports[2], ports[3])
    return mortal.calls >= dies_at


@pytest.mark.parametrize("forgotten", [0, 1], ids=["the first", "the last"])
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_no_bot_sits_down_for_who_was_forgotten_and_the_other_one_waits_again(forgotten: int, done: bool) -> None:
    outcomes = set()
    for dies_at in count(1):
        tickets, log, secrets, accounts = MemoryTickets(), MemoryLog(), MemorySecrets(), MemoryAccounts()
        both = [await ask(tickets, accounts, Players(2, 2)) for _ in range(2)]
        if not await dies(dies_at, tickets, log, secrets, accounts, done=done):
            break
        boris, anna = both.pop(forgotten), both[0]
        await accounts.forget(boris)
        tickets.kept = {each: kept for each, kept in tickets.kept.items() if kept.wanted.player_id != boris}
        await match(tickets, Tables(log), secrets, accounts)
        tickets.now = lambda: utc_now() + timedelta(seconds=LEFT_S + 1)
        await match(tickets, Tables(log), secrets, accounts)
        game_id = await is_led(tickets, log, anna)
        outcomes.add(game_id is None)
        people = {anna, boris}
        if game_id is None:  # she plays with the next one who comes
            clara = await ask(tickets, accounts, Players(2, 2))
            await match(tickets, Tables(log), secrets, accounts)
            game_id, people = await is_led(tickets, log, anna), {anna, clara}
        assert game_id is not None
        assert sorted(await seats_of(log, game_id)) == sorted(("human", each) for each in people)
        assert len(log.games) == 1
    assert outcomes == {False, True}


async def test_who_takes_bots_by_now_plays_with_them(settings: Settings) -> None:
    async with open_services(settings) as services:
        anna, boris = [await ask(services.tickets, services.accounts, Players(2, 2), bots_after_s=0) for _ in range(2)]
        assert await dies(5, services.tickets, services.log, services.secrets, services.accounts, done=False)
        [table] = await services.tickets.seated()
        assert len(table.tickets) == 2
        await services.accounts.forget(boris)
        await match(services.tickets, Tables(services.log), services.secrets, services.accounts)
        game_id = await is_led(services.tickets, services.log, anna)
        assert game_id is not None
        assert await seats_of(services.log, game_id) == [("human", anna), ("bot", None)]


async def test_on_real_engines_the_other_one_waits_again(settings: Settings) -> None:
    """The one who is forgotten takes the row along: the table is told by its empty place."""
    async with open_services(settings) as services:
        ports = (services.tickets, services.log, services.secrets, services.accounts)
        for dies_at, done in ((4, True), (5, True), (6, True)):  # seated; asked for the game; the seed is kept
            anna, boris = [await ask(services.tickets, services.accounts, Players(2, 2)) for _ in range(2)]
            assert await dies(dies_at, *ports, done=done)
            await services.accounts.forget(boris)
            await match(services.tickets, Tables(services.log), services.secrets, services.accounts)
            assert await services.tickets.seated() != []  # who had it may open it still
            await _some_time_goes_by(settings)
            await match(services.tickets, Tables(services.log), services.secrets, services.accounts)
            assert await is_led(services.tickets, services.log, anna) is None
            clara = await ask(services.tickets, services.accounts, Players(2, 2))
            await match(services.tickets, Tables(services.log), services.secrets, services.accounts)
            game_id = await is_led(services.tickets, services.log, anna)
            assert game_id is not None
            assert await seats_of(services.log, game_id) == [("human", anna), ("human", clara)]


async def _some_time_goes_by(settings: Settings) -> None:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute("UPDATE match_ticket SET ended_at = ended_at - interval '1 minute'")
    await connection.close()
