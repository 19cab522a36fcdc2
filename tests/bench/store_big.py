"""Whether a large log slows anything down: `make bench-store-big [SMALL=100000] [BIG=10000000]`, sizes in events.

Two databases of one Postgres are filled by COPY with games of 400 events, their receipts and work rows; then appending
and reading take turns in both. One line a goal; exit code 0. Ten million events need 6 GB, and minutes.
"""

import statistics
import sys
import time
from collections.abc import AsyncIterator
from random import Random
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import uvloop
from msgspec import Struct

from domain.evolve import fold
from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.migrations import migrate
from services.codec import encode_event
from services.ids import new_uuid, public_id
from tests.bench.contest import RUNS, TOO_WIDE, Speed, ratio
from tests.bench.goals import report
from tests.bench.store_appends import LOADED, appends_per_s, opened_log, some_events

SECONDS = 2
AS_FAST = 0.9  # of what it is in the small log
READ_GAMES = 100  # anywhere in the log
OF_A_COMMAND = 4  # events
APART_MS = 10  # between two games' beginnings

COLUMNS = {
    "event": ("game_id", "version", "type", "schema", "actor", "round", "ordinal", "command_id", "payload"),
    "idempotency": (
        "game_id", "principal", "operation", "key", "fingerprint", "command_id", "first_version", "last_version",
    ),
    "work": ("game_id", "version", "kind", "due_at"),
}  # fmt: skip


class Log(Struct):
    """A filled database and the games in it, the oldest first."""

    url: str
    games: list[UUID]


def main(small: int, big: int) -> None:
    with short_folder() as folder:
        server = start_postgres(folder / "postgres", folder)
        try:
            logs = {size: uvloop.run(_filled(server.url, size)) for size in (small, big)}
            appends, loads = ({size: Speed(()) for size in logs} for _ in range(2))
            for _ in range(RUNS):
                for size, log in logs.items():
                    rate = appends_per_s(log.url, tasks=32, events=3, whole=True, seconds=SECONDS)
                    appends[size] = Speed((*appends[size].runs, rate))
                    loads[size] = Speed((*loads[size].runs, uvloop.run(_loads_per_s(log))))
        finally:
            server.stop()
    for what, speeds in (("append", appends), ("load", loads)):
        _report(f"{what}_in_{big}_events_to_{small}", speeds[big], speeds[small])


def _report(name: str, big: Speed, small: Speed) -> None:
    report(name, ratio(big, small), AS_FAST, "x", better="more", noisy=small.spread > TOO_WIDE)
    spreads = f"spread {big.spread:.0%} and {small.spread:.0%}"
    print(f"{name}: {big.median:,.0f} to {small.median:,.0f} a second, {spreads}")  # noqa: T201  this is the output


async def _loads_per_s(log: Log) -> float:
    async with opened_log(log.url) as reader:
        games = [public_id("gam", game) for game in Random(1).sample(log.games, READ_GAMES)]
        times = []
        for game in games * 3:
            began = time.perf_counter()
            fold(recorded.event for recorded in await reader.read(game))
            times.append(time.perf_counter() - began)
    return 1 / statistics.median(times)


async def _filled(server_url: str, size: int) -> Log:
    connection = await asyncpg.connect(server_url)
    await connection.execute(f"CREATE DATABASE log_{size}")
    await connection.close()
    log = Log(urlsplit(server_url)._replace(path=f"/log_{size}").geturl(), _games(size // LOADED))
    await migrate(log.url)
    began = time.monotonic()
    connection = await asyncpg.connect(log.url)
    for table, columns in COLUMNS.items():
        await connection.copy_to_table(table, source=_rows(table, log.games), columns=columns)
    await connection.execute("VACUUM ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()
    print(f"{size:,} events were copied in {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201  this is the output
    return log


def _games(count: int) -> list[UUID]:
    """Makes ids of games that began one after the other until now."""
    luck, now = Random(count), new_uuid().int
    return [
        UUID(int=((now >> 80) - APART_MS * age << 80) | 0x7 << 76 | 0b10 << 62 | luck.getrandbits(62))
        for age in range(count, 0, -1)
    ]


async def _rows(table: str, games: list[UUID]) -> AsyncIterator[bytes]:
    """Gives a table's rows as COPY reads them; every game has the same story."""
    story = "".join({"event": _events, "idempotency": _receipts, "work": _work}[table]()).encode()
    for game in games:
        yield story.replace(b"@", str(game).encode())


def _events() -> list[str]:
    commands = [new_uuid() for _ in range(0, LOADED, OF_A_COMMAND)]
    return [
        "\t".join(
            map(str, ("@", place + 1, type_, schema, 1, 1, place % OF_A_COMMAND, commands[place // OF_A_COMMAND], ""))
        )
        + f"\\\\x{payload.hex()}\n"
        for place, (type_, schema, payload) in enumerate(map(encode_event, some_events(1)))
    ]


def _receipts() -> list[str]:
    return [
        f"@\tply_0123456789abcdefghjkmnpqrs\tmakeMove\t{new_uuid().hex}\t\\\\x{'00' * 32}\t{new_uuid()}"
        f"\t{first}\t{first + OF_A_COMMAND - 1}\n"
        for first in range(1, LOADED, OF_A_COMMAND)
    ]


def _work() -> list[str]:
    return [f"@\t{LOADED}\t5\t2100-01-01T00:00:00Z\n"]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
