"""People at tables, as a frontend would have it: one stream with views for each, and moves."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from random import Random
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from infra.beside import beside
from infra.load.measured import BOT_WAIT_S, Measured
from infra.load.wire import Answer, Lost, Wire

TABLES_OF_ONE = 40  # at which one player sits at once
OPENED_AT_ONCE = 16
_RETRY_S = 0.5
_LOSSES = 5  # of one request's connection; then the server is away
_OPENING_S = 600.0  # so long the tables may take to fill


class Plan(Struct, frozen=True):
    """What is to go on. humans, bots: of each game; rate: moves a second of all people together."""

    url: str
    games: int
    humans: int
    bots: int
    rate: float
    seconds: float
    ruleset: str = "davis"


class CannotLoad(Exception):
    """The server does not let the tables be filled; the text has its code."""


class Pacer:
    """Gives everybody's moves their turns, so many a second."""

    def __init__(self, rate: float) -> None:
        self._every_s = 1 / rate
        self._next = time.monotonic()

    async def turn(self) -> None:
        """Waits for the next turn; turns that nobody wanted are gone."""
        now = time.monotonic()
        self._next = max(self._next, now) + self._every_s
        await asyncio.sleep(self._next - self._every_s - now)


class Player(Struct, frozen=True):
    """A guest. The token stays in here."""

    wire: Wire
    token: str

    async def send(self, method: str, path: str, body: object = None, key: str = "") -> Answer:
        """Sends a request, by default with a key of its own."""
        return await self.wire.send(method, path, token=self.token, key=key or uuid4().hex, body=body)

    def __repr__(self) -> str:
        """Is a player without the token."""
        return "Player()"


async def play(plan: Plan, measured: Measured, luck: Random, filled: Callable[[], Awaitable[None]]) -> None:
    """Fills all tables, says so, then keeps them going for the time of the plan. Errors: CannotLoad."""
    async with asyncio.timeout(_OPENING_S):
        players = await _players(plan)
    opening, pacer, begin = asyncio.Semaphore(OPENED_AT_ONCE), Pacer(plan.rate), asyncio.Event()
    try:
        async with asyncio.TaskGroup() as tables:
            running = [
                tables.create_task(_table(plan, measured, pacer, luck, seated, opening, begin))
                for seated in itertools.islice(itertools.cycle(players), plan.games)
            ]
            deadline = time.monotonic() + _OPENING_S
            while measured.games_opened < plan.games:
                if time.monotonic() > deadline:
                    raise CannotLoad(
                        f"{measured.games_opened} of {plan.games} games were open after {_OPENING_S:.0f} s"
                    )
                await asyncio.sleep(0.05)
            await filled()
            begin.set()
            await asyncio.sleep(plan.seconds)
            for table in running:
                table.cancel()
    finally:
        for player in itertools.chain.from_iterable(players):
            player.wire.close()


