"""Ratings: what openskill says of people's public games, in the order in which they ended."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from openskill.models import PlackettLuce

from domain.events import Event, GameFinished, GameOpened, GameStarted, RoundDealt, SeatChanged
from services.lobby import GameFilter, leaderboard
from services.memory_accounts import MemoryAccounts
from services.ratings import PROVISIONAL_BELOW, Rating
from tests.contract.lists import Lists, lists, new_player, next_game, opened, played, write
from tests.engines import eventually

__all__ = ["lists"]

RULESET = "may-i"


def finished(*totals: int) -> list[Event]:
    """Finishes a game: whoever has fewest points wins."""
    return [GameFinished(tuple(n for n, total in enumerate(totals) if total == min(totals)), totals)]


async def play(lists: Lists, people: list[str], totals: tuple[int, ...], *between: Event, **changes: object) -> str:
    """Writes a public game of these people and a bot, who has the last of the totals."""
    game = next_game()
    first, *seats = opened(game, *people, ruleset=RULESET)
    assert isinstance(first, GameOpened)
    start = GameStarted((None,) * len(totals))
    return await write(lists.log, game, [replace(first, **changes), *seats, start, *between, *finished(*totals)])


async def test_a_rating_is_what_openskill_says(lists: Lists) -> None:
    anna, boris, clara = people = [new_player() for _ in range(3)]
    model = PlackettLuce()
    for_sure = {player: model.rating() for player in people}
    games = [
        ([anna, boris, clara], (10, 20, 20, 0), [1, 2, 2]),
        ([boris, clara], (50, 40, 30), [2, 1]),
        ([clara, anna, boris], (5, 15, 10, 99), [1, 3, 2]),
    ]
    for those, totals, ranks in games:
        await play(lists, those, totals)
        rated = model.rate([[for_sure[player]] for player in those], ranks=[float(rank) for rank in ranks])
        for_sure |= {player: new for player, [new] in zip(those, rated, strict=True)}
        await lists.project()
    for player, count in ((anna, 2), (boris, 3), (clara, 3)):
        [kept] = await lists.lobby.ratings(player)
        assert (kept.player_id, kept.ruleset, kept.rating.games) == (player, RULESET, count)
        assert (kept.rating.mu, kept.rating.sigma) == (for_sure[player].mu, for_sure[player].sigma)
        assert kept.rating.ordinal == for_sure[player].ordinal()
        assert kept.rating.is_provisional
    assert not Rating(games=PROVISIONAL_BELOW).is_provisional


async def test_games_that_came_together_are_rated_one_after_the_other(lists: Lists) -> None:
    anna, boris, clara, dora = [new_player() for _ in range(4)]
    for totals in ((1, 2, 0), (3, 2, 0), (1, 5, 0)):
        await play(lists, [anna, boris], totals)
        await play(lists, [clara, dora], totals)
        await lists.project() if totals == (1, 2, 0) else None
    await lists.project()
    for one, other in ((anna, clara), (boris, dora)):
        assert (await lists.lobby.ratings(one))[0].rating == (await lists.lobby.ratings(other))[0].rating


async def test_who_has_won_comes_first_whatever_the_points(lists: Lists) -> None:
    """As in games by phases."""
    anna, boris = new_player(), new_player()
    game, start = next_game(), GameStarted((None,) * 3)
    end = GameFinished((1,), (10, 90, 0))
    await write(lists.log, game, [*opened(game, anna, boris, ruleset=RULESET), start, end])
    await lists.project()
    assert (await lists.lobby.ratings(anna))[0].rating.mu < 25 < (await lists.lobby.ratings(boris))[0].rating.mu


LEFT = SeatChanged(0, "bot", None, "normal", "abandoned")


@pytest.mark.parametrize(
    ("changes", "people"),
    [
        ({"visibility": "private"}, 2),
        ({"spectators": "delayed", "spectator_delay_s": 1}, 2),
        ({"rules": None}, 2),
        ({}, 1),
    ],
    ids=["private", "delayed", "overrides", "against bots"],
)
async def test_some_games_count_for_nothing(lists: Lists, changes: dict[str, object], people: int) -> None:
    anna, boris = new_player(), new_player()
    if "rules" in changes:
        first = opened("gam_", anna, boris, ruleset=RULESET)[0]
        assert isinstance(first, GameOpened)
        changes = {"rules": replace(first.rules, contracts=first.rules.contracts[:1])}
    await play(lists, [anna, boris][:people], (1, 2, 3)[: people + 1], **changes)
    left = [replace(LEFT, seat=0, player_id=anna), replace(LEFT, seat=1, player_id=boris)]
    await play(lists, [anna, boris], (1, 2, 3), *left)
    await lists.project()
    assert await lists.lobby.ratings(anna) == await lists.lobby.ratings(boris) == []


@pytest.mark.parametrize("reason", ["abandoned", "sat_in", "handed_over", "out"])
async def test_who_does_not_keep_the_seat_is_last_and_who_comes_later_is_not_rated(lists: Lists, reason: str) -> None:
    anna, boris, clara = [new_player() for _ in range(3)]
    gone = {
        "abandoned": SeatChanged(0, "bot", anna, "normal", "abandoned"),
        "sat_in": SeatChanged(0, "bot", anna, "normal", "sat_in"),
        "handed_over": SeatChanged(0, "human", clara, None, "handed_over"),
        "out": SeatChanged(0, "open", None, None, "out"),
    }[reason]
    await play(lists, [anna, boris], (0, 50, 99), gone)
    await lists.project()
    [annas], [borises] = await lists.lobby.ratings(anna), await lists.lobby.ratings(boris)
    assert annas.rating.mu < 25 < borises.rating.mu
    assert await lists.lobby.ratings(clara) == []


async def test_who_is_back_at_the_end_has_kept_the_seat(lists: Lists) -> None:
    anna, boris = new_player(), new_player()
    away = SeatChanged(0, "bot", anna, "normal", "sat_in", is_silent=True)
    await play(lists, [anna, boris], (0, 50, 99), away, SeatChanged(0, "human", anna, None, "reclaimed"))
    await lists.project()
    assert (await lists.lobby.ratings(anna))[0].rating.mu > 25


async def test_the_best_come_first_page_by_page_and_the_forgotten_are_gone(lists: Lists) -> None:
    ruleset, people = "liverpool", [new_player() for _ in range(6)]
    accounts = MemoryAccounts()
    for player in people:
        await accounts.add_guest(player, player[-4:], player.encode(), ())
    for one, other in ((0, 1), (2, 3), (4, 5)):  # three winners are equal, and so are the losers
        game, rest = next_game(), [GameStarted((None,) * 3), *finished(1, 2, 3)]
        await write(lists.log, game, [*opened(game, people[one], people[other], ruleset=ruleset), *rest])
    await lists.project()
    winners, losers = sorted(people[::2], reverse=True), sorted(people[1::2], reverse=True)
    for limit in (1, 2, 4, 6, 50):
        assert await everybody(lists, accounts, ruleset, limit) == winners + losers
    await accounts.forget(winners[1])
    for limit in (1, 2, 50):
        assert await everybody(lists, accounts, ruleset, limit) == [winners[0], winners[2], *losers]
    assert await everybody(lists, accounts, "poker-packs", 2) == []


async def everybody(lists: Lists, accounts: MemoryAccounts, ruleset: str, limit: int) -> list[str]:
    """Lists all rated players page by page."""
    found, below = await leaderboard(lists.lobby, accounts, ruleset, None, limit)
    while below is not None:
        more, below = await leaderboard(lists.lobby, accounts, ruleset, below, limit)
        found += more
    assert all(name == each.player_id[-4:] for each, name in found)
    return [each.player_id for each, _ in found]


def dealt(seats: int) -> Event:
    return RoundDealt(1, ((),) * seats, 0, "00", ((),) * seats, None, ())


async def delayed_game(lists: Lists, delay_s: int, *people: str, by: str | None = None) -> str:
    """Writes a game with delayed spectators that is over."""
    game = next_game()
    first, *seats = opened(game, *people, by=by, ruleset="onze")
    assert isinstance(first, GameOpened)
    late = replace(first, spectators="delayed", spectator_delay_s=delay_s)
    start, end = played(len(people) + 1)
    return await write(lists.log, game, [late, *seats, start, dealt(len(people) + 1), end])


@pytest.mark.parametrize("is_projected", [True, False])
async def test_only_who_sits_there_sees_in_lists_that_a_delayed_game_is_over(lists: Lists, is_projected: bool) -> None:
    anna, boris, clara = [new_player() for _ in range(3)]
    await lists.project()
    game = await delayed_game(lists, 3600, anna, by=clara)
    if is_projected:
        await lists.project()
    for player in (boris, clara):
        assert game in await lists.of(player, GameFilter("playing", "onze"))
        assert game in await lists.of(player, GameFilter("playing"))
        assert game not in await lists.of(player, GameFilter("finished", "onze"))
        assert game in await lists.of(player)
    assert game in await lists.of(anna, GameFilter("finished", mine=True))
    assert game in await lists.of(anna, GameFilter("finished", "onze"))
    assert game not in await lists.of(anna, GameFilter("playing", mine=True))
    assert game not in await lists.of(anna, GameFilter("playing"))
    told = await delayed_game(lists, 0, anna)
    if is_projected:
        await lists.project()
    assert told in await lists.of(boris, GameFilter("finished", "onze"))
    assert told not in await lists.of(boris, GameFilter("playing", "onze"))


async def test_no_cursor_tells_of_a_delayed_game_that_is_over(lists: Lists) -> None:
    """A page with one place would otherwise end at that game."""
    anna, boris = new_player(), new_player()
    game = await delayed_game(lists, 3600, anna)
    await lists.project()
    page = await lists.lobby.page(boris, GameFilter("finished", "onze"), None, 1)
    assert game not in [*(each.game_id for each in page.games), page.last_id]


async def test_a_delayed_result_is_told_in_time(lists: Lists) -> None:
    anna = new_player()
    await delayed_game(lists, 3600, anna)
    await delayed_game(lists, 0, anna)
    await lists.project()
    assert [each.games for each in await lists.lobby.standings(anna)] == [1]
    [result] = await lists.lobby.results(anna, 10)
    assert result.told_at is not None
    assert result.told_at - result.finished_at == timedelta(0)
    boris = new_player()
    await delayed_game(lists, 1, boris)
    await lists.project()
    assert (await lists.lobby.standings(boris), await lists.lobby.results(boris, 10)) == ([], [])
    await eventually(lambda: lists.lobby.results(boris, 10))
    assert [each.games for each in await lists.lobby.standings(boris)] == [1]


@pytest.mark.parametrize("is_projected", [True, False])
async def test_who_is_away_finds_the_game_among_their_own(lists: Lists, is_projected: bool) -> None:
    anna, boris = new_player(), new_player()
    await lists.project()
    game = await write(lists.log, one := next_game(), opened(one, anna, boris, visibility="private"))
    await write(lists.log, game, [GameStarted((None,) * 3), SeatChanged(0, "bot", anna, "normal", "sat_in")], after=4)
    if is_projected:
        await lists.project()
    assert game in await lists.of(anna, GameFilter("playing", mine=True))
    await write(lists.log, game, [SeatChanged(1, "open", None, None, "out")], after=6)
    if is_projected:
        await lists.project()
    assert game not in await lists.of(boris)


@pytest.mark.parametrize("is_projected", [True, False])
@pytest.mark.parametrize("visibility", ["public", "private"])
async def test_who_is_invited_finds_a_game_among_their_own_while_it_waits(
    lists: Lists, is_projected: bool, visibility: str
) -> None:
    anna, boris, clara = [new_player() for _ in range(3)]
    await lists.project()
    game, mine = next_game(), GameFilter(mine=True)
    first, *seats = opened(game, anna)
    assert isinstance(first, GameOpened)
    asked = replace(first, visibility=visibility, invited=(anna, boris))
    await write(lists.log, game, [asked, *seats])
    if is_projected:
        await lists.project()
    assert [game in await lists.of(each, mine) for each in (anna, boris, clara)] == [True, True, False]
    assert [game in await lists.of(each) for each in (boris, clara)] == [True, visibility == "public"]
    await write(lists.log, game, [GameStarted((None, None))], after=3)
    if is_projected:
        await lists.project()
    assert [game in await lists.of(each, mine) for each in (anna, boris, clara)] == [True, False, False]
    assert game in await lists.of(boris)
