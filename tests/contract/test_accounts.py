"""Players, tokens, reserved ids and secrets."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.ids import new_uuid, public_id
from services.ports import NewToken, Principal
from tests.appends import BORIS, keyed, new_game
from tests.contract.conftest import World
from tests.contract.lists import new_player


async def test_a_token_speaks_for_its_player(world: World) -> None:
    anna, token = new_player(), os.urandom(32)
    await world.accounts.add_guest(anna, "Anna", token, ["play", "watch"])
    principal = await world.accounts.principal(token)
    [kept] = await world.accounts.tokens(anna)
    assert principal == Principal(anna, "Anna", ("play", "watch"), kept.token_id, None)


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


async def test_a_player_takes_another_name(world: World) -> None:
    anna, token = new_player(), os.urandom(32)
    await world.accounts.add_guest(anna, "Anna", token, ["play"])
    assert await world.accounts.rename(anna, "Анна")
    assert await world.accounts.names([anna]) == {anna: "Анна"}
    assert not await world.accounts.rename(new_player(), "Nobody")


def wanted(*scopes: str, **wishes: Any) -> NewToken:
    return NewToken(public_id("tok", new_uuid()), "bot", scopes, **wishes)


async def test_a_token_is_added_listed_and_revoked(world: World) -> None:
    anna, boris, hashes = new_player(), new_player(), [os.urandom(32) for _ in range(3)]
    await world.accounts.add_guest(anna, "Anna", hashes[0], ["play"])
    await world.accounts.add_guest(boris, "Boris", hashes[1], ["play"])
    new = wanted("bot", "watch")
    kept = await world.accounts.add_token(anna, hashes[2], new, 50)
    assert kept is not None
    assert (kept.token_id, kept.label, kept.scopes, kept.expires_at) == (new.token_id, "bot", ("bot", "watch"), None)
    first, second = await world.accounts.tokens(anna)
    assert second == kept
    principal = await world.accounts.principal(hashes[2])
    assert principal == Principal(anna, "Anna", ("bot", "watch"), kept.token_id, None)
    both = [first.token_id, kept.token_id]
    assert await world.accounts.living([*both, "tok_nonsense"]) == set(both)
    assert not await world.accounts.revoke(boris, kept.token_id)
    assert not await world.accounts.revoke(anna, public_id("tok", new_uuid()))
    for _ in range(2):
        assert await world.accounts.revoke(anna, kept.token_id)
        assert await world.accounts.principal(hashes[2]) is None
        assert await world.accounts.living(both) == {first.token_id}
        assert await world.accounts.tokens(anna) == [first]


async def test_a_token_expires_no_later_than_the_one_that_asked(world: World) -> None:
    anna = new_player()
    await world.accounts.add_guest(anna, "Anna", os.urandom(32), ["play"])
    soon = datetime.now(UTC) + timedelta(seconds=30)
    kept = [
        await world.accounts.add_token(anna, os.urandom(32), wanted("play", valid_s=valid_s, expires_at=soon), 50)
        for valid_s in (10, 60, None)
    ]
    ends = [token.expires_at for token in kept if token is not None and token.expires_at is not None]
    assert ends[0] < soon
    assert ends[1:] == [soon, soon]


async def test_an_expired_token_speaks_for_nobody_and_makes_room(world: World) -> None:
    anna, over = new_player(), os.urandom(32)
    await world.accounts.add_guest(anna, "Anna", os.urandom(32), ["play"])
    past = datetime.now(UTC) - timedelta(seconds=1)
    expired = await world.accounts.add_token(anna, over, wanted("play", expires_at=past), 2)
    assert expired is not None
    assert await world.accounts.principal(over) is None
    assert await world.accounts.living([expired.token_id]) == set()
    assert await world.accounts.add_token(anna, os.urandom(32), wanted("play"), 2) is not None
    assert await world.accounts.add_token(anna, os.urandom(32), wanted("play"), 2) is None
    assert not await world.accounts.revoke(anna, expired.token_id)  # cleared away


async def test_of_tokens_added_at_once_none_is_one_too_many(world: World) -> None:
    anna = new_player()
    await world.accounts.add_guest(anna, "Anna", os.urandom(32), ["play"])
    made = (world.accounts.add_token(anna, os.urandom(32), wanted("play"), 4) for _ in range(12))
    assert sum(each is not None for each in await asyncio.gather(*made)) == 3  # beside the one she began with


async def test_nobody_who_is_forgotten_gets_a_token(world: World) -> None:
    anna = new_player()
    await world.accounts.add_guest(anna, "Anna", os.urandom(32), ["play"])
    tokens = [os.urandom(32) for _ in range(10)]
    await asyncio.gather(
        *(world.accounts.add_token(anna, token, wanted("play"), 50) for token in tokens),
        world.accounts.forget(anna),
    )
    await world.accounts.forget(anna)
    assert [await world.accounts.principal(token) for token in tokens] == [None] * 10
    assert await world.accounts.add_token(anna, os.urandom(32), wanted("play"), 50) is None


async def test_unfinished_games_are_those_that_were_opened_and_are_not_over(world: World) -> None:
    anna, games = new_player(), [new_uuid() for _ in range(4)]
    requests = [keyed(new_player(), principal=anna, operation=operation) for operation in OPENS]
    for request, game in zip(requests, games, strict=True):
        assert not await world.reservations.is_kept(request)
        await world.reservations.reserve(request, game)
        assert await world.reservations.is_kept(request)
    assert set(await world.reservations.unfinished(anna, 10)) == set(games[:3])
    assert len(await world.reservations.unfinished(anna, 2)) == 2
    await world.reservations.finish(games[:2])
    assert await world.reservations.unfinished(anna, 10) == [games[2]]
    assert await world.reservations.unfinished(new_player(), 10) == []


async def test_of_games_asked_for_at_once_none_is_one_too_many(world: World) -> None:
    for _ in range(5):  # the first ones come while connections are opened, one after the other
        anna = new_player()
        requests = [keyed(new_player(), principal=anna, operation=OPENS[number % 2]) for number in range(30)]
        kept = await asyncio.gather(*(world.reservations.reserve_game(each, new_uuid(), 4) for each in requests))
        assert sum(each is not None for each in kept) == len(await world.reservations.unfinished(anna, 30)) == 4
        for request, before in zip(requests, kept, strict=True):
            assert await world.reservations.reserve_game(request, new_uuid(), 4) == before
            assert await world.reservations.is_kept(request) == (before is not None)


OPENS = ("createGame", "rematch", "createGame", "createInvite")


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
