"""Tables of bots for tests of the workers."""

import os

from domain.commands import Pace, SeatPlan
from domain.presets import preset
from infra.wiring import Services
from services.due import next_work
from services.games import NewGame, open_game, start_game
from services.ids import new_uuid, public_id
from services.ports import KeyedRequest, Principal, WorkKind
from services.tables import Tables
from services.tending import tend


async def started_game(services: Services) -> str:
    """Opens and starts a game of four bots; its first round waits to be dealt."""
    tables = Tables(services.log)
    anna = Principal(public_id("ply", new_uuid()), "Anna", ("play",))
    new = NewGame(
        rules=preset("davis"),
        pace=Pace(bot_delay_ms=0),
        seats=tuple(SeatPlan("bot", None, "easy") for _ in range(4)),
        visibility="public",
        spectators="public",
    )
    key = os.urandom(8).hex()
    hot, _ = await open_game(
        tables, services.secrets, services.reservations, anna, new, KeyedRequest(anna.player_id, "open", key, b"")
    )
    game_id = hot.game.game_id
    await start_game(tables, anna, game_id, KeyedRequest(anna.player_id, "start", key, b""))
    return game_id


async def head(services: Services, game_id: str) -> int:
    return (await services.log.heads([game_id]))[game_id]


async def play_until(services: Services, game_id: str, kind: WorkKind) -> None:
    """Plays until this kind of work is the next."""
    tables = Tables(services.log)
    while True:
        hot = await tables.fresh(game_id)
        work = next_work(hot.game, hot.when)
        assert work is not None
        if work.kind == kind:
            return
        await tend(tables, services.secrets, game_id, now=services.work.now)
