"""An API on a Postgres whose disk is full: run in a mount namespace of its own by test_full_disk.py.

Twice the disk fills up while games are opened: at first a table cannot grow, then the server cannot write ahead and
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
from tests.api.world import Player

DISK = "96m"
ROOM = 256 << 10  # bytes that are left, so that some games still find their place
REFUSED = 5  # so many requests are refused before there is room again
AT_MOST = 3_000  # games that find their place
WAL = {"max_wal_size": "32MB", "min_wal_size": "32MB"}
SEATS = [{"controller": "you"}, {"controller": "bot", "level": "easy"}, {"controller": "open"}]
AT_ONCE_S = 5  # what refusals together take where the server says why; what has no answer is sent again for longer
EVENTS = 4  # of a game that was opened so


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


class Opened(Struct):
    """What became of requests to open a game: their answers, by key, and the keys of those that were refused."""

    answers: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    async def open(self, anna: Player, key: str) -> None:
        """Sends a request, which succeeds or is refused in good order."""
        response = await anna.call("POST", "/v1/games", {"ruleset": "davis", "seats": SEATS}, idempotency_key=key)
        if response.status_code == 201:
            self.answers[key] = response.json()
            return
        assert (response.status_code, response.json()["code"]) == (503, "unavailable"), response.text
        assert int(response.headers["retry-after"]) > 0
        self.refused.append(key)

    async def open_until_refused(self, anna: Player) -> None:
        """Opens games until some were refused."""
        while len(self.refused) < REFUSED:
            assert len(self.answers) < AT_MOST
            await self.open(anna, f"key-{len(self.answers)}-{len(self.refused)}")

    async def repeat(self, anna: Player) -> None:
        """Sends the refused ones again, which succeed now, and the others, which are answered as before."""
        again, self.refused = self.refused, []
        for key in again:
            await self.open(anna, key)
        assert not self.refused
        known = Opened()
        for key in [*self.answers][-2 * REFUSED :]:
            await known.open(anna, key)
            assert known.answers[key] == self.answers[key]


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[Player]:
    """Is Anna, at an API without a bus."""
    async with open_services(settings) as services, opened_house(services, settings) as house:
        transport = httpx.ASGITransport(app=cast("Any", application(house)))
        async with httpx.AsyncClient(transport=transport, base_url="http://shanghai") as http:
            yield await Player(http).join("Anna")


async def main(folder: Path) -> None:
    data, opened = folder / "disk/postgres", Opened()
    server = start_postgres(data, folder, settings=WAL)
    await migrate(server.url)
    variables = {"DATABASE_URL": server.url, "REDIS_URL": "unix:///nowhere", "SECRET_KEY": "00" * 32}
    settings = read_settings({f"SHANGHAI_{name}": value for name, value in variables.items()})
    async with served(settings) as anna:
        with ballast(folder):
            began = time.monotonic()
            await opened.open_until_refused(anna)
            assert time.monotonic() - began < AT_ONCE_S
            assert "could not extend file" in server.log.read_text()
            assert server.process.poll() is None
            for game in [*opened.answers.values()][-REFUSED:]:
                assert await anna.sent("GET", f"/v1/games/{game['game_id']}") == game
        await opened.repeat(anna)

        with ballast(folder):
            await _use_up_the_wal(server.url)
            await opened.open_until_refused(anna)
            assert "PANIC:  could not write" in server.log.read_text()
        server.stop()
        server = start_postgres(data, folder, settings=WAL)
        await opened.repeat(anna)
    try:
        await _compare(server.url, opened)
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


async def _compare(url: str, opened: Opened) -> None:
    """Asserts that every game that was answered is whole in the log, and that nothing else is there."""
    connection = await asyncpg.connect(url)
    games = await connection.fetch(
        "SELECT count(*), max(version), count(DISTINCT command_id) FROM event GROUP BY game_id"
    )
    [[works]] = await connection.fetch("SELECT count(DISTINCT game_id) FROM work")
    await connection.close()
    assert {tuple(game) for game in games} == {(EVENTS, EVENTS, 1)}
    assert len(games) == works == len(opened.answers)
    print(f"{len(games)} games")  # noqa: T201


if __name__ == "__main__":
    assert os.geteuid() == 0, "runs in a namespace"
    with small_disk() as folder:
        asyncio.run(main(folder))
