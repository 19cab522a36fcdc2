"""Postgres is restarted and killed while many write: what was acknowledged stays, and each key is answered the same."""

import asyncio
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from msgspec import Struct, field

from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.embedded.running import Running
from infra.migrations import migrate
from infra.postgres.log import PostgresLog
from services.ids import uuid_of
from services.ports import Append, KeyUsed, Unavailable
from tests.appends import append, keyed, new_game
from tests.engines import eventually, run
from tests.infra.playing import opened_log

GAMES = 40
BEFORE = 2  # moves of each before each blow


class Server(Struct):
    """A Postgres with full durability that can be struck."""

    folder: Path
    running: Running

    async def strike(self, number: signal.Signals) -> None:
        """Sends a signal, and starts the server again when it has ended."""
        os.kill(self.running.pid, number)
        await asyncio.to_thread(self.running.process.wait)
        self.running = start_postgres(self.folder / "postgres", self.folder)


@pytest.fixture
def server() -> Iterator[Server]:
    with short_folder() as folder:
        server = Server(folder, start_postgres(folder / "postgres", folder))
        try:
            run(migrate(server.running.url))
            yield server
        finally:
            server.running.stop()


class Player(Struct):
    """Somebody who moves in a game of their own, each move until it is acknowledged; `moves` are those.

    sent_again: those of them that had no answer at first.
    """

    game: str = field(default_factory=new_game)
    moves: list[Append] = field(default_factory=list)
    sent_again: dict[int, Append] = field(default_factory=dict)

    async def play(self, log: PostgresLog, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            move = append(self.game, 2 * len(self.moves), count=2, request=keyed(f"k{len(self.moves)}"))
            while not await self._is_acknowledged(log, move):
                self.sent_again[move.after] = move
            self.moves.append(move)

    async def _is_acknowledged(self, log: PostgresLog, move: Append) -> bool:
        try:
            await log.append(move)
        except KeyUsed:
            assert move.after in self.sent_again  # an earlier sending has reached the log
        except Unavailable:
            await asyncio.sleep(0.02)
            return False
        return True


@pytest.mark.parametrize(
    "blows",
    [
        pytest.param([signal.SIGKILL, signal.SIGKILL], id="killed"),
        pytest.param([signal.SIGINT, signal.SIGQUIT], id="restarted"),
        pytest.param(
            [signal.SIGKILL, signal.SIGINT, signal.SIGQUIT] * 20, id="again-and-again", marks=pytest.mark.soak
        ),
    ],
)
async def test_nothing_acknowledged_is_lost(server: Server, blows: list[signal.Signals]) -> None:
    players, is_over = [Player() for _ in range(GAMES)], asyncio.Event()
    async with opened_log(server.running.url) as log:
        playing = [asyncio.create_task(player.play(log, is_over)) for player in players]
        for blow in blows:
            await _all_move(players)
            await server.strike(blow)
        await _all_move(players)
        is_over.set()
        await asyncio.gather(*playing)
        await asyncio.gather(*(_compare(log, player) for player in players))
    connection = await asyncpg.connect(server.running.url)
    receipts = await connection.fetch("SELECT game_id, key, command_id, first_version, last_version FROM idempotency")
    await connection.close()
    assert sorted(map(tuple, receipts)) == sorted(
        (uuid_of("gam", player.game), f"k{number}", move.events[0].command_id, move.after + 1, move.after + 2)
        for player in players
        for number, move in enumerate(player.moves)
    )


async def _all_move(players: list[Player]) -> None:
    """Waits until everybody has made some moves more."""
    wanted = [len(player.moves) + BEFORE for player in players]
    await eventually(lambda: all(len(player.moves) >= count for player, count in zip(players, wanted, strict=True)))


async def _compare(log: PostgresLog, player: Player) -> None:
    """Asserts that the log has each acknowledged move once and nothing else, and knows each again."""
    written = defaultdict(list)
    for recorded in await log.read(player.game):
        written[recorded.command_id].append(recorded.version)
    assert written == {move.events[0].command_id: [move.after + 1, move.after + 2] for move in player.moves}
    for move in (*player.sent_again.values(), player.moves[-1]):
        with pytest.raises(KeyUsed):
            await log.append(move)
