"""The API on the twins in memory, and players who call it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import httpx
from litestar import Litestar

from api.house import House
from api.open_streams import Streams
from api.routes import application
from api.server import Server
from services.attendance import AtTables
from services.feed import Feed
from services.following import Following
from services.lag import Lag
from services.limits import MemoryLimit, Quotas
from services.matching import match
from services.memory import MemoryBus, MemoryLog, MemorySecrets, MemoryWorkList
from services.memory_accounts import MemoryAccounts, MemoryInvites, MemoryReservations
from services.memory_desk import MemoryDesk
from services.memory_lobby import MemoryLobby, MemoryTickets
from services.memory_streams import MemoryAttendance, MemoryOrder, MemoryOwnGames, MemoryStreamTickets
from services.memory_webhooks import MemoryWebhooks
from services.ports import FeedEntry
from services.tables import Tables
from services.tending import tend
from tests.described import hold

Json = dict[str, Any]

DAVIS = {"ruleset": "davis", "seats": [{"controller": "you"}, {"controller": "open"}]}


@dataclass(frozen=True)
class World:
    """A house with everything behind it. `alive` is what the other processes report."""

    house: House
    app: Litestar
    log: MemoryLog
    bus: MemoryBus
    accounts: MemoryAccounts
    webhooks: MemoryWebhooks
    secrets: MemorySecrets
    stream_tickets: MemoryStreamTickets
    attendance: MemoryAttendance
    alive: dict[str, bool]

    async def tend(self, game_id: str) -> None:
        """Does what a worker does: deals, scores and plays the bots until a person may act."""
        before = -1
        while (version := (await self.house.tables.fresh(game_id)).version) != before:
            before = version
            await tend(self.house.tables, self.secrets, game_id, now=self.now)

    async def now(self) -> datetime:
        return self.log.now()

    async def match(self) -> None:
        """Does what the matcher does in one step."""
        await match(self.house.tickets, self.house.tables, self.secrets, self.accounts)


class Clock:
    """A clock that the test puts forward and back. tick: how far it goes by itself at each look."""

    def __init__(self, tick: timedelta = timedelta(0)) -> None:
        self.at = datetime.fromisoformat("2026-01-01T12:00:00Z")
        self.tick = tick

    def __call__(self) -> datetime:
        self.at += self.tick
        return self.at


AMPLE = Quotas(
    reads_per_s=100_000,
    reads_burst=100_000,
    costly_read=10,
    moves_per_s=100_000,
    moves_burst=100_000,
    games_per_minute=100_000,
    webhook_tries_per_minute=100_000,
    games_unfinished=100_000,
    guests_per_minute=1_000,
    streams_per_token=1_000,
    streams_per_address=1_000,
    strangers_per_s=100_000,
    strangers_burst=100_000,
)


def new_world(*, quotas: Quotas = AMPLE, heartbeat_s: float = 15.0, lag_s: float = 0.0) -> World:
    """Builds an empty house."""
    log, accounts, secrets = MemoryLog(), MemoryAccounts(), MemorySecrets()
    webhooks = MemoryWebhooks(accounts)
    tables = Tables(log, now=lambda: log.now())  # noqa: PLW0108  tests give the log another clock
    attendance = MemoryAttendance()
    stream_tickets = MemoryStreamTickets(accounts)
    following = Following(MemoryOrder(log))
    alive = dict.fromkeys(("worker", "relay", "clock", "projector"), True)

    def offer(entry: FeedEntry) -> None:
        if entry.recorded is not None:
            tables.offer(entry.recorded)
        following.poke()

    async def processes() -> Mapping[str, bool]:
        return alive

    async def relay_lag() -> Lag:
        await log.heads([])  # where the log is away, so is this
        return Lag(lag_s, is_held_back=False)

    house = House(
        tables=tables,
        secrets=secrets,
        accounts=accounts,
        reservations=MemoryReservations(),
        invites=MemoryInvites(log.now),
        webhooks=webhooks,
        lobby=MemoryLobby(log),
        tickets=MemoryTickets(lambda: log.now()),  # noqa: PLW0108  as above
        desk=MemoryDesk(log, accounts),
        now=MemoryWorkList(log).now,
        feed=Feed(log, offer),
        following=following,
        at_tables=AtTables(attendance, tables, clock=attendance.now),
        own_games=MemoryOwnGames(log),
        stream_tickets=stream_tickets,
        quotas=quotas,
        limits={
            policy: MemoryLimit(quota=quota, window_s=window_s) for policy, (quota, window_s) in quotas.policies.items()
        },
        processes=processes,
        relay_lag=relay_lag,
        streams=Streams(heartbeat_s, per_token=quotas.streams_per_token, per_address=quotas.streams_per_address),
    )
    twins = (log, MemoryBus(log), accounts, webhooks, secrets, stream_tickets, attendance)
    return World(house, application(house), *twins, alive)


class Player:
    """Somebody who calls the API, with a token or without."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.player_id = ""
        self._keys = 0

    async def join(self, name: str) -> "Player":
        """Becomes a guest."""
        guest = await self.sent("POST", "/v1/players", {"name": name})
        self.player_id = guest["player_id"]
        self.http.headers["authorization"] = f"Bearer {guest['token']}"
        return self

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Sends a request; `if_match` is sent as If-Match."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, bytes):
            named.setdefault("content-type", "application/json")
            return await self.http.request(method, path, content=body, headers=named)
        return await self.http.request(method, path, json=body, headers=named)

    async def sent(self, method: str, path: str, body: Any = None, **headers: str) -> Json:
        """Sends a request that must succeed, with a key of its own."""
        headers.setdefault("idempotency_key", self.new_key())
        response = await self.call(method, path, body, **headers)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        answer: Json = response.json()
        return answer

    def new_key(self) -> str:
        self._keys += 1
        return f"key-{self._keys}"

    async def open_game(self, **changes: Any) -> Json:
        return await self.sent("POST", "/v1/games", DAVIS | changes)

    async def view(self, game_id: str) -> Json:
        return await self.sent("GET", f"/v1/games/{game_id}/view")

    async def move(self, game_id: str, decision_id: str, move: Json, **headers: str) -> httpx.Response:
        headers.setdefault("idempotency_key", self.new_key())
        return await self.call(
            "POST", f"/v1/games/{game_id}/moves", {"decision_id": decision_id, "move": move}, **headers
        )

    async def answer(self, game_id: str) -> Json:
        """Sends the first option of the first open decision."""
        decision = (await self.view(game_id))["decisions"][0]
        response = await self.move(game_id, decision["decision_id"], decision["options"][0])
        assert response.status_code == 201, response.text
        answer: Json = response.json()
        return answer


