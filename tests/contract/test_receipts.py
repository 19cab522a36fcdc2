"""Receipts: a request that is sent again is known."""

import asyncio

import pytest

from services.ids import new_uuid
from services.ports import Append, KeyUsed, Receipt
from tests.appends import ANNA, BORIS, append, drawn, keyed, new_game
from tests.contract.conftest import World


async def test_a_receipt_covers_the_first_command(world: World) -> None:
    game, move = new_game(), new_uuid()
    await world.log.append(append(game, count=4))
    events = (*drawn(count=2, command=move), *drawn(count=3))
    await world.log.append(Append(game, 4, events, request=keyed("k1")))
    assert await world.log.receipt(game, ANNA, "makeMove", "k1") == Receipt(b"f" * 32, move, 5, 6)


@pytest.mark.parametrize("place", [(BORIS, "makeMove", "k1"), (ANNA, "startGame", "k1"), (ANNA, "makeMove", "k2")])
async def test_another_request_has_no_receipt(world: World, place: tuple[str, str, str]) -> None:
    game = new_game()
    await world.log.append(append(game, request=keyed("k1")))
    assert await world.log.receipt(game, *place) is None
    assert await world.log.receipt(new_game(), ANNA, "makeMove", "k1") is None
    assert await world.log.receipt("nonsense", ANNA, "makeMove", "k1") is None


async def test_a_key_is_used_once_by_each_principal(world: World) -> None:
    game = new_game()
    await world.log.append(append(game, 0, request=keyed("k1")))
    with pytest.raises(KeyUsed):
        await world.log.append(append(game, 1, request=keyed("k1")))
    await world.log.append(append(game, 1, request=keyed("k1", principal=BORIS)))
    await world.log.append(append(new_game(), request=keyed("k1")))
    assert await world.log.heads([game]) == {game: 2}


async def test_who_repeats_a_request_too_late_is_told_of_the_key(world: World) -> None:
    game = new_game()
    await world.log.append(append(game, 0, request=keyed("k1")))
    with pytest.raises(KeyUsed):
        await world.log.append(append(game, 0, request=keyed("k1")))


async def test_twenty_at_once_with_one_key_write_once(world: World) -> None:
    game = new_game()
    same = [append(game, 0, count=2, request=keyed("k1")) for _ in range(20)]
    results = await asyncio.gather(*map(world.log.append, same), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["KeyUsed"] * 19 + ["datetime"]
    assert await world.log.heads([game]) == {game: 2}


async def test_keys_may_hold_any_printable_character(world: World) -> None:
    game, key = new_game(), "".join(map(chr, range(33, 127))) + "'\"); --"
    await world.log.append(append(game, request=keyed(key)))
    assert await world.log.receipt(game, ANNA, "makeMove", key) is not None
