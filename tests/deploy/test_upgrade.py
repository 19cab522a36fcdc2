"""An upgrade while people play: the version before, today's schema below it, then today's processes one by one."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import pytest

from tests.deploy.cluster import Cluster
from tests.deploy.conftest import PRODUCT
from tests.deploy.playing import play
from tests.e2e.client import Client, Json
from tests.e2e.test_whole_games import assert_finished

PLAYERS = 3
PATIENCE_S = 60

pytestmark = pytest.mark.deploy


def come_again(response: httpx.Response) -> None:
    """Takes the refusal of a process that is about to end for a lost connection: another one answers."""
    if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        raise httpx.RemoteProtocolError(response.read().decode())


class PatientClient(Client):
    """Sends a request again, with its key, as the guide for client writers tells to."""

    look_at = staticmethod(come_again)  # nothing else: the version before has another document

    def call(self, method: str, path: str, body: Json | None = None, **headers: str) -> httpx.Response:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return super().call(method, path, body, **headers)
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)


def test_no_move_is_lost_and_no_stream_has_a_gap_while_every_process_is_replaced(
    cluster: Cluster, product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.e2e.client.check_message", lambda *_: None)  # the same for what streams tell
    is_over = Event()
    with ThreadPoolExecutor(PLAYERS) as players:
        playing = [players.submit(play_until, is_over, cluster.api.url, seed) for seed in range(PLAYERS)]
        try:
            for _ in cluster.upgrade(product, of=PRODUCT):
                assert not (ended := [player for player in playing if player.done()]), ended[0].exception()
        finally:
            is_over.set()
        accepted = [player.result() for player in playing]
    assert all(accepted), accepted


def play_until(is_over: Event, url: str, seed: int) -> int:
    """Plays one game after another; gives the number of accepted moves, each of which the log has at the end.

    `follow` sees to it that each version is told once and in order.
    """
    games = dict[str, set[str]]()
    with PatientClient(url, f"Anna {seed}") as anna:
        while not is_over.is_set():
            game_id = anna.open_game("davis", "you", "normal", "easy", pace={"claim_window_s": 1, "turn_s": 60})
            games[game_id] = set(play(anna, game_id, seed))
        for game_id, moves in games.items():
            assert moves <= {event["move_id"] for event in anna.events(game_id)}
            assert_finished(anna, game_id, seat=0)
    return sum(map(len, games.values()))
