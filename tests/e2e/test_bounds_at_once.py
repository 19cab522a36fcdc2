"""Bursts of one player's requests to two API processes at once: whatever is bounded stays so."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import cycle
from uuid import uuid4

import httpx
import pytest

from infra.settings import Settings
from services.identity import TOKENS_AT_MOST
from services.invites import INVITES_AT_MOST
from services.webhooks import WEBHOOKS_AT_MOST
from tests.described import hold
from tests.e2e.roof import EVERYBODY, roof
from tests.engines import run

GAMES_AT_MOST = 20
AT_ONCE = 60
GAMES = "/v1/games"
DAVIS = {"ruleset": "davis", "seats": [{"controller": "open"}] * 4}
WEBHOOK = {"url": "https://example.com/hook"}
TWO = {"ruleset": "davis", "players": {"min": 2, "max": 2}}

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


BOUNDS: tuple[tuple[str, object, str, int], ...] = (
    (GAMES, DAVIS, "too_many_games", GAMES_AT_MOST - 1),  # one is there, for the invites
    ("{game}/invites", {}, "too_many_invites", INVITES_AT_MOST),
    ("/v1/me/tokens", {"scopes": ["play"]}, "too_many_tokens", TOKENS_AT_MOST - 1),  # one asks
    ("/v1/me/webhooks", WEBHOOK, "too_many_webhooks", WEBHOOKS_AT_MOST),
    ("/v1/matchmaking/tickets", TWO, "already_waiting", 1),
)


def test_a_burst_is_let_through_up_to_the_bound(settings: Settings) -> None:
    bounds = {"games_unfinished": GAMES_AT_MOST}
    with roof(settings, EVERYBODY, **bounds) as one, roof(settings, ["api"], **bounds) as other:
        for path, body, refused, room in BOUNDS:
            made = run(_burst([*one.base_urls, *other.base_urls], path, body))
            assert made == {"made": room, refused: AT_ONCE - room}, path


async def _burst(apis: Sequence[str], path: str, body: object) -> Counter[str]:
    """Has a new player send a request so often, to each API in turn, all at once; counts what came of it."""
    async with AsyncExitStack() as stack:
        hooks = {"response": [hold]}
        opened = [httpx.AsyncClient(base_url=each, timeout=60, event_hooks=hooks) for each in apis]
        clients = [await stack.enter_async_context(each) for each in opened]
        guest = (await clients[0].post("/v1/players", json={"name": "Anna"})).json()
        token = {"authorization": f"Bearer {guest['token']}"}
        game = await clients[0].post(GAMES, json=DAVIS, headers={**token, "idempotency-key": "first"})
        place = path.format(game=game.headers["location"])
        answers = await asyncio.gather(
            *(
                client.post(place, json=body, headers={**token, "idempotency-key": uuid4().hex})
                for client, _ in zip(cycle(clients), range(AT_ONCE), strict=False)
            )
        )
        return Counter("made" if answer.is_success else answer.json()["code"] for answer in answers)
