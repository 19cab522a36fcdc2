"""An API on a Postgres whose disk is full: run in a mount namespace of its own by test_full_disk.py.

Twice the disk fills up while games are started: at first a table cannot grow, then the server cannot write ahead and
dies. Each time the API says so, goes on reading where the server still lives, and after some room was made takes the
very same requests. Fails by an assertion.
"""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import asyncpg
import httpx
from msgspec import Struct, field

from api.app import opened_house
from api.routes import application
from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.migrations import migrate
from infra.settings import Settings, read_settings
from infra.wiring import open_services
from services.ids import public_id
from tests.api.world import Player

DISK = "96m"
ROOM = 32 << 10  # bytes that are left
REFUSED = 5  # so many requests are refused before there is room again
GAMES = 200  # more than find their place
WAL = {"max_wal_size": "32MB", "min_wal_size": "32MB"}
SEATS = [{"controller": "you"}, {"controller": "bot", "level": "easy"}, {"controller": "bot", "level": "easy"}]
AT_ONCE_S = 15  # all refusals together; what has no answer would be sent again for 5 s, each of them
EVENTS = {"waiting": 4, "playing": 5}


@contextmanager
def small_disk() -> Iterator[Path]:
    """Is a folder with a disk in it that is soon full."""
    with short_folder() as folder:
        disk = folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", disk], check=True)


@contextmanager
def ballast(folder: Path) -> Iterator[None]:
    """Leaves next to no room on the disk."""
    path = folder / "disk/ballast"
    room = shutil.disk_usage(path.parent).free - ROOM
    path.write_bytes(bytes(max(0, room)))
    try:
        yield
    finally:
        path.unlink()


class Started(Struct):
    """What became of requests to start games: answers, and the games whose start was refused."""

    waiting: list[str]
    answers: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    async def start(self, anna: Player, game_id: str) -> None:
        """Sends a request, which succeeds or is refused in good order; a game has its own key."""
        response = await anna.call("POST", f"/v1/games/{game_id}/start", idempotency_key=game_id)
        if response.status_code == 200:
            self.answers[game_id] = response.json()
            return
        assert (response.status_code, response.json()["code"]) == (503, "unavailable"), response.text
        assert int(response.headers["retry-after"]) > 0
        self.refused.append(game_id)

    async def start_until_refused(self, anna: Player) -> None:
        """Starts games until some were refused."""
        while len(self.refused) < REFUSED:
            await self.start(anna, self.waiting.pop())

    async def repeat(self, anna: Player) -> None:
        """Sends the refused ones again, which succeed now, and some others, which are answered as before."""
        again, self.refused = self.refused, []
        for game_id in again:
            await self.start(anna, game_id)
        assert not self.refused
        for game_id, answer in [*self.answers.items()][-2 * REFUSED :]:
            assert await anna.sent("POST", f"/v1/games/{game_id}/start", idempotency_key=game_id) == answer


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[Player]:
    """Is Anna, at an API without a bus."""
    async with open_services(settings) as services, opened_house(services, settings) as house:
        transport = httpx.ASGITransport(app=cast("Any", application(house)))
        async with httpx.AsyncClient(transport=transport, base_url="http://shanghai") as http:
            yield await Player(http).join("Anna")


async def main(folder: Path) -> None:
    data = folder / "disk/postgres"
    server = start_postgres(data, folder, settings=WAL)
    await migrate(server.url)
    variables = {
        "DATABASE_URL": server.url,
        "REDIS_URL": "unix:///nowhere",
        "SECRET_KEY": "00" * 32,
        "GAMES_UNFINISHED": str(GAMES + 1),
    }
    settings = read_settings({f"SHANGHAI_{name}": value for name, value in variables.items()})
    async with served(settings) as anna:
        games = [await anna.sent("POST", "/v1/games", {"ruleset": "davis", "seats": SEATS}) for _ in range(GAMES)]
        started = Started([game["game_id"] for game in games])
        with ballast(folder):
            began = time.monotonic()
            await started.start_until_refused(anna)
            assert time.monotonic() - began < AT_ONCE_S
            assert "could not extend file" in server.log.read_text()
            assert server.process.poll() is None
            for game in [*started.answers.values()][-REFUSED:]:
                assert await anna.sent("GET", f"/v1/games/{game['game_id']}") == game
        await started.repeat(anna)

        with ballast(folder):
            await _use_up_the_wal(server.url)
            await started.start_until_refused(anna)
            assert "PANIC:  could not write" in server.log.read_text()
        server.stop()
        server = start_postgres(data, folder, settings=WAL)
        await started.repeat(anna)
    try:
        await _compare(server.url, started)
    finally:
        server.stop()


async def _use_up_the_wal(url: str) -> None:
    """Has the server begin new files of its write-ahead log until it finds no room for one."""
    try:
        connection = await asyncpg.connect(url)
        while True:
            await connection.execute("SELECT pg_switch_wal()")
            await connection.execute("CREATE TABLE filler (n integer)")
            await connection.execute("DROP TABLE filler")
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as lost:
        print(f"{type(lost).__name__}: {lost}")  # noqa: T201  shown where the test fails


async def _compare(url: str, started: Started) -> None:
    """Asserts that every start that was answered is whole in the log, and that nothing else is there."""
    connection = await asyncpg.connect(url)
    games = await connection.fetch("SELECT game_id, count(*), max(version) FROM event GROUP BY game_id")
    receipts = await connection.fetch("SELECT key, last_version FROM idempotency")
    works = await connection.fetch("SELECT game_id, max(version) FROM work GROUP BY game_id")
    await connection.close()
    heads = dict.fromkeys(started.waiting, EVENTS["waiting"]) | dict.fromkeys(started.answers, EVENTS["playing"])
    assert {public_id("gam", game): (count, head) for game, count, head in games} == {
        game: (head, head) for game, head in heads.items()
    }
    assert {public_id("gam", game): head for game, head in works} == heads
    assert dict(map(tuple, receipts)) == dict.fromkeys(started.answers, EVENTS["playing"])


if __name__ == "__main__":
    assert os.geteuid() == 0, "runs in a namespace"
    with small_disk() as folder:
        asyncio.run(main(folder))