async def _players(plan: Plan) -> list[list[Player]]:
    """Makes guests, as many as sit at one table, for each so many tables."""
    groups = -(-plan.games // TABLES_OF_ONE)
    return [[await _guest(plan.url, f"Guest {group}-{seat}") for seat in range(plan.humans)] for group in range(groups)]


async def _guest(url: str, name: str) -> Player:
    wire = Wire(url)
    answer = await _insisted(Player(wire, ""), "/v1/players", {"name": name})
    return Player(wire, str(answer["token"]))


async def _insisted(player: Player, path: str, body: object, method: str = "POST") -> dict[str, Any]:
    """Sends until it is done, as slowly as the server wants it: a long run must not end with one broken connection.

    Errors: CannotLoad for any other refusal, and for a server that is not there.
    """
    key, losses = uuid4().hex, 0
    while True:
        try:
            answer = await player.send(method, path, body, key)
        except Lost as lost:
            losses += 1
            if losses == _LOSSES:
                raise CannotLoad(f"{player.wire.base_url} does not answer: {lost}") from lost
            await asyncio.sleep(_RETRY_S)
            continue
        if 200 <= answer.status < 300:
            return msgspec.convert(answer.body, dict[str, Any])
        if answer.status not in (429, 503):
            raise CannotLoad(f"{path}: {_code(answer)}")
        await asyncio.sleep(float(answer.headers.get("retry-after", _RETRY_S)))


async def _table(
    plan: Plan,
    measured: Measured,
    pacer: Pacer,
    luck: Random,
    seated: list[Player],
    opening: asyncio.Semaphore,
    begin: asyncio.Event,
) -> None:
    """Plays one game after the other, the first from when all tables are filled."""
    while True:
        async with opening:
            game_id = await _opened(plan, seated)
        measured.games_opened += 1
        await begin.wait()
        async with asyncio.TaskGroup() as people:
            for seat, player in enumerate(seated):
                people.create_task(_person(game_id, player, measured, pacer, luck, is_first=seat == 0))
        measured.games_over += 1


async def _opened(plan: Plan, seated: list[Player]) -> str:
    seats = [{"controller": "you"}, *[{"controller": "open"}] * (len(seated) - 1)]
    bots = [{"controller": "bot", "level": "normal"}] * plan.bots
    game = await _insisted(seated[0], "/v1/games", {"ruleset": plan.ruleset, "seats": [*seats, *bots]})
    path = f"/v1/games/{game['game_id']}"
    for seat, player in enumerate(seated[1:], start=1):
        await _insisted(player, f"{path}/seats/{seat}", {}, "PUT")
    await _insisted(seated[0], f"{path}/start", None)
    return str(game["game_id"])


class Asked:
    """What a person is asked at the moment."""

    def __init__(self) -> None:
        self.decisions: dict[str, dict[str, Any]] = {}
        self.news = asyncio.Event()

    def show(self, view: bytes) -> None:
        """Takes the newest view."""
        self.decisions = {one["decision_id"]: one for one in msgspec.json.decode(view)["decisions"]}
        self.news.set()


async def _person(
    game_id: str, player: Player, measured: Measured, pacer: Pacer, luck: Random, *, is_first: bool
) -> None:
    """Follows the game to its end and answers whatever is asked; one of the table looks after the bots' times too."""
    path, asked, bots = f"/v1/games/{game_id}", Asked(), Bots(measured)
    async with beside(_answer(path, player, asked, measured, pacer, luck)):
        while True:
            try:
                live_from = 0
                async for kind, data in player.wire.stream(f"{path}/stream?view=1", token=player.token):
                    if kind == "hello":
                        live_from = msgspec.json.decode(data)["version"]
                    elif kind == "view":
                        asked.show(data)
                    elif kind == "bye" and msgspec.json.decode(data)["reason"] == "game_over":
                        return
                    elif b'"occurred_at"' in data:
                        event = msgspec.json.decode(data)
                        if event["version"] > live_from:
                            measured.arrived(event["occurred_at"])
                            bots.note(event, counts=is_first)
            except Lost:
                measured.streams_broken += 1
            await asyncio.sleep(_RETRY_S)


async def _answer(path: str, player: Player, asked: Asked, measured: Measured, pacer: Pacer, luck: Random) -> None:
    """Answers each decision once, by any option but rather by laying down."""
    answered: set[str] = set()
    while True:
        await asked.news.wait()
        asked.news.clear()
        for name in [name for name in asked.decisions if name not in answered]:
            await pacer.turn()
            if decision := asked.decisions.get(name):  # it may have been closed while its turn was waited for
                answered.add(name)
                best = [option for option in decision["options"] if option["kind"] in ("lay_down", "lay_off")]
                move = luck.choice(best or decision["options"])
                await _move(path, player, {"decision_id": name, "move": move}, measured)


async def _move(path: str, player: Player, body: object, measured: Measured) -> None:
    began = measured.now
    try:
        answer = await player.send("POST", f"{path}/moves", body)
    except Lost:
        measured.turned_away["lost"] += 1
        return
    if answer.status == 201:
        measured.moves.add(measured.now, measured.now - began)
    else:
        measured.turned_away[f"{answer.status} {_code(answer)}"] += 1


class Bots:
    """Watches one game's events for how long its bots let people wait."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._turn: tuple[int, float] | None = None
        self._last_actor = ""

    def note(self, event: dict[str, Any], *, counts: bool) -> None:
        """Takes the next event; of a table's people one counts."""
        if not counts:
            return
        at = datetime.fromisoformat(event["occurred_at"]).timestamp()
        if event["kind"] == "turn_began" and self._last_actor == "player":
            self._turn = (event["seat"], at)
        elif self._turn and event["actor"] == "bot" and event["seat"] == self._turn[0]:
            if at - self._turn[1] < BOT_WAIT_S:
                self._measured.bots.add(self._measured.now, at - self._turn[1])
            self._turn = None
        elif event["actor"] == "player":
            self._turn = None
        self._last_actor = event["actor"]


def _code(answer: Answer) -> str:
    return str(answer.body.get("code", "")) if isinstance(answer.body, dict) else ""