async def with_token(player: Player, *scopes: str, **wishes: Any) -> Player:
    """Has a player make a token with these scopes; from now on they use it."""
    made = await player.sent("POST", "/v1/me/tokens", {"scopes": scopes, **wishes})
    player.http.headers["authorization"] = f"Bearer {made['token']}"
    return player


@asynccontextmanager
async def players(world: World, *names: str) -> AsyncIterator[list[Player]]:
    """Gives players who call the application directly; one called "" has no token."""
    transport = httpx.ASGITransport(app=cast("Any", world.app), client=("203.0.113.7", 5000))
    hooks = {"response": [hold]}
    clients = [httpx.AsyncClient(transport=transport, base_url="http://shanghai", event_hooks=hooks) for _ in names]
    try:
        yield [
            await Player(http).join(name) if name else Player(http) for http, name in zip(clients, names, strict=True)
        ]
    finally:
        for http in clients:
            await http.aclose()


async def dealt_game(world: World, anna: Player, *others: Player, **changes: Any) -> str:
    """Opens a game, seats Anna and the others in this order, starts it and deals; gives its id."""
    seats = [{"controller": "you"}, *({"controller": "open"} for _ in others)]
    game_id: str = (await anna.open_game(seats=seats, **changes))["game_id"]
    for seat, other in enumerate(others, start=1):
        await other.sent("PUT", f"/v1/games/{game_id}/seats/{seat}")
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    return game_id


def free_listener() -> socket.socket:
    """Listens on a free port, on a socket that says it is TCP: asyncio turns Nagle's delays off on such only."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    return listener


@asynccontextmanager
async def serving(world: World, *, send_buffer: int = 0) -> AsyncIterator[tuple[Server, str]]:
    """Serves on a free port, with the feed running; gives the server and its URL.

    send_buffer: so many bytes the system keeps for a client that does not take them; 0 leaves it to the system.
    """
    with free_listener() as listener:
        if send_buffer:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        port = listener.getsockname()[1]
        server = Server(world.app, "127.0.0.1", port, world.house.streams.drain)
        feed = asyncio.create_task(world.house.feed.run(world.bus))
        beside = [asyncio.create_task(work.run()) for work in (world.house.following, world.house.at_tables)]
        serving = asyncio.create_task(server.serve([listener]))
        try:
            await asyncio.wait_for(server.is_up.wait(), timeout=60)
            yield server, f"http://127.0.0.1:{port}"
        finally:
            server.stop()
            await serving
            feed.cancel()
            for task in beside:
                task.cancel()
            await asyncio.wait({feed, *beside})


async def in_turn(game_id: str, *those: Player) -> tuple[Player, Json]:
    """Finds the player in turn, and what they see."""
    for player in those:
        view = await player.view(game_id)
        if view["you"]["seat"] == view["round"]["turn"]:
            return player, view
    raise AssertionError("nobody of those is in turn")


async def asked(game_id: str, kind: str, *those: Player) -> tuple[Player, Json]:
    """Answers decisions, each with its first option, until somebody is asked one of this kind."""
    for _ in range(20):
        for player in those:
            view = await player.view(game_id)
            if any(decision["kind"] == kind for decision in view["decisions"]):
                return player, view
        for player in those:
            if (await player.view(game_id))["decisions"]:
                await player.answer(game_id)
    raise AssertionError(f"nobody is asked to {kind}")


async def until(condition: Callable[[], bool], within_s: float = 5) -> None:
    """Waits for what happens by itself, a little later."""
    for _ in range(int(within_s * 100)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")
