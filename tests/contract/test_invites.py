"""Invites: kept once, found by their code, and over when their time is."""

import asyncio
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from services.ids import new_uuid, public_id
from services.invites import NewInvite, new_code
from tests.appends import new_game
from tests.contract.conftest import World

ANNA = public_id("ply", new_uuid())


def new(code: str, *, valid_s: int = 60, seat: int | None = None, is_hand: bool = False) -> NewInvite:
    return NewInvite(code, new_game(), seat, is_hand, ANNA, valid_s)


async def test_an_invite_is_found_as_it_was_made(world: World) -> None:
    wanted = new(new_code(), seat=2, is_hand=True)
    made = await world.invites.keep(new_uuid(), wanted)
    assert (made.code, made.game_id, made.seat, made.is_hand, made.made_by) == (
        wanted.code, wanted.game_id, 2, True, ANNA,
    )  # fmt: skip
    assert not made.is_expired
    assert abs(made.expires_at - datetime.now(UTC) - timedelta(seconds=60)) < timedelta(seconds=10)
    assert await world.invites.find(wanted.code) == made


async def test_another_code_finds_nothing(world: World) -> None:
    await world.invites.keep(new_uuid(), new(new_code()))
    assert await world.invites.find(new_code()) is None
    assert await world.invites.find("") is None


async def test_one_id_has_one_invite_for_ever(world: World) -> None:
    invite_id = new_uuid()
    first = await world.invites.keep(invite_id, new(new_code()))
    assert await world.invites.keep(invite_id, new(new_code(), seat=1)) == first


async def test_a_players_invites_to_a_game_are_counted_until_their_time_is_over(world: World) -> None:
    wanted = new(new_code())
    other = replace(wanted, made_by=public_id("ply", new_uuid()))
    for each in (wanted, replace(wanted, code=new_code()), replace(wanted, code=new_code(), valid_s=0)):
        await world.invites.keep(new_uuid(), each)
    await world.invites.keep(new_uuid(), replace(other, code=new_code()))
    await world.invites.keep(new_uuid(), new(new_code()))
    await asyncio.sleep(0.01)
    assert await world.invites.living(wanted.game_id, ANNA) == 2
    assert await world.invites.living(wanted.game_id, other.made_by) == 1
    assert await world.invites.living(new_game(), ANNA) == 0


async def test_an_invite_expires(world: World) -> None:
    made = await world.invites.keep(new_uuid(), new(new_code(), valid_s=0))
    await asyncio.sleep(0.01)
    found = await world.invites.find(made.code)
    assert found is not None
    assert found.is_expired
