"""API and worker killed with -9 at the worst moments: before an append arrives, and after it was committed."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import httpx
import pytest
from msgspec.structs import replace

from domain.evolve import fold
from domain.state import Game
from infra.embedded.ports import free_port
from infra.settings import Settings
from infra.wiring import Services
from services.ports import Recorded, WorkKind
from services.tables import Tables
from services.tending import tend
from tests.engines import eventually
from tests.processes import Process, is_live, server
from tests.stack_watching import crash, descendants
from tests.wire import opened
from tests.workers.deadly_wire import DeadlyWire, Moment
from tests.workers.tables import head, play_until, started_game

pytestmark = pytest.mark.xdist_group("processes")

MOMENTS: tuple[Moment, ...] = ("sent", "committed")


@pytest.fixture
async def wire(settings: Settings) -> AsyncIterator[DeadlyWire]:
    async with opened(DeadlyWire(), settings.database_url) as wire:
        yield wire


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_move_whose_api_dies_is_made_once(
    services: Services, settings: Settings, wire: DeadlyWire, moment: Moment
) -> None:
    port = free_port()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as anna:
        with server("api", replace(settings, database_url=wire.url, port=port)) as dying:
            await eventually(lambda: is_live(anna))
            game_id = await _table(services, anna)
            before = await services.log.read(game_id)
            view = (await anna.get(f"/v1/games/{game_id}/view")).json()
            decision = view["decisions"][0]
            body = {"decision_id": decision["decision_id"], "move": decision["options"][0]}
            wire.arm(moment, dying.kill)
            with pytest.raises(httpx.TransportError):
                await _move(anna, game_id, body)
        after = await services.log.read(game_id)
        assert (len(after) > len(before)) == (moment == "committed")
        with server("api", replace(settings, port=port)):
            await eventually(lambda: is_live(anna))
            first, again = await _move(anna, game_id, body), await _move(anna, game_id, body)
    assert [first.status_code, again.status_code] == [201, 201]
    assert ("idempotency-replayed" in first.headers) == (moment == "committed")
    assert first.content == again.content
    stored = await services.log.read(game_id)
    assert first.json()["version"] <= len(stored)
    assert moment == "sent" or stored == after
    assert _commands(stored) == len(set(_commands_of(before))) + 1


@pytest.mark.parametrize("kind", ["deal", "bots", "score"])
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_job_whose_worker_dies_is_done_once(
    services: Services, settings: Settings, wire: DeadlyWire, moment: Moment, kind: WorkKind
) -> None:
    game_id = await started_game(services)
    await play_until(services, game_id, kind)
    before = await head(services, game_id)
    with server("workers", replace(settings, database_url=wire.url)) as worker:
        wire.arm(moment, partial(_kill_whole, worker))
        await services.jobs.hand_out(game_id)
        await asyncio.wait_for(wire.has_struck.wait(), 60)
    after = await services.log.read(game_id)
    assert (len(after) > before) == (moment == "committed")
    for _ in range(3):  # as the sweep would have it
        await _tend(services, game_id)
    stored = await services.log.read(game_id)
    assert len(stored) > before
    assert stored[: len(after)] == after
    assert [recorded.version for recorded in stored] == list(range(1, len(stored) + 1))
    assert _commands(stored) == len(set(_commands_of(stored)))
    assert isinstance(fold(recorded.event for recorded in stored), Game)


async def _table(services: Services, anna: httpx.AsyncClient) -> str:
    """Seats Anna with a bot that waits; it is dealt and her turn."""
    guest = (await anna.post("/v1/players", json={"name": "Anna"})).json()
    anna.headers["authorization"] = f"Bearer {guest['token']}"
    seats = [{"controller": "you"}, {"controller": "bot", "level": "easy"}]
    opened = await anna.post(
        "/v1/games", json={"ruleset": "davis", "seats": seats}, headers={"idempotency-key": "opening"}
    )
    game_id: str = opened.json()["game_id"]
    await anna.post(f"/v1/games/{game_id}/start", headers={"idempotency-key": "start"})
    while not (await anna.get(f"/v1/games/{game_id}/view")).json()["decisions"]:
        await _tend(services, game_id)
    return game_id


async def _move(anna: httpx.AsyncClient, game_id: str, body: object) -> httpx.Response:
    return await anna.post(f"/v1/games/{game_id}/moves", json=body, headers={"idempotency-key": "the-move"})


async def _tend(services: Services, game_id: str) -> None:
    await tend(Tables(services.log), services.secrets, game_id, now=services.work.now)


def _kill_whole(worker: Process) -> None:
    for pid in (*descendants(worker.pid), worker.pid):
        crash(pid)


def _commands_of(stored: list[Recorded]) -> list[object]:
    return [recorded.command_id for recorded in stored]


def _commands(stored: list[Recorded]) -> int:
    """Counts the runs of events of one command: as many as there are commands, where none was carried out twice."""
    ids = _commands_of(stored)
    return sum(now != before for before, now in zip([None, *ids], ids, strict=False))
