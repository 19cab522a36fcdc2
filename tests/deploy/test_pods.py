"""The pods of the rendered manifests: a game over HTTP, goodbyes, and probes that tell live from ready."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.deploy.cluster import Cluster
from tests.e2e.client import Client, any_option, follow
from tests.e2e.test_whole_games import assert_finished
from tests.stack_watching import eventually

pytestmark = pytest.mark.deploy


def test_a_whole_game_is_played_over_http(cluster: Cluster) -> None:
    anna, choose = Client(cluster.api.url, "Anna"), any_option(7)
    game_id = anna.open_game("davis", "you", "normal", "easy", pace={"claim_window_s": 1, "turn_s": 60})
    answered = set[str]()
    for kind, data in follow(anna, game_id, views=True):
        for decision in data["decisions"] if kind == "view" else ():
            if decision["decision_id"] not in answered:
                answered.add(decision["decision_id"])
                anna.move(game_id, decision, choose(decision))
                break
    assert_finished(anna, game_id, seat=0)
    anna.close()


def test_a_leaving_pod_says_goodbye_on_its_streams_and_is_gone_within_its_drain(cluster: Cluster) -> None:
    cluster.start("shanghai-api")
    leaving = cluster.pods["shanghai-api"][-1]
    anna = Client(f"http://{leaving.address}:8000", "Anna")
    game_id = anna.open_game("davis", "you", "open")
    with ThreadPoolExecutor(1) as aside, anna.stream(game_id) as stream:
        next(stream)
        stopping = aside.submit(cluster.stop, leaving)
        *_, (kind, data) = stream
        assert (kind, data["reason"]) == ("bye", "shutting_down")
        assert stopping.result() < leaving.grace_s
    anna.close()


def test_without_postgres_a_pod_is_alive_and_not_ready_until_it_is_back(cluster: Cluster) -> None:
    [relay], [postgres] = cluster.pods["shanghai-relay"], cluster.pods["shanghai-postgres"]
    cluster.podman.run("pause", postgres.container)
    try:
        eventually(lambda: not relay.is_well("readinessProbe"), within_s=40, what="a relay that is not ready")
        assert relay.is_well("livenessProbe")
    finally:
        cluster.podman.run("unpause", postgres.container)
    eventually(lambda: relay.is_well("readinessProbe"), within_s=40, what="a relay that is ready again")
