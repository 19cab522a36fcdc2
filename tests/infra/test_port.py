"""The small port of each process: numbers, probes, and who must not disturb it."""

import asyncio
import socket
import time
from contextlib import ExitStack

import httpx
import pytest

from infra.embedded.ports import free_port
from infra.watching.port import PortRefused, health_pages, serving
from infra.watching.vital import BELIEVED_S, Vital, turning
from infra.watching.watched import pages_of

Clock = list[float]


@pytest.fixture
def clock() -> Clock:
    return [0.0]


@pytest.fixture
def vital(clock: Clock) -> Vital:
    return Vital("relay", clock=lambda: clock[0])


def statuses(vital: Vital) -> tuple[int, int]:
    pages = health_pages(vital)
    return pages["/health/live"]()[0], pages["/health/ready"]()[0]


def test_a_process_that_has_reached_nothing_yet_lives_and_is_not_ready(vital: Vital) -> None:
    assert statuses(vital) == (200, 503)


def test_leading_standing_by_and_working_are_all_ready(vital: Vital) -> None:
    for seen in (vital.leads, vital.stands_by, vital.works):
        seen()
        assert statuses(vital) == (200, 200)


def test_a_process_that_lost_its_engines_lives_on_but_is_not_ready(vital: Vital, clock: Clock) -> None:
    vital.leads()
    clock[0] += BELIEVED_S
    vital.turned()
    assert vital.role is None
    assert statuses(vital) == (200, 503)


def test_a_process_whose_loop_stands_still_is_neither_live_nor_ready(vital: Vital, clock: Clock) -> None:
    clock[0] += BELIEVED_S
    vital.leads()
    assert statuses(vital) == (503, 503)


async def test_a_loop_that_was_held_up_tells_how_late_it_was() -> None:
    vital, late, told = Vital("api"), asyncio.Event(), [0.0]

    def note(seconds: float) -> None:
        told[0] = max(told[0], seconds)
        late.set()

    async with turning(vital, note):
        await asyncio.sleep(0)
        time.sleep(0.7)  # noqa: ASYNC251 - the loop is to stand still
        await asyncio.wait_for(late.wait(), 5)
    assert told[0] > 0.1


def test_the_port_serves_numbers_and_probes_and_nothing_else() -> None:
    vital, port = Vital("relay"), free_port()
    with serving("127.0.0.1", port, pages_of(vital)), httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        vital.leads()
        assert client.get("/health/live").json() == {"status": "ok", "process": "relay"}
        assert client.get("/health/ready").json() == {"status": "ok", "process": "relay", "role": "leads"}
        numbers = client.get("/metrics")
        assert numbers.headers["content-type"].startswith("text/plain; version=")
        assert 'shanghai_process{process="relay",role="leads"} 1.0' in numbers.text
        assert "process_resident_memory_bytes" in numbers.text
        assert client.get("/v1/games").status_code == 404
        assert client.post("/metrics").status_code == 501


def test_probes_are_answered_beside_clients_that_say_nothing() -> None:
    port = free_port()
    with serving("127.0.0.1", port, health_pages(Vital("relay"))), ExitStack() as exits:
        for _ in range(8):
            exits.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert httpx.get(f"http://127.0.0.1:{port}/health/live").status_code == 200


def test_a_taken_port_is_one_line_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(PortRefused, match=rf"127\.0\.0\.1 port {port}: Address already in use"),
            serving("127.0.0.1", port, {}),
        ):
            pass
