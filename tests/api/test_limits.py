"""How many guests one address may make."""

import pytest

from api.limits import neighbourhood
from services.limits import MemoryLimit
from tests.api.test_errors import assert_problem
from tests.api.world import new_world, players


async def test_an_address_makes_so_many_guests_and_is_told_when_to_come_back() -> None:
    world = new_world(guests=3)
    async with players(world, "") as [stranger]:
        left = []
        for _ in range(3):
            response = await stranger.call("POST", "/v1/players", {"name": "Anna"})
            assert response.status_code == 201
            assert response.headers["ratelimit-policy"] == '"guests";q=3;w=60'
            left.append(response.headers["ratelimit"].split(";")[1])
        assert left == ["r=2", "r=1", "r=0"]
        refused = await stranger.call("POST", "/v1/players", {"name": "Anna"})
        assert_problem(refused, 429, "rate_limited")
        assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert len(world.accounts.players) == 3


async def test_a_quota_refills_evenly() -> None:
    now = [0.0]
    limit = MemoryLimit(quota=4, window_s=60, clock=lambda: now[0])
    assert [(await limit.take("a")).passes for _ in range(5)] == [True] * 4 + [False]
    assert (await limit.take("b")).passes
    now[0] = 15.0
    assert [(await limit.take("a")).passes for _ in range(2)] == [True, False]
    now[0] = 1_000.0
    assert (await limit.take("a")).remaining == 3


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.7"),
        ("", ""),
    ],
)
def test_a_client_with_many_addresses_counts_once(address: str, counted_as: str) -> None:
    assert neighbourhood(address) == counted_as
