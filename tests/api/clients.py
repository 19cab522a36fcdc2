"""Streams of a game without a server: clients that note what they are told, and how."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

from api.connections import Outlet
from api.readers import Reader
from api.streams import story
from tests.api.world import Json, Player, World, until

AT_ONCE, WOKEN = "at once", "by its stream"


@dataclass(eq=False)
class Client:
    """A client that notes what it is told, and how; it is the transport of its own connection."""

    reader: Reader
    told: list[tuple[str, bytes]] = field(default_factory=list)
    is_gone: bool = False

    async def listen(self, *, with_view: bool) -> None:
        async for piece in story(self.reader, with_view=with_view):
            self.told.append((WOKEN, piece))

    def write(self, chunk: bytes) -> None:
        size, _, piece = chunk.partition(b"\r\n")
        assert len(piece) == int(size, 16) + 2 > 2
        assert piece.endswith(b"\r\n")
        self.told.append((AT_ONCE, piece[:-2]))

    def is_closing(self) -> bool:
        return self.is_gone

    def how(self, words: bytes) -> list[str]:
        """Tells how each piece came that holds these words."""
        return [how for how, piece in self.told if words in piece]

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.told)

    @property
    def events(self) -> list[Json]:
        """The events of the game that it was told."""
        return [json.loads(data) for data in re.findall(rb"^id: .*\nevent: .*\ndata: (.*)$", self.body, re.MULTILINE)]


@asynccontextmanager
async def listening(
    world: World, game_id: str, player: Player, *, after: int | None = None, with_view: bool = False, rests: bool = True
) -> AsyncIterator[Client]:
    """Has a stream open, waiting where it `rests`. after: by default what there is by now."""
    caller = await world.house.callers.find(player.http.headers["authorization"].split()[1])
    assert caller is not None
    head = (await world.house.tables.fresh(game_id)).version
    client = Client(Reader(world.house, caller, game_id, head if after is None else after))
    client.reader.outlet = Outlet(client)
    task = asyncio.create_task(client.listen(with_view=with_view))
    try:
        await until(lambda: client.reader.rests if rests else bool(client.told))
        yield client
    finally:
        task.cancel()
        await asyncio.wait({task})


async def move(world: World, game_id: str, *those: Player, random: Random | None = None) -> int:
    """Has somebody answer what they are asked; gives the game's version."""
    for player in those:
        if decisions := (await player.view(game_id))["decisions"]:
            option = random.choice(decisions[0]["options"]) if random else decisions[0]["options"][0]
            assert (await player.move(game_id, decisions[0]["decision_id"], option)).is_success
            break
    await world.tend(game_id)
    return (await world.house.tables.fresh(game_id)).version


async def shown(player: Player, game_id: str, after: int) -> list[Json]:
    """Reads what a player is shown of a game by now."""
    events: list[Json] = (await player.sent("GET", f"/v1/games/{game_id}/events?after={after}"))["items"]
    return events


async def come_to(version: int, *clients: Client) -> None:
    await until(lambda: all(client.reader.sent >= version for client in clients))
