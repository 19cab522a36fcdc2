"""Processes die and Redis forgets, in the middle of a game: it still ends, with nothing lost or doubled."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from threading import Timer

import pytest
import redis

from tests.e2e.client import Client, follow
from tests.e2e.conftest import Server
from tests.e2e.test_whole_games import assert_finished

HANGS_S = 3.0

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


def the_worker_dies(server: Server) -> None:
    server.kill("-m workers ")


def the_relay_dies(server: Server) -> None:
    server.kill("-m workers.relay")


def clock_and_api_die(server: Server) -> None:
    server.kill("-m workers.clock")
    server.kill("-m api")


def redis_is_emptied(server: Server) -> None:
    with redis.Redis(unix_socket_path=str(server.data / "run" / "redis.sock")) as client:
        client.flushall()


def redis_hangs_for_a_while(server: Server) -> None:
    pid = server.process("redis.sock")
    os.kill(pid, signal.SIGSTOP)
    Timer(HANGS_S, wake, (pid,)).start()


def wake(pid: int) -> None:
    with suppress(ProcessLookupError):  # it may have been killed in the meantime
        os.kill(pid, signal.SIGCONT)


def redis_dies(server: Server) -> None:
    server.kill("redis.sock")


def postgres_dies(server: Server) -> None:
    server.kill("bin/postgres")


FAULTS = [
    the_worker_dies,
    the_relay_dies,
    clock_and_api_die,
    redis_is_emptied,
    redis_hangs_for_a_while,
    redis_dies,
    postgres_dies,
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_game_ends_whatever_happens_in_the_middle(
    server: Server, anna: Client, fault: Callable[[Server], None]
) -> None:
    game_id = anna.open_game("davis", "normal", "normal", "easy")
    faults_at = {60, 400}
    for _, data in follow(anna, game_id):
        if data.get("version") in faults_at:
            faults_at.remove(data["version"])
            fault(server)
    server.wait()
    assert_finished(anna, game_id, seat=None)
