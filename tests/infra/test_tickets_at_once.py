"""Tickets that one player asks for at the same moment, by the same request or by others, on real engines."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from domain.ruleset import Players
from infra.settings import Settings
from infra.wiring import Services, open_services
from services.identity import create_guest
from services.ids import new_uuid, public_id
from services.limits import TooManyGames
from services.outcomes import KeyReused
from services.ports import KeyedRequest, Principal
from services.tables import Tables
from services.tickets import PACES, AlreadyWaiting, NewTicket, Ticket, ask, cancel

AT_ONCE = 12


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings, connections=12) as services:
        yield services


async def player(services: Services) -> str:
    return (await create_guest(services.accounts, "Anna")).player_id


def request(player_id: str, key: str, body: bytes = b"{}") -> KeyedRequest:
    return KeyedRequest(player_id, "createTicket", key, body)


async def asked(services: Services, wish: KeyedRequest, games: int = 20) -> tuple[Ticket, bool] | type[Exception]:
    token = public_id("tok", new_uuid())
    wanted = NewTicket(wish.principal, token, "davis", Players(2, 2), PACES["live"], None, 0)
    try:
        ports = (services.tickets, services.lobby, Tables(services.log), services.reservations)
        return await ask(*ports, wanted, wish, games)
    except (AlreadyWaiting, TooManyGames, KeyReused) as refused:
        return type(refused)


async def test_one_request_that_is_sent_many_times_at_once_is_one_ticket(services: Services) -> None:
    for _ in range(15):
        anna = await player(services)
        answers = await asyncio.gather(*(asked(services, request(anna, "one")) for _ in range(AT_ONCE)))
        [kept] = await services.tickets.of_player(anna, 50)
        assert [each[0].ticket_id for each in answers if isinstance(each, tuple)] == [kept.ticket_id] * AT_ONCE
        assert await asked(services, request(anna, "one", b"other")) is KeyReused


async def test_of_other_requests_at_once_one_gets_a_ticket_and_the_others_are_told_so(services: Services) -> None:
    for _ in range(5):
        anna = await player(services)
        wishes = [request(anna, f"key-{number}") for number in range(AT_ONCE)]
        answers = await asyncio.gather(*(asked(services, wish) for wish in wishes))
        [kept] = await services.tickets.of_player(anna, 50)
        assert Counter(each[0].ticket_id if isinstance(each, tuple) else each for each in answers) == {
            kept.ticket_id: 1, AlreadyWaiting: AT_ONCE - 1,
        }  # fmt: skip
        for wish, before in zip(wishes, answers, strict=True):
            again = await asked(services, wish)
            told = (again[0].ticket_id, again[1]) if isinstance(again, tuple) else again
            assert told == (AlreadyWaiting if before is AlreadyWaiting else (kept.ticket_id, True))


async def test_who_has_lost_a_race_is_asked_anew_when_the_request_is_repeated(services: Services) -> None:
    """The loser's key has an id already; still it is no repetition of anything that was answered."""
    anna, lost = await player(services), list[KeyedRequest]()
    for _ in range(20):
        wishes = [request(anna, new_uuid().hex) for _ in range(AT_ONCE)]
        answers = await asyncio.gather(*(asked(services, wish) for wish in wishes))
        [won] = [answer[0] for answer in answers if isinstance(answer, tuple)]
        refused = [wish for wish, answer in zip(wishes, answers, strict=True) if answer is AlreadyWaiting]
        lost += [wish for wish in refused if await services.reservations.is_kept(wish)]
        await cancel(services.tickets, Principal(anna, "Anna", ("play",)), won.ticket_id)
        if lost:
            break
    assert await asked(services, lost[0], games=0) is TooManyGames
    answer = await asked(services, lost[0])
    assert isinstance(answer, tuple)
    assert (answer[0].state, answer[1]) == ("waiting", False)
    again = await asked(services, lost[0])
    assert isinstance(again, tuple)
    assert (again[0].ticket_id, again[1]) == (answer[0].ticket_id, True)
