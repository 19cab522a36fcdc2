"""The read models as they are served."""

from math import inf
from typing import Any

import msgspec
from msgspec import Struct

from domain.events import GameOpened
from domain.state import Result, is_over
from domain.view import SeatView
from infra.postgres.database import Database
from infra.postgres.rows import LAST_ID
from infra.sql import statements
from services.codec import TYPE_NUMBERS, decode_event
from services.ids import public_id, uuid_of
from services.listings import LISTED_AT_ONCE, ListedGame, PlayerResult, Standing
from services.lobby import LISTED_AT_MOST, GameFilter, Page, Rated
from services.ratings import Rating

_SQL = statements("projections")
_TAIL = 5_000  # of the events that are not projected yet the last so many are looked at
_TYPES = [TYPE_NUMBERS[type_] for type_ in LISTED_AT_ONCE]

_SHOWN_STATUS = "CASE WHEN told_at > statement_timestamp() AND NOT is_seated THEN 'playing' ELSE status END"
_IS_TOLD = """(
    told_at IS NULL OR told_at <= statement_timestamp() OR EXISTS (
        SELECT FROM lobby_seat AS own
        WHERE (own.build, own.game_id, own.player_id) = (lobby_game.build, lobby_game.game_id, $1) AND own.is_seated
    )
)"""


class Shown(Struct, frozen=True):
    """What of a game changes, as it is stored."""

    seats: tuple[SeatView, ...]
    result: Result | None


decode_shown = msgspec.json.Decoder(Shown).decode
"""Reads what is stored. Errors: ValidationError for what another version of this program has written otherwise."""


async def unprojected(database: Database) -> list[str]:
    """Names the games of which a list does not show yet what it shows at once.

    It is asked for before what is projected, so that no game is missed in between.
    """
    rows = await database.fetch(_SQL["unprojected"], _TYPES, _TAIL, LISTED_AT_MOST)
    return [public_id("gam", row["game_id"]) for row in rows]


class PostgresLobby:
    """A Lobby over the tables that the projector keeps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, player_id: str, wanted: GameFilter, before: str | None, limit: int) -> Page:
        tail = await unprojected(self._database)
        player, oldest = uuid_of("ply", player_id), LAST_ID if before is None else uuid_of("gam", before)
        rows = await self._database.fetch(
            _page(wanted), player, oldest, limit + 1, wanted.status, wanted.ruleset, wanted.mine
        )
        games = [(public_id("gam", row["game_id"]), _listed(row)) for row in rows[:limit] if row["payload"]]
        return Page(
            games=tuple(game for _, game in games if game is not None),
            unprojected=(*tail, *(game_id for game_id, game in games if game is None)),
            last_id=public_id("gam", rows[limit - 1]["game_id"]) if len(rows) > limit else None,
        )

    async def standings(self, player_id: str) -> list[Standing]:
        rows = await self._database.fetch(_SQL["standings"], uuid_of("ply", player_id))
        return [Standing(*row) for row in rows]

    async def results(self, player_id: str, limit: int) -> list[PlayerResult]:
        rows = await self._database.fetch(_SQL["results"], uuid_of("ply", player_id), limit)
        return [PlayerResult(player_id, public_id("gam", game_id), *rest) for game_id, *rest in rows]

    async def ratings(self, player_id: str) -> list[Rated]:
        return [_rated(row) for row in await self._database.fetch(_SQL["ratings"], uuid_of("ply", player_id))]

    async def leaderboard(self, ruleset: str, below: tuple[float, str] | None, limit: int) -> list[Rated]:
        ordinal, player = (inf, LAST_ID) if below is None else (below[0], uuid_of("ply", below[1]))
        return [_rated(row) for row in await self._database.fetch(_SQL["leaderboard"], ruleset, ordinal, player, limit)]


def _rated(row: Any) -> Rated:
    player_id, ruleset, *rating = row
    return Rated(public_id("ply", player_id), ruleset, Rating(*rating))


def _page(wanted: GameFilter) -> str:
    """Writes the statement for one filter: a condition that may be absent would hide its index from the planner."""
    columns = {
        "build": "(SELECT build FROM served)",
        **({"ruleset": "$5"} if wanted.ruleset else {}),
        **({"status": "$4"} if wanted.status else {}),
    }
    ruleset = "ruleset = $5" if wanted.ruleset else "$5::text IS NULL"
    conditions = (f"{_SHOWN_STATUS} = $4" if wanted.status else "$4::text IS NULL", ruleset)
    parts = {
        "{untold}": _SQL["untold"] if wanted.status == "playing" else "",
        "{is_told}": _IS_TOLD if wanted.status and is_over(wanted.status) else "true",
        "{ruleset}": ruleset,
        "{list}": ", ".join(columns),
        "{is_list}": ", ".join(columns.values()),
        "{list_down}": ", ".join(f"{column} DESC" for column in columns),
        "{wanted}": " AND ".join(conditions),
    }
    statement = _SQL["page"]
    for place, part in parts.items():
        statement = statement.replace(place, part)
    return statement


def _listed(row: Any) -> ListedGame | None:
    """Reads a row, or gives None where another version of this program has written it in another shape."""
    try:
        shown = decode_shown(row["shown"])
    except msgspec.ValidationError:
        return None
    opened = decode_event(row["type"], row["schema"], row["payload"])
    assert isinstance(opened, GameOpened)
    return ListedGame(
        game_id=public_id("gam", row["game_id"]),
        version=row["version"],
        status=row["status"],
        rules=opened.rules,
        pace=opened.pace,
        visibility=opened.visibility,
        spectators=opened.spectators,
        opened_by=opened.opened_by,
        seats=shown.seats,
        created_at=row["occurred_at"],
        result=shown.result,
        invited=opened.invited,
        hints=opened.hints,
        spectator_delay_s=opened.spectator_delay_s,
        rematch_of=opened.rematch_of,
        told_at=row["told_at"],
    )
