"""Moves as people and bots make them, through the whole product on this machine: `make bench-moves`.

Its peer answers the same requests with the same token, body and answer, and does nothing else.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec import Struct

from infra.embedded.ports import free_port
from tests.bench.goals import report
from tests.bench.wire import Wire, wire
from tests.e2e.client import Client
from tests.stack_watching import command, descendants

Json = dict[str, Any]

GAMES = 32  # at once, each of two people
SECONDS = 4.0  # of a run
RUNS = 5
TOO_WIDE = 0.25  # a peer that varies more than this is no measure
SLOW = {"claim_window_s": 60, "turn_s": 600}
BOT_GAMES = 20
BOT_TURNS = 60
CREATED = 201


class Load(Struct):
    """What a run brought: moves, the seconds that each took, the CPU of the server's process for all."""

    moves: int
    took: list[float]
    seconds: float
    cpu_s: float

    @property
    def moves_per_s(self) -> float:
        """Moves in a second of the clock."""
        return self.moves / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of CPU for a move."""
        return self.cpu_s * 1000 / self.moves


class Pair(Struct):
    """Two people at a table, the tokens by seat; decision: what is asked next. drawn: the card to put down again."""

    game_id: str
    tokens: list[str]
    decision: str = ""
    drawn: str = ""


def main() -> None:
    """Measures moves of people beside the peer, then bots."""
    with tempfile.TemporaryDirectory(prefix="shanghai-bench-") as folder, running(Path(folder)) as (base_url, api):
        report_people(base_url, api)
        report("bot_answer_p50", statistics.median(bot_answers_ms(base_url)), 15, "ms")
        report("bot_moves_over_20_games", bot_moves_per_s(base_url), 300, "/s", better="more")


def report_people(base_url: str, api: int) -> None:
    """Prints how fast people move, and what a move costs beside the peer."""
    runs = list(alternating(base_url, api))
    ours, theirs = [our for our, _ in runs], [their for _, their in runs]
    cpu = [their.cpu_ms for their in theirs]
    report("moves_over_http", statistics.median(run.moves_per_s for run in ours), 1000, "/s", better="more")
    ratio = statistics.median(our.cpu_ms / their.cpu_ms for our, their in runs)
    report("cpu_of_a_move_to_constant_handler", ratio, 4, "x", noisy=is_wide(cpu))
    took = sorted(took for run in ours for took in run.took)
    p50, p99 = (took[len(took) * part // 100] * 1000 for part in (50, 99))
    our_cpu, their_cpu = statistics.median(run.cpu_ms for run in ours), statistics.median(cpu)
    print(  # noqa: T201  this is the output
        f"moves: p50 {p50:.1f} ms, p99 {p99:.1f} ms; CPU {our_cpu:.2f} ms a move, constant handler {their_cpu:.2f} ms"
    )


def is_wide(peer: Sequence[float]) -> bool:
    """Tells whether a peer's own figures vary too much to judge by them."""
    return (max(peer) - min(peer)) / statistics.median(peer) > TOO_WIDE


@contextmanager
def running(folder: Path) -> Iterator[tuple[str, int]]:
    """Is a whole server; gives its URL and the API's process."""
    port = free_port()
    with command("-m", "infra.cli", "up", "--port", str(port), "--data", folder) as server:
        server.line("ready", within_s=60)
        yield f"http://127.0.0.1:{port}", process(server.process.pid, "-m api")


def process(below: int, words: str) -> int:
    """Finds the process below another one with these words in its command line."""
    for pid in descendants(below):
        if Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().rstrip().endswith(words):
            return pid
    raise LookupError(words)


def seated(base_url: str, games: int) -> list[Pair]:
    """Opens games of the same two people, deals, and lets the first take the upcard: from then on nobody has claims."""
    pairs = []
    with Client(base_url, "Anna") as anna, Client(base_url, "Boris") as boris:
        for _ in range(games):
            game_id = anna.open_game("davis", "you", "open", pace=SLOW, spectators="public")
            boris.sent("PUT", f"/v1/games/{game_id}/seats/1", {})
            anna.sent("POST", f"/v1/games/{game_id}/start")
            pairs.append(Pair(game_id, [anna.token, boris.token]))
        for pair in pairs:
            while not pair.decision:
                for client in (anna, boris):
                    take_upcard(client, pair)
    return pairs


def take_upcard(client: Client, pair: Pair) -> None:
    """Takes the upcard if that is asked of this player; another card will be put down."""
    view = client.view(pair.game_id)
    for decision in view["decisions"]:
        if decision["kind"] == "draw":
            answer = client.move(pair.game_id, decision, {"kind": "take_discard"}).json()
            pair.drawn = view["you"]["hand"][0]
            take_in(pair, answer["events"])


def take_in(pair: Pair, events: list[Json]) -> None:
    """Learns what is asked next from the events of a move; nothing where the round is over."""
    pair.decision = ""
    for event in events:
        if event["kind"] == "card_drawn":
            seat, pair.decision = event["seat"], f"play-{event['version']}-{event['seat']}"
            pair.drawn = pair.drawn if event["data"]["source"] == "discard" else event["data"]["card"]
        elif event["kind"] == "turn_began":
            seat, pair.decision = event["seat"], f"draw-{event['version']}-{event['seat']}"
        else:
            continue
        assert 0 <= seat < len(pair.tokens)


