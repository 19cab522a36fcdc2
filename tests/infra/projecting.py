"""For tests of the projector: whole games written bit by bit, projectors that die, the rows that they have made."""

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import cache
from itertools import islice
from random import Random
from typing import Any, TypeVar

import asyncpg

from domain.commands import Visibility
from domain.events import Event, GameFinished, GameOpened, SeatChanged
from domain.presets import preset
from domain.simulation import as_bot, play
from infra.postgres.projector import READ_MODELS, PostgresProjectedLog, leading_projector
from infra.settings import Settings
from infra.wiring import Services
from services.codec import encode_event
from services.ids import new_uuid, public_id, uuid_of
from services.ports import Append, NewEvent, Unavailable
from services.projections import Batch, Changes, Projector
from services.relay import Position
from tests.appends import new_game

T = TypeVar("T")

PEOPLE = [public_id("ply", new_uuid()) for _ in range(5)]


@cache
def whole_game(seed: int) -> tuple[Event, ...]:
    """Plays a round or two of bots, on whose seats people sit for the record; a seat changes hands, all is over."""
    random = Random(seed)
    rules = preset(random.choice(["davis", "jokers"]))
    steps = islice(play(rules, ["normal"] * 3, seed, as_bot), 120)
    events = [event for step in steps for event in step.events]
    people = random.sample(PEOPLE, 3)
    seated = [
        SeatChanged(event.seat, "human", people[event.seat], None, "opened")
        if isinstance(event, SeatChanged)
        else event
        for event in events
    ]
    left = SeatChanged(2, "bot", people[2], "normal", "abandoned")
    back = SeatChanged(2, "human", people[2], None, "reclaimed")
    end = [left, back] if seed % 2 else [left]
    return (*seated[:60], *end, *seated[60:], GameFinished((0,), (5, 10, 15)))


class Writer:
    """Appends games bit by bit, all at once; a part of them stays unfinished."""

    def __init__(self, services: Services, seed: int, games: int = 6) -> None:
        self.services = services
        self.random = Random(seed)
        self.rest: dict[str, list[Event]] = {}
        self.heads: dict[str, int] = {}
        for number in range(games):
            game = new_game()
            [opened, *events] = whole_game(seed * 10 + number % 3)
            assert isinstance(opened, GameOpened)
            visible: Visibility = "private" if number == 2 else "public"
            named = GameOpened(game, opened.rules, opened.pace, opened.commitment, 3, PEOPLE[4], visible, "public")
            kept = events if number % 3 else events[: len(events) // 2]
            self.rest[game], self.heads[game] = [named, *kept], 0

    async def write(self, appends: int = 10_000) -> None:
        """Appends so many times to some game."""
        for _ in range(appends):
            if not self.rest:
                return
            game = self.random.choice(sorted(self.rest))
            count = self.random.randint(1, 30)
            now, self.rest[game] = self.rest[game][:count], self.rest[game][count:]
            new = tuple(NewEvent(event, "table", None, new_uuid(), 0) for event in now)
            await self.services.log.append(Append(game, self.heads[game], new))
            self.heads[game] += len(now)
            if not self.rest[game]:
                del self.rest[game]


class Mortal:
    """A log that is lost at a call drawn by lot: before it was carried out, or after."""

    def __init__(self, log: PostgresProjectedLog, random: Random) -> None:
        self.log = log
        self.random = random

    async def place(self) -> Position:
        return await self._mortal(self.log.place())

    async def batch(self, after: Position, limit: int) -> Batch:
        return await self._mortal(self.log.batch(after, limit))

    async def beginning(self, game_id: str, before: int) -> list[Any]:
        return await self._mortal(self.log.beginning(game_id, before))

    async def ratings(self, subjects: Any) -> Any:
        return await self._mortal(self.log.ratings(subjects))

    async def save(self, changes: Changes, place: Position) -> None:
        await self._mortal(self.log.save(changes, place))

    async def _mortal(self, call: Coroutine[Any, Any, T]) -> T:
        fate = self.random.random()
        if fate < 0.04:
            call.close()
            raise Unavailable("lost before")
        answer = await call
        if fate > 0.96:
            raise Unavailable("lost after")
        return answer


class Explaining:
    """A database that counts the blocks that the statement of a page has read."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection
        self.pages = 0
        self.plan = ""

    async def fetch(self, statement: str, *arguments: Any) -> list[Any]:
        if "lobby_game" in statement:
            await self.connection.execute(f"PREPARE page (uuid, uuid, integer, text, text, boolean) AS {statement}")
            given = ", ".join("NULL" if argument is None else f"'{argument}'" for argument in arguments)
            lines = await self.connection.fetch(f"EXPLAIN (ANALYZE, BUFFERS) EXECUTE page ({given})")
            await self.connection.execute("DEALLOCATE page")
            self.plan = "\n".join(line[0] for line in lines)
            top = next(line[0] for line in lines if "Buffers:" in line[0])
            self.pages = sum(int(count) for count in re.findall(r"(?:hit|read)=(\d+)", top))
        return []


async def insert_opened(owner: asyncpg.Connection) -> str:
    """Opens a game on a connection of the test's own."""
    game = new_game()
    opened = GameOpened(game, preset("davis"), whole_game(1)[0].pace, "00", 3, PEOPLE[0], "public", "public")  # type: ignore[union-attr]
    type_, schema, payload = encode_event(opened)
    await owner.execute(
        "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "VALUES ($1, 1, $2, $3, 1, 0, gen_random_uuid(), $4)",
        *(uuid_of("gam", game), type_, schema, payload),
    )
    return game


async def dump(owner: asyncpg.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Reads all rows of the served build."""
    build = await owner.fetchval("SELECT max(build) FROM projection WHERE is_served")
    rows = {table: await owner.fetch(f"SELECT * FROM {table} WHERE build = $1", build) for table in READ_MODELS}
    return {table: sorted(tuple(row)[1:] for row in those) for table, those in rows.items()}


async def place(owner: asyncpg.Connection) -> tuple[int, int]:
    row = await owner.fetchrow("SELECT xid, gseq FROM projection WHERE is_served ORDER BY build DESC LIMIT 1")
    return tuple(row)


async def has_moved(owner: asyncpg.Connection, before: tuple[int, int]) -> bool:
    return await place(owner) > before


async def has_caught_up(owner: asyncpg.Connection) -> bool:
    last = await owner.fetchrow("SELECT xid, gseq FROM event ORDER BY xid DESC, gseq DESC LIMIT 1")
    return await place(owner) == tuple(last)


@asynccontextmanager
async def projecting(settings: Settings) -> AsyncIterator[list[None]]:
    """Projects as the process does until the block ends; gives a list that grows with each look at the log."""
    looks: list[None] = []

    async def work() -> None:
        while True:
            with suppress(Unavailable):
                async with leading_projector(settings.database_url) as log:
                    await Projector(log, lambda: looks.append(None)).run()

    task = asyncio.create_task(work())
    try:
        yield looks
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.result()
