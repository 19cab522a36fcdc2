"""A player follows all their games at one API, which is killed; the stream goes on at another one as if nothing was."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from threading import Event
from time import monotonic

import httpx
import pytest
from msgspec import Struct, field

from infra.settings import Settings
from tests.e2e.client import Client, Json
from tests.e2e.roof import EVERYBODY, Roof, roof
from tests.stack_watching import eventually

SLOW = {"claim_window_s": 0, "turn_s": 600}
BEFORE, MISSED, AFTER = 20, 8, 15  # events before the kill, while nobody reads, and afterwards; at least
WITHIN_S = 60.0

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


class Reader(Struct):
    """What the stream has told. begins: after which version the first connection tells each game; last: the cursor."""

    begins: dict[str, int] = field(default_factory=dict)
    versions: dict[str, list[int]] = field(default_factory=dict)
    last: str = ""
    is_enough: Event = field(default_factory=Event)

    @property
    def events(self) -> int:
        """How many events it has told."""
        return sum(map(len, self.versions.values()))

    @property
    def heads(self) -> dict[str, int]:
        """How far it has told each game."""
        return {game_id: versions[-1] for game_id, versions in self.versions.items()}

    def hear(self, cursor: str, kind: str, data: Json) -> None:
        """Takes a message in."""
        if kind == "hello" and not self.last:
            self.begins = {game["game_id"]: game["after"] for game in data["games"]}
        if "occurred_at" in data:
            self.versions.setdefault(data["game_id"], []).append(data["version"])
        assert kind not in ("resync", "bye")
        self.last = cursor or self.last


@pytest.fixture
def first(settings: Settings) -> Iterator[Roof]:
    with roof(settings, EVERYBODY) as running:
        yield running


@pytest.fixture
def second(settings: Settings, first: Roof) -> Iterator[Roof]:
    with roof(settings, ["api"]) as running:
        yield running


@pytest.fixture
def anna(second: Roof) -> Iterator[Client]:
    with Client(second.base_urls[0], "Anna") as client:
        yield client


def test_a_players_stream_goes_on_at_another_api_when_its_own_is_killed(
    first: Roof, second: Roof, anna: Client
) -> None:
    [dying], [living], reader = first.base_urls, second.base_urls, Reader()
    games = [anna.open_game("davis", "you", "easy", pace=SLOW) for _ in range(2)]
    with ThreadPoolExecutor(1) as threads:
        try:
            reading = threads.submit(follow, dying, anna, reader)
            eventually(lambda: bool(reader.begins) or reading.done(), within_s=WITHIN_S, what="the first message")
            play(anna, games, lambda: reader.events >= BEFORE)
            first.kill("api")
            reading.result(WITHIN_S)
            missed = sum(heads(anna, games)) + MISSED
            play(anna, games, lambda: sum(heads(anna, games)) >= missed)
            games.append(anna.open_game("davis", "you", "easy", pace=SLOW))
            resumed = reader.events
            reading = threads.submit(follow, living, anna, reader)
            play(anna, games, lambda: reader.events >= resumed + MISSED + AFTER)
            ends = dict(zip(games, heads(anna, games), strict=True))
            eventually(lambda: reader.heads == ends or reading.done(), within_s=WITHIN_S, what="the last events")
        finally:
            reader.is_enough.set()
        reading.result(WITHIN_S)
    begins = {games[-1]: 0, **reader.begins}
    assert reader.versions == {game: list(range(begins[game] + 1, ends[game] + 1)) for game in games}


def follow(url: str, anna: Client, reader: Reader) -> None:
    """Reads the stream at one API until that is gone, or it is enough; goes on after the last id."""
    deadline = monotonic() + 2 * WITHIN_S
    with suppress(httpx.NetworkError, httpx.RemoteProtocolError):
        while not reader.is_enough.is_set() and monotonic() < deadline:
            with suppress(httpx.ReadTimeout):  # so that it looks whether it is enough
                for message in messages(url, anna, reader.last):
                    reader.hear(*message)


def messages(url: str, anna: Client, last: str) -> Iterator[tuple[str, str, Json]]:
    """Reads one connection: the whole messages, each with its id, if it has one."""
    headers = {"Authorization": anna.http.headers["Authorization"], "Last-Event-ID": last}
    patience = httpx.Timeout(10, read=1)
    with httpx.stream("GET", f"{url}/v1/me/stream", headers=headers, timeout=patience) as response:
        assert response.status_code == httpx.codes.OK, response.read()
        said: dict[str, str] = {}
        for line in response.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                said[name] = value
            elif said:
                yield said.get("id", ""), said["event"], json.loads(said["data"])
                said = {}


def play(anna: Client, games: list[str], is_enough: Callable[[], bool]) -> None:
    """Answers what is asked, by chance, until it is enough and every game waits for Anna."""
    random, deadline = Random(7), monotonic() + WITHIN_S
    while True:
        assert monotonic() < deadline
        asked = {game: anna.view(game)["decisions"] for game in games}
        if all(asked.values()) and is_enough():
            return
        for game, decisions in asked.items():
            for decision in decisions[:1]:
                answer = anna.move(game, decision, random.choice(decision["options"]))
                assert answer.status_code in (201, 409), answer.text


def heads(anna: Client, games: list[str]) -> list[int]:
    return [anna.view(game)["version"] for game in games]
