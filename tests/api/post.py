"""The way of messages to webhooks, on the twins in memory, and somebody's server that receives them."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from services.announcing import Announcer
from services.delivering import Delivering, NotSent
from services.handouts import HandOuts
from services.memory import MemoryJobs, utc_now
from services.memory_announcing import MemoryAnnouncedLog
from services.webhooks import Fault
from tests.api.world import Json, Player, World
from tests.described import shape_faults

URL = "https://bots.example/anna"
_SCHEMAS = {"decision.opened": "DecisionsMessage", "webhook.ping": "PingMessage"}


class Received(Struct, frozen=True):
    """A message as it came in."""

    url: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Json:
        found: Json = json.loads(self.body)
        return found

    def verified(self, secret: str) -> Json:
        """Gives the message as the official library does; it raises where the signature is wrong."""
        found: Json = Verifier(secret).verify(self.body.decode(), self.headers)
        return found


class Server:
    """A Sender: a server that keeps what it receives, and answers as it is told, or else well."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: list[int | Fault] = []

    async def post(self, player_id: str, url: str, headers: Mapping[str, str], body: bytes) -> int:
        message = json.loads(body)
        schema = _SCHEMAS.get(message["type"], "EventMessage")
        assert shape_faults(message, {"$ref": f"#/components/schemas/{schema}"}) == []
        answer = self.answers.pop(0) if self.answers else 200
        self.received.append(Received(url, dict(headers), body))
        if isinstance(answer, str):
            raise NotSent(answer)
        return answer

    def taken(self, kind: str = "") -> list[Json]:
        """Gives what was received of types that begin like this, and forgets everything."""
        found = [each.message for each in self.received if each.message["type"].startswith(kind)]
        self.received.clear()
        return found


class Post:
    """Announces and delivers when it is told to, on a clock that is put forward by hand."""

    def __init__(self, world: World) -> None:
        self.world, self.server = world, Server()
        self.jobs = MemoryJobs()
        self.hand_outs = HandOuts(self.jobs)
        self.log = MemoryAnnouncedLog(world.log, world.webhooks)
        self.announcer = Announcer(self.log, self.hand_outs)
        self.later = timedelta()
        world.log.now = world.accounts.now = self.now
        house = world.house
        self.delivering = Delivering(
            world.webhooks, house.tables, world.accounts, self.server, now=lambda: self.now().timestamp()
        )

    def now(self) -> datetime:
        return utc_now() + self.later

    async def carry(self, **later: float) -> None:
        """Brings everything to where it belongs that may be sent by now, or so much later."""
        self.later += timedelta(**later)
        while await self.announcer.step():
            pass
        await self.deliver()

    async def deliver(self) -> None:
        for webhook_id in self.world.webhooks.kept:
            while await self.delivering.visit(webhook_id):
                pass


async def webhook(player: Player, **wishes: Any) -> tuple[str, str]:
    """Makes a webhook; gives its path and its secret."""
    made = await player.sent("POST", "/v1/me/webhooks", {"url": URL, **wishes})
    return f"/v1/me/webhooks/{made['webhook']['webhook_id']}", made["secret"]


async def deliveries(player: Player, path: str) -> list[Json]:
    """Lists all deliveries of a webhook, the oldest first."""
    found: list[Json] = []
    query = "?limit=100"
    while True:
        page = await player.sent("GET", f"{path}/deliveries{query}")
        found += page["items"]
        if page["next_cursor"] is None:
            return found[::-1]
        query = f"?limit=100&cursor={page['next_cursor']}"


def told(messages: Iterable[Json]) -> list[Json]:
    """Gives the events among messages."""
    return [message["data"] for message in messages if message["type"].startswith("game.")]


async def events(player: Player, game_id: str) -> list[Json]:
    """Lists what has happened in a game, as a player sees it."""
    page = await player.sent("GET", f"/v1/games/{game_id}/events?limit=500")
    items: list[Json] = page["items"]
    return items


def verifies(received: Received, secret: str) -> bool:
    """Tells whether a message is signed with a secret."""
    try:
        received.verified(secret)
    except WebhookVerificationError:
        return False
    return True
