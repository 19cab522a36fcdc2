"""Today's pods of the rendered manifests: a game over HTTP, goodbyes, and probes that tell live from ready."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.deploy.cluster import Cluster
from tests.deploy.playing import play_a_game
from tests.e2e.client import Client
from tests.stack_watching import eventually

DOCTOR = "import subprocess; subprocess.run(['shanghai', 'doctor'])"  # a busy machine is warned of
PATIENCE_S = 60

pytestmark = pytest.mark.deploy


def test_a_whole_game_is_played_over_http(upgraded: Cluster) -> None:
    play_a_game(upgraded.api.url)


def test_a_leaving_pod_says_goodbye_on_its_streams_and_is_gone_within_its_drain(upgraded: Cluster) -> None:
    upgraded.start("shanghai-api")
    leaving = upgraded.pods["shanghai-api"][-1]
    with ThreadPoolExecutor(1) as aside, Client(f"http://{leaving.address}:8000", "Anna") as anna:
        game_id = anna.open_game("davis", "you", "open")
        with anna.stream(game_id) as stream:
            next(stream)
            stopping = aside.submit(upgraded.stop, leaving)
            *_, (kind, data) = stream
        assert (kind, data["reason"]) == ("bye", "shutting_down")
        assert stopping.result() < leaving.grace_s


def test_without_postgres_a_pod_is_alive_and_not_ready_until_it_is_back(upgraded: Cluster) -> None:
    [relay], [postgres] = upgraded.pods["shanghai-relay"], upgraded.pods["shanghai-postgres"]
    upgraded.podman.run("pause", postgres.container)
    try:
        eventually(lambda: not relay.is_well("readinessProbe"), within_s=40, what="a relay that is not ready")
        assert relay.is_well("livenessProbe")
    finally:
        upgraded.podman.run("unpause", postgres.container)
    eventually(lambda: relay.is_well("readinessProbe"), within_s=40, what="a relay that is ready again")


def test_operators_have_a_desk_with_a_login_of_their_own_and_room_for_archives(upgraded: Cluster) -> None:
    upgraded.start("shanghai-operator")
    [desk] = upgraded.pods["shanghai-operator"]
    at_desk = partial(upgraded.podman.run, "exec", desk.container)
    assert "gam_" in at_desk("shanghai", "admin", "games")
    assert_nothing_stays_bad(at_desk)
    with pytest.raises(AssertionError, match="the log has no month 2020-01"):
        at_desk("shanghai", "archive", "2020-01", "--to", "/archive")
    at_desk("python", "-c", "open('/archive/events-2020-01.json', 'x')")
    [projector] = upgraded.pods["shanghai-projector"]
    upgraded.podman.run("exec", projector.container, "shanghai", "projector", "--rebuild")
    upgraded.stop(desk)


def assert_nothing_stays_bad(at_desk: Callable[..., str]) -> None:
    """Asks the doctor until everything is on its feet again: Postgres has just been away."""
    deadline = time.monotonic() + PATIENCE_S
    while re.search("^bad ", told := at_desk("python", "-c", DOCTOR), re.MULTILINE):
        assert time.monotonic() < deadline, told
    assert re.search("^ok +redis evictions ", told, re.MULTILINE), told
