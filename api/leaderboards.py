"""Who plays best."""

from math import isfinite, nan
from typing import Annotated

from msgspec import Meta, Struct

from api.calls import Answer, Call
from api.house import House
from api.patterns import RANK, cursor_like
from api.problems import Failed
from api.requests import strange_cursor
from domain.presets import preset_names
from services.ids import uuid_of
from services.lobby import leaderboard

PLAYERS_AT_MOST = 100


class RatingBody(Struct, frozen=True):
    """How well a player plays one ruleset, higher being better.

    rating: what the player's strength is almost surely above, 0 at the beginning; provisional: after too few games.
    """

    ruleset: str
    rating: float
    games: int
    provisional: bool


class LeaderboardQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of a leaderboard to show."""

    cursor: Annotated[str | None, cursor_like(RANK)] = None
    limit: Annotated[int, Meta(ge=1, le=PLAYERS_AT_MOST)] = 20


class RankedPlayer(Struct, frozen=True):
    """A rated player; rating, games and provisional as on the player's page."""

    player_id: str
    name: str
    rating: float
    games: int
    provisional: bool


class LeaderboardPage(Struct, frozen=True):
    """Players, the best first. A page may be short while `next_cursor` is not null: more may follow."""

    ruleset: str
    items: tuple[RankedPlayer, ...]
    next_cursor: str | None


async def get_leaderboard(house: House, call: Call[LeaderboardQuery, None]) -> Answer[LeaderboardPage]:
    """Lists the players who are rated in a ruleset, the best first.

    What counts are finished public games by the preset without overrides, without delayed spectators, to which at least
    two people sat down. They are rated by their places at the end; who has not kept the seat has the last one, and who
    has come to it later is not rated, nor are bots. The rating is openskill's (Plackett-Luce): mean minus three
    deviations.
    """
    ruleset, query = call.path["name"], call.query
    if ruleset not in preset_names():
        raise Failed("ruleset_not_found")
    below = None if query.cursor is None else _place_of(query.cursor)
    found, after = await leaderboard(house.lobby, house.accounts, ruleset, below, query.limit)
    items = tuple(
        RankedPlayer(
            player_id=each.player_id,
            name=name,
            rating=round(each.rating.ordinal, 2),
            games=each.rating.games,
            provisional=each.rating.is_provisional,
        )
        for each, name in found
    )
    return Answer(LeaderboardPage(ruleset, items, None if after is None else f"{after[0]!r}~{after[1]}"))


def _place_of(cursor: str) -> tuple[float, str]:
    """Reads where a page of a leaderboard begins."""
    number, _, player_id = cursor.partition("~")
    try:
        ordinal = float(number)
    except ValueError:
        ordinal = nan
    if not isfinite(ordinal) or uuid_of("ply", player_id) is None:
        raise strange_cursor()
    return ordinal, player_id
