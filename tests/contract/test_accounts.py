"""Players, tokens, reserved ids and secrets."""

import asyncio
import os

import pytest

from services.ids import new_uuid, public_id
from services.ports import Principal
from tests.appends import BORIS, keyed, new_game
from tests.contract.conftest import World


def new_player() -> str:
    return public_id("ply", new_uuid())


async def test_a_token_speaks_for_its_player(world: World) -> None:
    anna, token = new_player(), os.urandom(32)
    await world.accounts.add_guest(anna, "Anna", token, ["play", "watch"])
    assert await world.accounts.principal(token) == Principal(anna, "Anna", ("play", "watch"))


async def test_an_unknown_token_speaks_for_nobody(world: World) -> None:
    assert await world.accounts.principal(os.urandom(32)) is None


async def test_names_are_given_for_known_players(world: World) -> None:
    anna, boris = new_player(), new_player()
    await world.accounts.add_guest(anna, "Anna", os.urandom(32), ["play"])
    await world.accounts.add_guest(boris, "Борис 🂱", os.urandom(32), ["play"])
    names = await world.accounts.names([boris, new_player(), "nonsense", anna])
    assert names == {anna: "Anna", boris: "Борис 🂱"}


async def test_two_players_may_have_one_name(world: World) -> None:
    for _ in range(2):
        await world.accounts.add_guest(new_player(), "Anna", os.urandom(32), ["play"])


async def test_a_forgotten_player_has_no_name_and_no_token(world: World) -> None:
    anna, boris, tokens = new_player(), new_player(), [os.urandom(32) for _ in range(2)]
    await world.accounts.add_guest(anna, "Anna", tokens[0], ["play"])
    await world.accounts.add_guest(boris, "Boris", tokens[1], ["play"])
    for _ in range(2):
        await world.accounts.forget(anna)
        assert await world.accounts.names([anna, boris]) == {boris: "Boris"}
        assert await world.accounts.principal(tokens[0]) is None
        assert await world.accounts.principal(tokens[1]) is not None


async def test_the_first_reservation_of_a_key_stays(world: World) -> None:
    request, first = keyed(new_player()), new_uuid()
    assert await world.reservations.reserve(request, first) == (first, request.fingerprint)
    assert await world.reservations.reserve(request, new_uuid()) == (first, request.fingerprint)


async def test_another_principal_reserves_apart(world: World) -> None:
    key, first, second = new_player(), new_uuid(), new_uuid()
    await world.reservations.reserve(keyed(key), first)
    assert (await world.reservations.reserve(keyed(key, principal=BORIS), second))[0] == second


async def test_twenty_reservations_at_once_agree(world: World) -> None:
    request = keyed(new_player())
    kept = await asyncio.gather(*(world.reservations.reserve(request, new_uuid()) for _ in range(20)))
    assert len(set(kept)) == 1


async def test_the_first_seed_stays(world: World) -> None:
    game, seed = new_game(), os.urandom(32)
    await world.secrets.keep(game, seed)
    await world.secrets.keep(game, os.urandom(32))
    assert await world.secrets.seed(game) == seed


async def test_a_game_without_a_seed_has_none(world: World) -> None:
    with pytest.raises(KeyError):
        await world.secrets.seed(new_game())
