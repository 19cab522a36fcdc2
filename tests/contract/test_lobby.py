"""Finding games, and what became of players: the twin in memory, and the tables that a projector keeps."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from domain.events import GameOpened, SeatChanged
from domain.presets import preset
from services.listings import Standing
from services.lobby import GameFilter, list_games
from services.tables import Tables
from tests.contract.lists import ALL, Lists, lists, new_player, next_game, opened, played, principal, write

__all__ = ["lists"]


@pytest.mark.parametrize("is_projected", [True, False])
async def test_a_game_is_found_as_soon_as_it_was_opened(lists: Lists, is_projected: bool) -> None:
    anna, boris = new_player(), new_player()
    older = await write(lists.log, one := next_game(), opened(one, anna))
    await lists.project()
    game = await write(lists.log, one := next_game(), opened(one, anna))
    if is_projected:
        await lists.project()
    assert (await lists.of(boris))[:2] == [game, older]
    assert await lists.of(anna, GameFilter(mine=True)) == [game, older]
    assert await lists.of(boris, GameFilter(mine=True)) == []


@pytest.mark.parametrize("is_projected", [True, False])
async def test_a_list_shows_a_game_as_its_events_left_it(lists: Lists, is_projected: bool) -> None:
    anna, boris = new_player(), new_player()
    first, *seated = opened(one := next_game(), anna, ruleset="jokers")
    assert isinstance(first, GameOpened)
    first = replace(first, hints=False, spectator_delay_s=30, rematch_of=one)
    game = await write(lists.log, one, [first, *seated])
    before = datetime.now(UTC)
    await lists.project()
    await write(lists.log, game, [SeatChanged(1, "human", boris, None, "taken"), *played(2, winner=1)], after=3)
    if is_projected:
        await lists.project()
    [shown, *_], _ = await list_games(lists.lobby, Tables(lists.log), principal(boris), ALL, None, 100)
    assert (shown.game_id, shown.version, shown.status) == (game, 6, "finished")
    assert (shown.hints, shown.spectator_delay_s, shown.rematch_of) == (False, 30, one)
    assert (shown.rules, shown.opened_by, shown.visibility) == (preset("jokers"), anna, "public")
    assert [(seat.player_id, seat.controller) for seat in shown.seats] == [(anna, "human"), (boris, "human")]
    assert shown.result is not None
    assert (shown.result.winners, shown.result.totals) == ((1,), (0, 10))
    assert abs((before - shown.created_at).total_seconds()) < 60


@pytest.mark.parametrize("is_projected", [True, False])
async def test_a_list_can_be_filtered(lists: Lists, is_projected: bool) -> None:
    anna, ruleset = new_player(), "ten-phases"
    waiting = await write(lists.log, one := next_game(), opened(one, anna, ruleset=ruleset))
    playing = await write(lists.log, one := next_game(), [*opened(one, anna, ruleset=ruleset), *played(2)[:1]])
    finished = await write(lists.log, one := next_game(), [*opened(one, anna), *played(2)])
    if is_projected:
        await lists.project()
    mine = GameFilter(mine=True)
    assert await lists.of(anna, mine) == [finished, playing, waiting]
    assert await lists.of(anna, GameFilter("waiting", mine=True)) == [waiting]
    assert await lists.of(anna, GameFilter("finished", "davis", mine=True)) == [finished]
    assert await lists.of(anna, GameFilter("playing", "davis", mine=True)) == []
    assert await lists.of(anna, GameFilter(None, ruleset, mine=True)) == [playing, waiting]
    assert waiting in await lists.of(new_player(), GameFilter("waiting", ruleset))
    assert waiting not in await lists.of(new_player(), GameFilter("playing", ruleset))


@pytest.mark.parametrize("is_projected", [True, False])
async def test_a_private_game_is_listed_for_its_opener_and_its_players_only(lists: Lists, is_projected: bool) -> None:
    anna, boris, clara, dora = (new_player() for _ in range(4))
    game = await write(lists.log, one := next_game(), opened(one, anna, boris, by=clara, visibility="private"))
    await lists.project()
    await write(lists.log, game, [*played(3)[:1], SeatChanged(1, "human", dora, None, "handed_over")], after=4)
    if is_projected:
        await lists.project()
    everybody = {"anna": anna, "boris": boris, "clara": clara, "dora": dora, "nobody": new_player()}
    assert [name for name, player in everybody.items() if game in await lists.of(player)] == ["anna", "clara", "dora"]
    mine = GameFilter(mine=True)
    assert [name for name, player in everybody.items() if game in await lists.of(player, mine)] == ["anna", "dora"]


async def test_pages_follow_each_other_without_a_gap(lists: Lists) -> None:
    anna = new_player()
    games = [await write(lists.log, one := next_game(), opened(one, anna)) for _ in range(7)]
    await lists.project()
    games += [await write(lists.log, one := next_game(), opened(one, anna)) for _ in range(4)]
    await write(lists.log, games[2], played(2), after=3)
    for limit in (1, 2, 3, 11, 50):
        assert await lists.of(anna, GameFilter(mine=True), limit=limit) == games[::-1]
        assert await lists.of(anna, GameFilter("waiting", mine=True), limit=limit) == [
            game for game in games[::-1] if game != games[2]
        ]


async def test_results_are_summed_up_by_ruleset(lists: Lists) -> None:
    anna, boris = new_player(), new_player()
    games = [
        await write(lists.log, one := next_game(), [*opened(one, anna, boris, ruleset=ruleset), *played(3, winner)])
        for ruleset, winner in (("davis", 0), ("davis", 1), ("jokers", 2))
    ]
    await write(lists.log, one := next_game(), [*opened(one, boris, visibility="private"), *played(2)])
    await write(lists.log, one := next_game(), opened(one, boris))
    await lists.project()
    assert await lists.lobby.standings(boris) == [Standing("davis", 2, 1, 20), Standing("jokers", 1, 0, 10)]
    assert await lists.lobby.standings(anna) == [Standing("davis", 2, 1, 0), Standing("jokers", 1, 0, 0)]
    [last, second] = await lists.lobby.results(boris, 2)
    assert (last.game_id, last.ruleset, last.seat, last.seats, last.score, last.is_won) == (
        games[2], "jokers", 1, 3, 10, False,
    )  # fmt: skip
    assert (second.game_id, second.is_won) == (games[1], True)
    assert abs((datetime.now(UTC) - last.finished_at).total_seconds()) < 60


async def test_a_seat_that_a_bot_has_taken_over_has_no_result(lists: Lists) -> None:
    anna, boris = new_player(), new_player()
    left = SeatChanged(1, "bot", boris, "normal", "abandoned")
    start, *end = played(3)
    await write(lists.log, one := next_game(), [*opened(one, anna, boris), start, left, *end])
    await lists.project()
    assert await lists.lobby.standings(anna) == [Standing("davis", 1, 1, 0)]
    assert await lists.lobby.standings(boris) == []
    assert await lists.lobby.results(new_player(), 5) == []
