"""One of several processes that play one game: `python -m tests.infra.playing DATABASE_URL GAME SEED`.

Each answers whatever is asked of anybody, so all meet at every decision: the key of an answer is the decision, its body
the move. It says when it has played enough; after a word on its input it prints what it was told and what it sees.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from random import Random

import msgspec
from msgspec import Struct, field

from domain.commands import Answer, Move
from domain.decisions import Decision, open_decisions
from domain.refusals import Refused
from infra.postgres.database import Database
from infra.postgres.lane import Lane
from infra.postgres.log import PostgresLog
from services.hot import Hot
from services.ids import new_uuid
from services.outcomes import KeyReused, Outcome
from services.ports import KeyedRequest
from services.tables import Draft, Tables
from tests.domain.games import at_random

ENOUGH = 150  # events, where the round is not over before


class Told(Struct):
    """What one process has to tell. answers: command and versions of each accepted request."""

    answers: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    lost: int = 0
    version: int = 0
    state: str = ""


@asynccontextmanager
async def opened_log(url: str) -> AsyncIterator[PostgresLog]:
    """Is a log with connections of its own, as each process has them."""
    database, lane = Database(url, size=2, name="test"), Lane(url, name="test append")
    try:
        yield PostgresLog(database, lane)
    finally:
        await lane.close()
        await database.close()


async def play(tables: Tables, game_id: str, seed: int) -> Told:
    """Plays until enough has happened; asserts that no look at the game shows less than an earlier one."""
    told, player, seen = Told(), at_random(Random(seed), share=0.3), 0
    while (hot := await tables.fresh(game_id)).version < ENOUGH and (decisions := open_decisions(hot.game)):
        assert hot.version >= seen
        game = hot.game
        for decision in decisions:
            if outcome := await _answered(tables, game_id, decision, player(game, decision)):
                assert hot.version >= outcome.last
                told.answers[decision.decision_id] = (str(outcome.command_id), outcome.first, outcome.last)
            else:
                told.lost += 1
        seen = hot.version
    return told


def digest(hot: Hot) -> str:
    """Names a game's state."""
    return sha256(msgspec.json.encode(hot.game)).hexdigest()


async def _answered(tables: Tables, game_id: str, decision: Decision, move: Move) -> Outcome | None:
    request = KeyedRequest("ply_anna", "makeMove", decision.decision_id, sha256(msgspec.json.encode(move)).digest())
    try:
        return await tables.carry_out(game_id, _plan(Answer(decision.seat, decision.decision_id, move)), request)
    except (Refused, KeyReused):
        return None


def _plan(answer: Answer) -> Callable[[Draft], None]:
    command_id = new_uuid()
    return lambda draft: draft.carry_out(answer, "player", command_id)


async def main(url: str, game_id: str, seed: int) -> None:
    async with opened_log(url) as log:
        tables = Tables(log)
        told = await play(tables, game_id, seed)
        _say(b"played")
        await asyncio.to_thread(sys.stdin.readline)
        hot = await tables.fresh(game_id)
        told.version, told.state = hot.version, digest(hot)
        _say(msgspec.json.encode(told))


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
