"""The matcher on real engines: many at once seat everybody once, and one that dies at any step leaves nobody behind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from domain.ruleset import Players
from infra.settings import Settings
from infra.wiring import open_services
from services.matching import match
from services.memory import MemoryLog, MemorySecrets
from services.memory_accounts import MemoryAccounts
from services.memory_lobby import MemoryTickets
from services.ports import Unavailable
from services.tables import Tables
from tests.engines import eventually
from tests.infra.afresh import settings
from tests.infra.quick_match import Dead, Mortal, ask, everybody_sits_once, games_in, nobody_waits

__all__ = ["settings"]


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
async def test_a_matcher_that_dies_at_any_call_leaves_nobody_behind(is_done: bool) -> None:
    """Each call in turn: the next matcher finishes what was begun, and begins nothing twice."""
    deaths = 0
    for dies_at in count(1):
        tickets, log, secrets, accounts = MemoryTickets(), MemoryLog(), MemorySecrets(), MemoryAccounts()
        players = [await ask(tickets, accounts, Players(2, 2)) for _ in range(4)]
        mortal = Mortal(dies_at, is_done=is_done)
        ports = [mortal.of(port) for port in (tickets, Tables(mortal.of(log)).log, secrets, accounts)]
        with suppress(Dead):
            await match(ports[0], Tables(ports[1]), ports[2], ports[3])
        is_dead = mortal.calls >= dies_at
        deaths += is_dead
        await match(tickets, Tables(log), secrets, accounts)
        await everybody_sits_once(tickets, log, log.games, secrets, players, 2)
        assert len(log.games) == 2
        if not is_dead:
            break
    assert deaths > 12


@pytest.fixture
async def matchers(settings: Settings) -> AsyncIterator[list[Any]]:
    """The services of three processes."""
    async with (
        open_services(settings, connections=20) as one,
        open_services(settings, connections=4) as two,
        open_services(settings, connections=4) as three,
    ):
        yield [one, two, three]


async def test_of_many_who_ask_at_once_two_matchers_seat_each_once(settings: Settings, matchers: list[Any]) -> None:
    api, *others = matchers

    async def work(services: Any) -> None:
        tables = Tables(services.log)
        while True:
            await match(services.tickets, tables, services.secrets, services.accounts)

    working = [asyncio.create_task(work(each)) for each in others]
    try:
        asked = (ask(api.tickets, api.accounts, Players(4, 4)) for _ in range(20))
        players = await asyncio.gather(*asked)
        await eventually(lambda: nobody_waits(api.tickets), what="everybody is told")
    finally:
        for task in working:
            task.cancel()
        await asyncio.wait(working)
    assert all(task.cancelled() for task in working), [task.exception() for task in working if not task.cancelled()]
    await everybody_sits_once(
        api.tickets, api.log, await games_in(settings.database_url), api.secrets, list(players), 4
    )


async def test_matchers_that_die_on_a_real_log_are_followed_by_others(settings: Settings) -> None:
    """A part of the calls, since each takes its time: those around the statements that write."""
    async with open_services(settings, connections=8) as services:
        before: set[str] = set()
        for dies_at, is_done in ((4, True), (5, True), (6, False), (7, True), (8, True), (9, False), (9, True)):
            players = [await ask(services.tickets, services.accounts, Players(2, 2), "jokers") for _ in range(2)]
            mortal = Mortal(dies_at, is_done=is_done)
            ports = [mortal.of(port) for port in (services.tickets, services.log, services.secrets, services.accounts)]
            with pytest.raises(Dead):
                await match(ports[0], Tables(ports[1]), ports[2], ports[3])
            await asyncio.gather(
                *(match(services.tickets, Tables(services.log), services.secrets, services.accounts) for _ in range(3))
            )
            [new] = set(await games_in(settings.database_url)) - before
            before.add(new)
            for player in players:
                [ticket] = await services.tickets.of_player(player, 10)
                assert (ticket.state, ticket.game_id) == ("matched", new)


async def test_without_a_database_a_matcher_says_so(settings: Settings) -> None:
    away = replace(settings, database_url="postgresql://127.0.0.1:1/nowhere")
    async with open_services(away) as services:
        with pytest.raises(Unavailable):
            await match(services.tickets, Tables(services.log), services.secrets, services.accounts)