def alternating(base_url: str, api: int) -> Iterator[tuple[Load, Load]]:
    """Measures ourselves and the peer in turn, ourselves at new tables: a round has some hundred moves."""
    for _ in range(RUNS):
        pairs = seated(base_url, GAMES)
        ours = asyncio.run(load(base_url, api, pairs))
        with constant(pairs[0]) as (peer_url, peer, tokens):
            fixed = [Pair(pair.game_id, tokens, "draw-1-0") for pair in pairs]
            yield ours, asyncio.run(load(peer_url, peer, fixed))


@contextmanager
def constant(pair: Pair, *limits: str) -> Iterator[tuple[str, int, list[str]]]:
    """Is the peer, with an answer of the usual size; gives its URL, its process and a token for each of its guests.

    limits: `none`, or the URL of the Redis that counts requests.
    """
    event = {"version": 1, "kind": "turn_began", "seat": 0, "actor": {"type": "table"}, "round": 1,
             "occurred_at": "2026-01-01T00:00:00Z", "data": {"step": "draw", "discard_open": True}}  # fmt: skip
    answer = {"move_id": "mov_0", "version": 1, "events": [event, event], "view": None, "game_id": pair.game_id}
    peer = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.constant", *limits],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdin.write(json.dumps(answer))
    peer.stdin.close()
    base_url = peer.stdout.readline().strip()
    tokens = []
    try:
        for number in range(GAMES):
            with Client(base_url, f"Guest {number}") as guest:
                tokens.append(guest.token)
        yield base_url, peer.pid, tokens
    finally:
        peer.terminate()
        peer.wait(30)
        peer.stdout.close()


async def load(base_url: str, server: int, pairs: list[Pair], seconds: float = SECONDS) -> Load:
    """Plays all tables at once for some seconds, each move as soon as the one before is answered."""
    async with AsyncExitStack() as opened:
        wires = [await opened.enter_async_context(wire(base_url)) for _ in pairs]
        before, began = cpu_s(server), time.monotonic()
        took = await asyncio.gather(
            *(play(pair, line, began + seconds) for pair, line in zip(pairs, wires, strict=True) if pair.decision)
        )
        all_took = [one for table in took for one in table]
        return Load(len(all_took), all_took, time.monotonic() - began, cpu_s(server) - before)


async def play(pair: Pair, line: Wire, until: float) -> list[float]:
    """Plays until the time or the round is over."""
    took = []
    while pair.decision and (began := time.monotonic()) < until:
        await play_one(pair, line)
        took.append(time.monotonic() - began)
    return took


async def play_one(pair: Pair, line: Wire) -> int:
    """Draws from the stock for who is in turn, or puts the same card down; gives the version of the last event."""
    kind, _, seat = pair.decision.split("-")
    move = {"kind": "draw_stock"} if kind == "draw" else {"kind": "discard", "card": pair.drawn}
    body = json.dumps({"decision_id": pair.decision, "move": move}).encode()
    path = f"/v1/games/{pair.game_id}/moves"
    status, answer = await line.post(path, pair.tokens[int(seat)], uuid4().hex, body)
    assert status == CREATED, answer
    told = json.loads(answer)
    take_in(pair, told["events"])
    version: int = told["version"]
    return version


def cpu_s(pid: int) -> float:
    """Gives the CPU seconds that a process has used, to the nanosecond, without threads that have ended."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def bot_answers_ms(base_url: str) -> Iterator[float]:
    """Times from a person's discard to the bot's draw, both as stored."""
    with Client(base_url) as client:
        game_id = client.open_game("davis", "you", "normal", pace=SLOW)
        for _ in range(BOT_TURNS):
            decision = next(iter(waited_for(client, game_id)), None)
            if decision is None:
                break
            options = decision["options"]
            client.move(game_id, decision, next((one for one in options if one["kind"] == "draw_stock"), options[-1]))
        events = client.events(game_id)
    for earlier, later in pairwise(events):
        if earlier["kind"] == "turn_began" and earlier["seat"] == 1 and later["kind"] == "card_drawn":
            yield milliseconds(earlier, later)


def waited_for(client: Client, game_id: str) -> list[Json]:
    """Waits until the person is asked something; nothing where the round or game is over first."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        view = client.view(game_id)
        if view["decisions"] or view["status"] == "finished":
            decisions: list[Json] = view["decisions"]
            return decisions
    return []


def milliseconds(earlier: Json, later: Json) -> float:
    """Gives the time between two events as stored."""
    first, second = (datetime.fromisoformat(event["occurred_at"]) for event in (earlier, later))
    return (second - first).total_seconds() * 1000


MOVES = {"passed", "buy_requested", "draw_declined", "card_discarded", "melds_laid", "cards_laid_off", "wild_swapped",
         "shanghai_called", "card_drawn"}  # fmt: skip


def bot_moves_per_s(base_url: str) -> float:
    """Counts the moves of games of four bots, from the start of the first to the end of the last."""
    with Client(base_url) as client:
        games = [client.open_game("davis", "normal", "normal", "normal", "normal") for _ in range(BOT_GAMES)]
        for game_id in games:
            while client.view(game_id)["status"] != "finished":
                time.sleep(0.2)
        told = [client.events(game_id) for game_id in games]
    moves = sum(_moves(events) for events in told)
    began = min(events[0]["occurred_at"] for events in told)
    ended = max(events[-1]["occurred_at"] for events in told)
    return moves * 1000 / milliseconds({"occurred_at": began}, {"occurred_at": ended})


def _moves(events: list[Json]) -> int:
    """A draw that was declined first comes by itself later, and is one move with that."""
    kinds = [event["kind"] for event in events]
    return sum(kind in MOVES for kind in kinds) - kinds.count("draw_declined")


if __name__ == "__main__":
    main()
