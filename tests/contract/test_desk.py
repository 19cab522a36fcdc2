"""What operators search, and the book of what they have asked for."""

import os

from services.ids import new_uuid, public_id
from services.operating import STALLED_S, Deed, GamesSought
from services.ports import Work
from tests.appends import ANNA, append, keyed, new_game
from tests.contract.conftest import World
from tests.contract.lists import new_player


async def test_a_games_newest_work_row_is_found(world: World) -> None:
    game = new_game()
    assert await world.desk.work(game) is None
    await world.log.append(append(game, 0, work=Work("bots", 5_000)))
    kept = await world.desk.work(game)
    assert kept is not None
    assert (kept.version, kept.kind) == (1, "bots")
    assert kept.due_at is not None
    assert -5 <= kept.overdue_s < 0
    await world.log.append(append(game, 1))
    over = await world.desk.work(game)
    assert over is not None
    assert (over.version, over.kind, over.due_at, over.overdue_s) == (2, None, None, 0)


async def test_players_are_found_by_a_part_of_their_name(world: World) -> None:
    mark = new_uuid().hex[:10]
    ids = [public_id("ply", new_uuid()) for _ in range(3)]
    for player_id, name in zip(ids, (f"Anna {mark}", f"ANNA{mark}", f"Boris {mark}"), strict=True):
        await world.accounts.add_guest(player_id, name, os.urandom(32), ["play"])
    found = await world.desk.players(mark.upper(), None, 10)
    assert {player.player_id for player in found} == set(ids)
    assert [player.player_id for player in found] == sorted(ids, reverse=True)
    assert [player.tokens for player in found] == [1, 1, 1]
    assert await world.desk.players(mark, found[0].player_id, 10) == found[1:]
    assert await world.desk.players(mark, None, 2) == found[:2]
    assert await world.desk.players("%" + mark, None, 10) == []
    assert await world.desk.player(ids[0]) in found
    assert await world.desk.player(new_player()) is None
    assert await world.desk.player("nonsense") is None


async def test_a_suspended_players_tokens_speak_for_nobody_until_they_are_let_in_again(world: World) -> None:
    anna, token = new_player(), os.urandom(32)
    await world.accounts.add_guest(anna, "Anna", token, ["play"])
    [kept] = await world.accounts.tokens(anna)
    for _ in range(2):
        await world.desk.suspend(anna, is_suspended=True)
        assert await world.accounts.principal(token) is None
        assert await world.accounts.living([kept.token_id]) == set()
    found = await world.desk.player(anna)
    assert found is not None
    assert found.suspended_at is not None
    await world.desk.suspend(anna, is_suspended=False)
    assert await world.accounts.principal(token) is not None
    assert await world.accounts.living([kept.token_id]) == {kept.token_id}


async def test_all_tokens_of_a_player_end_together(world: World) -> None:
    anna, boris, tokens = new_player(), new_player(), [os.urandom(32) for _ in range(2)]
    await world.accounts.add_guest(anna, "Anna", tokens[0], ["play"])
    await world.accounts.add_guest(boris, "Boris", tokens[1], ["play"])
    await world.desk.revoke_all(anna)
    assert await world.accounts.principal(tokens[0]) is None
    assert await world.accounts.principal(tokens[1]) is not None


async def test_the_book_tells_what_was_asked_for_the_latest_first(world: World) -> None:
    game, anna = new_game(), new_player()
    await world.desk.note(Deed("read_log", "cli anna", game))
    await world.desk.note(Deed("suspend_player", anna, player_id=anna, reason="because"))
    second, first, *_ = await world.desk.deeds(None, 10)
    assert (first.what, first.operator, first.game_id, first.player_id) == ("read_log", "cli anna", game, None)
    assert (second.what, second.player_id, second.reason) == ("suspend_player", anna, "because")
    assert second.at >= first.at
    assert (await world.desk.deeds(second.number, 1)) == [first]


async def test_a_repeated_request_is_noted_once(world: World) -> None:
    game = new_game()
    for key in ("a", "a", "b"):
        await world.desk.note(Deed("end_game", ANNA, game, request=keyed(key)))
    assert [deed.game_id for deed in await world.desk.deeds(None, 3)].count(game) == 2


async def test_an_unknown_id_finds_no_game(world: World) -> None:
    for sought in (GamesSought(game_id="nonsense"), GamesSought(player_id="nonsense"), GamesSought(game_id=new_game())):
        assert await world.desk.games(sought, None, 10) == []


def test_work_is_given_some_time_before_a_game_counts_as_stalled() -> None:
    assert STALLED_S > 5
