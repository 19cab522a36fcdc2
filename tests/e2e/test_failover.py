"""The primary is lost under a game, disk and all, and its synchronous standby takes over."""

import sys
from collections.abc import Iterator

import httpx
import pytest
import redis

from infra.embedded.engines import short_folder
from infra.embedded.running import Running
from infra.embedded.valkey import start_redis
from infra.settings import Settings
from tests.e2e.history import faults_in, live_through, sitting
from tests.e2e.roof import EVERYBODY, roof
from tests.engines import with_redis
from tests.stack_watching import eventually
from tests.standby import Pair, standing_by

__all__ = ["standing_by"]

SECONDS, PAUSE_S = 2.0, 1.0

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


@pytest.fixture
def bus() -> Iterator[Running]:
    with short_folder() as folder:
        server = start_redis(folder / "redis", folder)
        yield server
        server.stop()


def test_the_game_and_its_streams_go_on_at_the_promoted_standby(standing_by: Pair, bus: Running) -> None:
    unwired = Settings(
        database_url=standing_by.url,
        projector_database_url=standing_by.url,
        bus_url="redis://",
        broker_url="redis://",
        limits_url="redis://",
        secret_key=bytes(range(32)),
    )
    struck: list[int] = []
    newcomers: list[str] = []

    def accepted() -> int:
        return sum(bool(sent.accepted) for player in players for sent in player.sent)

    def failover() -> None:
        if not struck:
            eventually(lambda: accepted() > 5, within_s=30, what="moves before")
            struck.append(accepted())
            newcomers.extend(_join(running.base_urls[0]) for _ in range(3))
            standing_by.lose_primary()
            standing_by.promote()
            eventually(lambda: accepted() > struck[0] + 2, within_s=30, what="moves afterwards")

    with (
        roof(with_redis(unwired, bus.url), EVERYBODY) as running,
        sitting(running.base_urls, tables=1) as players,
    ):
        live_through(players, [failover], seed=1, seconds=SECONDS, pause_s=PAUSE_S)
        known = [_is_known(running.base_urls[0], token) for token in newcomers]
        generations = _generations(bus)
    sys.stdout.write(f"{struck} moves accepted before, {accepted()} in all\n")
    assert faults_in(players) == []
    assert known == [True] * 3
    assert 5 < struck[0] < accepted()
    assert [timeline for _, timeline, _ in generations] == ["00000001", "00000002"]


def _join(base_url: str) -> str:
    token: str = httpx.post(f"{base_url}/v1/players", json={"name": "Clara"}).raise_for_status().json()["token"]
    return token


def _is_known(base_url: str, token: str) -> bool:
    return httpx.get(f"{base_url}/v1/me", headers={"Authorization": f"Bearer {token}"}).is_success


def _generations(bus: Running) -> list[list[str]]:
    """Gives cluster, timeline and database of every generation that the bus has seen."""
    with redis.Redis.from_url(bus.url) as client:
        return sorted(key.decode().split(":")[1].split("-") for key in client.keys("es:*"))
