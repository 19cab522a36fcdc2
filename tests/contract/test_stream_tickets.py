"""Stream tickets: one stream each, used in time, ended with their token, and room for no more than so many."""

import asyncio
import os
from datetime import UTC, datetime, timedelta

import pytest

from services.ids import new_uuid, public_id
from services.ports import NewToken
from services.stream_tickets import TICKETS_AT_MOST, Opens, TicketHolder
from tests.appends import new_game
from tests.contract.conftest import World
from tests.engines import eventually

MINE = Opens(None, with_view=False)


async def token_of(world: World) -> tuple[str, str]:
    """Adds Anna; gives her and her token's ids."""
    anna, token = public_id("ply", new_uuid()), os.urandom(32)
    await world.accounts.add_guest(anna, "Anna", token, ["play", "watch"])
    principal = await world.accounts.principal(token)
    assert principal is not None
    return anna, principal.token_id


async def test_a_ticket_speaks_for_its_token_on_its_stream_only(world: World) -> None:
    anna, token_id = await token_of(world)
    game, ticket = new_game(), os.urandom(32)
    opens = Opens(game, with_view=True)
    times = await world.stream_tickets.make(ticket, token_id, opens)
    assert times is not None
    assert abs(times.use_before_at - datetime.now(UTC) - timedelta(seconds=30)) < timedelta(seconds=10)
    assert times.ends_at - times.use_before_at == timedelta(hours=12, seconds=-30)
    for other in (MINE, Opens(game, with_view=False), Opens(new_game(), with_view=True)):
        assert await world.stream_tickets.use(ticket, other) is None
    assert await world.stream_tickets.use(os.urandom(32), opens) is None
    for turn in (1, 2):
        holder = TicketHolder(anna, "Anna", ("play", "watch"), token_id, None, ticket, turn)
        assert await world.stream_tickets.use(ticket, opens) == holder
        assert await world.stream_tickets.turns([ticket, os.urandom(32)]) == {ticket: turn}


@pytest.mark.parametrize(("bound", "uses"), [("FIRST_USE_S", 0), ("LIFE_S", 1)])
async def test_a_ticket_opens_nothing_when_its_time_is_over(
    world: World, bound: str, uses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for adapter in ("infra.postgres.stream_tickets", "services.memory_streams"):
        monkeypatch.setattr(f"{adapter}.{bound}", 0)
    _, token_id = await token_of(world)
    ticket = os.urandom(32)
    await world.stream_tickets.make(ticket, token_id, MINE)
    held = [await world.stream_tickets.use(ticket, MINE) for _ in range(3)]
    assert [holder is not None for holder in held] == [number < uses for number in range(3)]


async def test_of_several_at_once_each_has_a_turn_of_its_own(world: World) -> None:
    _, token_id = await token_of(world)
    ticket = os.urandom(32)
    await world.stream_tickets.make(ticket, token_id, MINE)
    held = await asyncio.gather(*(world.stream_tickets.use(ticket, MINE) for _ in range(5)))
    assert sorted(holder.turn for holder in held if holder) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("how", ["revoked", "forgotten"])
async def test_a_ticket_ends_with_its_token(world: World, how: str) -> None:
    anna, token_id = await token_of(world)
    ticket = os.urandom(32)
    await world.stream_tickets.make(ticket, token_id, MINE)
    await (world.accounts.revoke(anna, token_id) if how == "revoked" else world.accounts.forget(anna))
    assert await world.stream_tickets.use(ticket, MINE) is None
    assert await world.stream_tickets.make(os.urandom(32), token_id, MINE) is None


async def test_a_ticket_ends_when_its_token_expires(world: World) -> None:
    anna, _ = await token_of(world)
    token_id, ticket = public_id("tok", new_uuid()), os.urandom(32)
    await world.accounts.add_token(anna, os.urandom(32), NewToken(token_id, "", ("watch",), 4), 5)
    assert await world.stream_tickets.make(ticket, token_id, MINE)

    async def is_over() -> bool:
        return await world.stream_tickets.use(ticket, MINE) is None

    await eventually(is_over)


async def test_the_oldest_gives_way(world: World) -> None:
    _, token_id = await token_of(world)
    made = [os.urandom(32) for _ in range(TICKETS_AT_MOST + 2)]
    for ticket in made:
        await world.stream_tickets.make(ticket, token_id, MINE)
    assert list(await world.stream_tickets.turns(made)) != made
    assert set(await world.stream_tickets.turns(made)) == set(made[2:])
