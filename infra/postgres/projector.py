"""The log as its projector reads it, and the read models as they are written."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import astuple

from infra.postgres.followed import FollowedLog
from infra.postgres.leading import PROJECTOR_LOCK, REBUILD_LOCK, Session, StandsBy, Superseded, leading
from infra.postgres.lobby import Shown
from infra.sql import statements
from infra.watching.numbers import PROJECTED
from services.ids import public_id, uuid_of
from services.listings import ListedGame
from services.projections import Batch, Changes, Projector
from services.ratings import RatedGame, Rating, Subject, rate
from services.relay import Position

ROLE = "shanghai_projector"
READ_MODELS = ("lobby_game", "lobby_seat", "player_result", "standing", "rated_game", "rating")

_SQL = statements("projections")
_ROWS_AT_ONCE = 5_000  # so that no transaction holds the relay back for long
_NO_BUILD = 2**31 - 1
_encode = msgspec.json.Encoder().encode


class AheadOfCluster(Exception):
    """The place comes from a cluster that had counted more transactions than this one; the text has the repair."""


class PostgresProjectedLog(FollowedLog):
    """A ProjectedLog on the very connection that holds the leader's lock; what it reads is counted."""

    def __init__(self, session: Session, build: int, epoch: int, place: Position) -> None:
        super().__init__(session, epoch, place)
        self.build = build

    async def batch(self, after: Position, limit: int) -> Batch:
        recorded, place = await super().batch(after, limit)
        PROJECTED.inc(len(recorded))
        return recorded, place

    async def ratings(self, subjects: Collection[Subject]) -> dict[Subject, Rating]:
        columns = _columns(2, [(uuid_of("ply", player), ruleset) for player, ruleset in subjects])
        rows = await self._session.fetch(_SQL["known_ratings"], self.build, *columns)
        return {(public_id("ply", player), ruleset): Rating(*rating) for player, ruleset, *rating in rows}

    async def save(self, changes: Changes, place: Position) -> None:
        if not await self._session.fetch(_SQL["save"], self.build, self._epoch, *place, *_rows(changes)):
            raise Superseded("another projector has taken over")


@asynccontextmanager
async def leading_projector(url: str, *, stands_by: StandsBy = lambda: None) -> AsyncIterator[PostgresProjectedLog]:
    """Waits for the leadership and takes over the served build. Errors: Unavailable, AheadOfCluster."""
    async with leading(url, PROJECTOR_LOCK, name="shanghai projector", role=ROLE, stands_by=stands_by) as session:
        [[build, epoch, xid, gseq, is_ahead]] = await session.fetch(_SQL["take_over"])
        if is_ahead:
            raise AheadOfCluster("the read models come from an older cluster: run shanghai projector --rebuild")
        yield PostgresProjectedLog(session, build, epoch, (xid, gseq))


async def rebuild(url: str) -> int:
    """Makes all read models anew while the served ones go on, switches to them and gives the number of the build.

    A second one waits for the first; what one that was cut short has left is cleared. Errors: Unavailable.
    """
    async with leading(url, REBUILD_LOCK, name="shanghai rebuild", role=ROLE) as session:
        [[served]] = await session.fetch(_SQL["served"])
        await _clear(session, served + 1, _NO_BUILD)
        [[build]] = await session.fetch(_SQL["new_build"])
        archived = await session.fetch(_SQL["archived"])
        for first_id, end_id in archived:
            await _adopt(session, build, first_id, end_id)
        await Projector(PostgresProjectedLog(session, build, 0, (0, 0))).catch_up()
        if archived:
            await _rate_anew(session, build)
        await session.fetch(_SQL["serve"], build)
        await _clear(session, 0, build)
    return int(build)


async def _adopt(session: Session, build: int, first_id: UUID, end_id: UUID) -> None:
    """Takes over the results of one archived month, and the games that ratings are made of."""
    last = [(first_id, UUID(int=0))]
    while last:
        last = await session.fetch(_SQL["adopt"], build, *last[0], end_id, _ROWS_AT_ONCE)
    last_game = [(first_id,)]
    while last_game:
        last_game = await session.fetch(_SQL["adopt_rated"], build, *last_game[0], end_id, _ROWS_AT_ONCE)


async def _rate_anew(session: Session, build: int) -> None:
    """Makes the ratings of a build from its games in their order: those of archived months stand among the others."""
    place, ratings = (0, 0), dict[Subject, Rating]()
    while rows := await session.fetch(_SQL["rated_games"], build, *place, _ROWS_AT_ONCE):
        ratings = rate([_rated_game(row) for row in rows], ratings)
        place = (rows[-1]["xid"], rows[-1]["gseq"])
    rows = _rating_rows(ratings)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        await session.fetch(_SQL["save_ratings"], build, *_columns(6, rows[first : first + _ROWS_AT_ONCE]))


def _rated_game(row: Any) -> RatedGame:
    players = tuple(public_id("ply", player) for player in row["players"])
    return RatedGame(public_id("gam", row["game_id"]), 0, row["ruleset"], players, tuple(row["ranks"]))


async def _clear(session: Session, first: int, end: int) -> None:
    """Removes builds; whoever still projects one of them is superseded first."""
    await session.fetch(_SQL["forget_builds"], first, end)
    for table in READ_MODELS:
        cleared = 1
        while cleared:
            [[cleared]] = await session.fetch(_SQL["clear"].format(table=table), first, end, _ROWS_AT_ONCE)


def _rows(changes: Changes) -> list[list[Any]]:
    """Gives the arguments of the statement `save`: columns of games, of who may know them, of results and ratings."""
    games = [_game_row(game) for game in changes.games]
    people = [
        (player, uuid_of("gam", each.game_id), each.tie)
        for each in changes.acquaintances
        if (player := uuid_of("ply", each.player_id))
    ]
    results = [
        (player, uuid_of("gam", each.game_id), *astuple(each)[2:])
        for each in changes.results
        if (player := uuid_of("ply", each.player_id))
    ]
    return [
        *_columns(7, games),
        *_columns(4, [(*row[:2], row[2] == "seated", row[2] != "known") for row in people if row[2] is not None]),
        *_columns(2, [row[:2] for row in people if row[2] is None]),
        *_columns(9, results),
        *_columns(5, [_rated_row(game) for game in changes.rated]),
        *_columns(6, _rating_rows(changes.ratings)),
    ]


def _game_row(game: ListedGame) -> tuple[Any, ...]:
    shown = _encode(Shown(game.seats, game.result))
    is_public = game.visibility == "public"
    return uuid_of("gam", game.game_id), game.version, game.status, game.rules.name, is_public, shown, game.told_at


def _rated_row(game: RatedGame) -> tuple[Any, ...]:
    players = " ".join(str(uuid_of("ply", player)) for player in game.players)
    return uuid_of("gam", game.game_id), game.version, game.ruleset, players, " ".join(map(str, game.ranks))


def _rating_rows(ratings: Mapping[Subject, Rating]) -> list[tuple[Any, ...]]:
    """Gives ratings as rows, in an order of their own, so that two statements never wait for each other crosswise."""
    return [
        (uuid_of("ply", player), ruleset, rating.mu, rating.sigma, rating.games, rating.ordinal)
        for (player, ruleset), rating in sorted(ratings.items())
    ]


def _columns(width: int, rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [[row[place] for row in rows] for place in range(width)]
