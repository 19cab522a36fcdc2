"""Invites: kept once, found by their code, and over when their time is."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

from msgspec.structs import replace

from services.ids import new_uuid, public_id
from services.invites import Invite, NewInvite, new_code
from tests.appends import new_game
from tests.contract.conftest import World

ANNA = public_id("ply", new_uuid())


def new(code: str, *, valid_s: int = 60, seat: int | None = None, is_hand: bool = False) -> NewInvite:
    return NewInvite(code, new_game(), seat, is_hand, ANNA, valid_s)


async def keep(world: World, wanted: NewInvite, invite_id: UUID | None = None) -> Invite:
    """Keeps an invite for which there is room."""
    kept = await world.invites.keep(invite_id or new_uuid(), wanted, 3)
    assert kept is not None
    return kept


async def test_an_invite_is_found_as_it_was_made(world: World) -> None:
    wanted = new(new_code(), seat=2, is_hand=True)
    made = await keep(world, wanted)
    assert (made.code, made.game_id, made.seat, made.is_hand, made.made_by) == (
        wanted.code, wanted.game_id, 2, True, ANNA,
    )  # fmt: skip
    assert not made.is_expired
    assert abs(made.expires_at - datetime.now(UTC) - timedelta(seconds=60)) < timedelta(seconds=10)
    assert await world.invites.find(wanted.code) == made


async def test_another_code_finds_nothing(world: World) -> None:
    await keep(world, new(new_code()))
    assert await world.invites.find(new_code()) is None
    assert await world.invites.find("") is None


async def test_one_id_has_one_invite_for_ever(world: World) -> None:
    invite_id = new_uuid()
    first = await keep(world, new(new_code()), invite_id)
    assert await keep(world, new(new_code(), seat=1), invite_id) == await world.invites.kept(invite_id) == first
    assert await world.invites.kept(new_uuid()) is None


async def test_a_players_invites_to_a_game_are_counted_until_their_time_is_over(world: World) -> None:
    wanted = new(new_code())
    other = replace(wanted, made_by=public_id("ply", new_uuid()))
    for each in (wanted, replace(wanted, code=new_code()), replace(wanted, code=new_code(), valid_s=0)):
        await keep(world, each)
    await keep(world, replace(other, code=new_code()))
    await keep(world, new(new_code()))
    await asyncio.sleep(0.01)
    assert await world.invites.living(wanted.game_id, ANNA) == 2
    assert await world.invites.living(wanted.game_id, other.made_by) == 1
    assert await world.invites.living(new_game(), ANNA) == 0


async def test_of_invites_made_at_once_none_is_one_too_many(world: World) -> None:
    for _ in range(5):  # the first ones come while connections are opened, one after the other
        wanted = new(new_code())
        ids = [new_uuid() for _ in range(30)]
        made = await asyncio.gather(*(world.invites.keep(each, replace(wanted, code=new_code()), 4) for each in ids))
        assert sum(each is not None for each in made) == await world.invites.living(wanted.game_id, ANNA) == 4
        for invite_id, before in zip(ids, made, strict=True):
            assert await world.invites.keep(invite_id, replace(wanted, code=new_code()), 4) == before


async def test_an_invite_expires(world: World) -> None:
    made = await keep(world, new(new_code(), valid_s=0))
    await asyncio.sleep(0.01)
    found = await world.invites.find(made.code)
    assert found is not None
    assert found.is_expired
