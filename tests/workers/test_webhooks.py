"""Webhooks on real processes: what dies, what is slow, and what lies in the broker."""

import asyncio
import json
import os
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeAlias

import asyncpg
import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain.commands import Pace, SeatPlan
from domain.presets import preset
from infra.bus.wire import Wire
from infra.embedded.ports import free_port
from infra.jobs import DELIVER
from infra.settings import Settings
from infra.wiring import Services
from services.games import NewGame, open_game
from services.ids import new_uuid, public_id
from services.ports import KeyedRequest, Principal
from services.tables import Tables
from services.webhooks import Delivery, NewWebhook
from tests.engines import eventually
from tests.exported import number, scraped
from tests.infra.receiver import Answering, Receiver, receiving
from tests.processes import Process, server
from tests.stack_watching import crash, descendants
from tests.workers.tables import head, started_game

pytestmark = pytest.mark.xdist_group("processes")

Run: TypeAlias = Callable[..., AbstractContextManager[Process]]


class Listening(Struct, frozen=True):
    """A player with a webhook, and the server that it names."""

    principal: Principal
    webhook_id: str
    receiver: Receiver


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[Wire]:
    redis = await Wire.open(settings.bus_url)
    yield redis
    await redis.close()


@pytest.fixture
def run(settings: Settings) -> Run:
    """Starts a module that may send to loopback; it is ended by whoever enters it."""
    anywhere = replace(settings, webhook_targets="any")
    return lambda module, *arguments: server(module, anywhere, *arguments)


@asynccontextmanager
async def listening(services: Services, name: str, answer: Answering | None = None) -> AsyncIterator[Listening]:
    player_id = public_id("ply", new_uuid())
    await services.accounts.add_guest(player_id, name, os.urandom(32), ["play"])
    async with receiving(answer) as receiver:
        url = f"http://127.0.0.1:{receiver.port}/{name}"
        new = NewWebhook(public_id("whk", new_uuid()), player_id, url, (), None, "")
        assert await services.webhooks.add(new, bytes(32), 1)
        yield Listening(Principal(player_id, name, ("play",)), new.webhook_id, receiver)


async def opened_game(services: Services, player: Principal) -> str:
    """Opens a game in which the player sits; it has a few events."""
    new = NewGame(
        rules=preset("davis"),
        pace=Pace(),
        seats=(SeatPlan("human", player.player_id), SeatPlan("bot", None, "easy")),
        visibility="public",
        spectators="public",
    )
    request = KeyedRequest(player.player_id, "open", os.urandom(8).hex(), b"")
    hot, _ = await open_game(Tables(services.log), services.secrets, services.reservations, player, new, request, 20)
    return hot.game.game_id


async def deliveries(services: Services, listener: Listening) -> list[Delivery]:
    found = await services.webhooks.deliveries(listener.webhook_id, None, 100)
    return sorted(found, key=lambda each: each.version or 0)


def versions(receiver: Receiver) -> list[int]:
    return [json.loads(request.body)["data"]["version"] for request in receiver.requests]


async def _silence(_: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def test_a_message_whose_worker_is_killed_is_sent_again_under_its_id(
    services: Services, settings: Settings, run: Run
) -> None:
    async with listening(services, "anna", _silence) as anna:
        with run("workers.clock"):
            with run("workers") as worker:
                game_id = await opened_game(services, anna.principal)
                await eventually(lambda: len(anna.receiver.requests) == 1)
                for pid in (worker.pid, *descendants(worker.pid)):
                    crash(pid)
            assert [each.state for each in await deliveries(services, anna)] == ["waiting"] * await head(
                services, game_id
            )
            anna.receiver.answer = _fine
            await _leases_end(settings)
            with run("workers"):
                last = await head(services, game_id)
                await eventually(lambda: _are_delivered(services, anna, last))
    first, *rest = anna.receiver.requests
    assert versions(anna.receiver) == [1, *range(1, last + 1)]
    assert rest[0].headers["webhook-id"] == first.headers["webhook-id"]
    assert len({request.headers["webhook-id"] for request in rest}) == len(rest)
    assert [each.attempts for each in await deliveries(services, anna)] == [2] + [1] * (last - 1)


async def test_a_job_names_a_webhook_and_nothing_else_and_may_be_lost(
    services: Services, settings: Settings, redis: Wire, run: Run
) -> None:
    async with listening(services, "anna") as anna:
        await redis.call("DEL", DELIVER.queue)
        with run("workers.clock"):
            await opened_game(services, anna.principal)
            await eventually(lambda: _waits(redis))
            for message in await redis.call("LRANGE", DELIVER.queue, 0, -1):
                body = json.loads(b64decode(json.loads(message)["body"]))
                assert body == [[anna.webhook_id], {}, {}]
            await redis.call("DEL", DELIVER.queue)
            other = await started_game(services)
            before = await head(services, other)
            port = free_port()
            with server("workers", replace(settings, webhook_targets="any", metrics_port=port), "webhooks"):
                await eventually(lambda: versions(anna.receiver)[:2] == [1, 2])
                await eventually(lambda: _has_counted(port, 2))
                assert not (await services.processes())["worker"]  # none that the bots wait for
            assert await head(services, other) == before


async def test_a_slow_receiver_holds_up_neither_the_bots_nor_other_receivers(services: Services, run: Run) -> None:
    async with listening(services, "anna", _silence) as anna, listening(services, "boris") as boris:
        with run("workers.relay"), run("workers.clock"), run("workers"):
            for _ in range(6):
                await opened_game(services, anna.principal)
            await eventually(lambda: len(anna.receiver.requests) >= 4)
            began = len(anna.receiver.requests)
            game_id = await started_game(services)
            own = await opened_game(services, boris.principal)
            last = await head(services, own)
            await eventually(lambda: _are_delivered(services, boris, last), within_s=4)
            await eventually(lambda: _has_moved(services, game_id, 30), within_s=10)
            assert len(anna.receiver.requests) == began  # all of these wait still
            found = await services.webhooks.find(anna.principal.player_id, anna.webhook_id)
            assert found is not None


async def _has_counted(port: int, delivered: int) -> bool:
    numbers = scraped(port)
    answered = number("shanghai_webhook_sending_seconds_count", numbers, end="answered")
    return min(answered, number("shanghai_webhook_attempts_total", numbers, outcome="delivered")) >= delivered


async def _fine(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 204 Fine\r\n\r\n")


async def _leases_end(settings: Settings) -> None:
    """Lets the time of a dead worker's lease be over."""
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute("UPDATE webhook_delivery SET leased_until = '-infinity'")
    await connection.close()


async def _are_delivered(services: Services, listener: Listening, count: int) -> bool:
    found = await deliveries(services, listener)
    return [each.state for each in found] == ["delivered"] * count


async def _has_moved(services: Services, game_id: str, version: int) -> bool:
    return await head(services, game_id) >= version


async def _waits(redis: Wire) -> bool:
    return bool(await redis.call("LLEN", DELIVER.queue))
