"""Webhooks: addresses of a player's own, to which what happens in their games is sent, as Standard Webhooks wants it.

Here is what a player may ask of them; `announcing.py` turns the log into deliveries, `delivering.py` sends them.
"""

import base64
import hmac
import os
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from domain.visible import KINDS
from services.addresses import is_address, is_global
from services.ids import new_uuid, public_id

DECISION_OPENED = "decision.opened"
PING = "webhook.ping"
TYPES = (DECISION_OPENED, *sorted(f"game.{kind}" for kind in KINDS.values()))
"""The types of messages that can be chosen; a ping is sent whatever was chosen."""

WEBHOOKS_AT_MOST = 10  # of one player
OLD_SECRET_S = 24 * 3600  # so long the secret before still signs, beside the new one
URL_CHARACTERS = 2_000
_SECRET_BYTES = 32
_SECRET_PREFIX = "whsec_"  # noqa: S105  says what a string is, so that leaked secrets are found
_URL = re.compile(r"[!-~]+")  # visible ASCII: nothing that could end a line of the request
_HOST = re.compile(r"[A-Za-z0-9_.:-]+")

Disabled: TypeAlias = Literal["owner", "gone", "failing", "behind", "revoked"]
"""Why a webhook is switched off: by its owner, by the answer 410, by failing for days, by too long a queue, or because
an operator has ended all tokens of its player, one of which may have made it."""
DeliveryState: TypeAlias = Literal["waiting", "delivered", "failed", "dropped"]
Fault: TypeAlias = Literal[
    "address_refused", "no_public_address", "unreachable", "tls", "timeout", "bad_answer", "refused", "internal_error"
]
"""Why an attempt failed; `refused`: the answer was not 2xx; `no_public_address`: whatever was wrong with the name."""
OF_THE_HOST: frozenset[Fault] = frozenset({"no_public_address", "unreachable", "tls"})
"""Faults that any other webhook at the same host would meet."""


class Webhook(Struct, frozen=True):
    """A webhook as its player sees it. types: none for all; game_id: None for all the player's games.

    failing_since: of the first failed attempt after the last good one. old_secret_until: while two secrets sign.
    """

    webhook_id: str
    player_id: str
    url: str
    types: tuple[str, ...]
    game_id: str | None
    description: str
    disabled: Disabled | None
    failing_since: datetime | None
    old_secret_until: datetime | None
    created_at: datetime


class NewWebhook(Struct, frozen=True):
    """A webhook to be kept. asked_by: the token that asks for it, and has to live still."""

    webhook_id: str
    player_id: str
    url: str
    types: tuple[str, ...]
    game_id: str | None
    description: str
    asked_by: str | None = None


class WebhookChange(Struct, frozen=True):
    """What to change of a webhook; None leaves it as it is. asked_by: the token that asks, and has to live still."""

    url: str | None = None
    types: tuple[str, ...] | None = None
    description: str | None = None
    is_active: bool | None = None
    asked_by: str | None = None


class Delivery(Struct, frozen=True):
    """A message to one webhook: the event of a game with this version, the decisions that it has opened, or a ping.

    attempts: how often it was sent; status: of the last answer; due_at: when it is sent next, while it is waiting.
    """

    delivery_id: str
    webhook_id: str
    type: str
    game_id: str | None
    version: int | None
    state: DeliveryState
    attempts: int
    status: int | None
    fault: Fault | None
    created_at: datetime
    attempted_at: datetime | None
    due_at: datetime


class Webhooks(Protocol):
    """The webhooks that are kept, and their deliveries of the last days."""

    async def add(self, new: NewWebhook, secret: bytes, at_most: int) -> Webhook | None:
        """Keeps a webhook of a known player; None where they have `at_most` already, or the token that asks is over."""
        ...

    async def owned(self, player_id: str) -> list[Webhook]:
        """Lists a player's webhooks, the oldest first."""
        ...

    async def find(self, player_id: str, webhook_id: str) -> Webhook | None:
        """Finds a webhook of the player's own."""
        ...

    async def change(self, player_id: str, webhook_id: str, change: WebhookChange) -> Webhook | None:
        """Changes a webhook of the player's own; one that is switched on again is tried at once."""
        ...

    async def rotate(
        self, player_id: str, webhook_id: str, secret: bytes, overlap_s: int, asked_by: str | None = None
    ) -> Webhook | None:
        """Gives a webhook of the player's own another secret; the one before signs too for `overlap_s`.

        asked_by: the token that asks, and has to live still.
        """
        ...

    async def remove(self, player_id: str, webhook_id: str) -> bool:
        """Removes a webhook; false where the player has none such."""
        ...

    async def ping(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Has a ping sent to a kept webhook."""
        ...

    async def deliveries(self, webhook_id: str, before: str | None, limit: int) -> list[Delivery]:
        """Lists deliveries, the newest first, that are older than `before`."""
        ...

    async def send_again(self, webhook_id: str, delivery_id: str) -> Delivery | None:
        """Has a delivery sent at once, as if for the first time; None where the webhook has none such."""
        ...


class WebhookNotFound(Exception):
    """The player has no such webhook."""


class TooManyWebhooks(Exception):
    """The player has so many webhooks that there is no room for another one."""


class WebhookDisabled(Exception):
    """Nothing is sent to a webhook that is switched off."""


class UrlRefused(Exception):
    """The text tells why nothing is sent to an address."""


class NotOfTheInternet(UrlRefused):
    """An address leads nowhere that a server may be asked to send to."""


class Target(Struct, frozen=True):
    """Where a request goes. host: a name or an address; authority: as the request names it; path: with its query."""

    is_secure: bool
    host: str
    port: int
    authority: str
    path: str


def read_target(url: str, *, is_anywhere: bool = False) -> Target:
    """Reads the address of a webhook. Errors: UrlRefused.

    is_anywhere: http, other ports and addresses that are not global are allowed, for development.
    """
    if len(url) > URL_CHARACTERS or not _URL.fullmatch(url):
        raise UrlRefused(f"An address is at most {URL_CHARACTERS} visible ASCII characters.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise NotOfTheInternet("This is no address.") from None
    if parts.scheme not in (("https", "http") if is_anywhere else ("https",)):
        raise UrlRefused("The address has to start with https://.")
    if "@" in parts.netloc or parts.fragment or not _HOST.fullmatch(host):
        raise UrlRefused("The address needs a host in ASCII, and has neither a user nor a fragment.")
    is_secure = parts.scheme == "https"
    port = port or (443 if is_secure else 80)
    if not is_anywhere and port != 443:
        raise UrlRefused("The port has to be 443.")
    if not is_anywhere and is_address(host) and not is_global(host):
        raise NotOfTheInternet("The address is not one of the public internet.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(is_secure, host, port, parts.netloc, path)


def host_of(url: str) -> str:
    """Gives the host of an address with its port, as it is written there: what fails together."""
    return urlsplit(url).netloc.lower()


async def add_webhook(webhooks: Webhooks, new: NewWebhook) -> tuple[Webhook, str]:
    """Keeps a webhook, and gives what is kept and the secret that signs, shown this once. Errors: TooManyWebhooks."""
    secret = os.urandom(_SECRET_BYTES)
    kept = await webhooks.add(new, secret, WEBHOOKS_AT_MOST)
    if kept is None:
        raise TooManyWebhooks
    return kept, shown_secret(secret)


async def rotate_secret(
    webhooks: Webhooks, player_id: str, webhook_id: str, asked_by: str | None = None
) -> tuple[Webhook, str]:
    """Gives a webhook another secret, shown this once. Errors: WebhookNotFound."""
    secret = os.urandom(_SECRET_BYTES)
    kept = await webhooks.rotate(player_id, webhook_id, secret, OLD_SECRET_S, asked_by)
    if kept is None:
        raise WebhookNotFound
    return kept, shown_secret(secret)


async def own_webhook(webhooks: Webhooks, player_id: str, webhook_id: str) -> Webhook:
    """Finds a webhook of the player's own. Errors: WebhookNotFound."""
    kept = await webhooks.find(player_id, webhook_id)
    if kept is None:
        raise WebhookNotFound
    return kept


async def ping(webhooks: Webhooks, player_id: str, webhook_id: str) -> Delivery:
    """Has a ping sent. Errors: WebhookNotFound, WebhookDisabled."""
    await _active_webhook(webhooks, player_id, webhook_id)
    return await webhooks.ping(webhook_id, public_id("msg", new_uuid()))


async def send_again(webhooks: Webhooks, player_id: str, webhook_id: str, delivery_id: str) -> Delivery | None:
    """Has a delivery sent again; None where there is none such. Errors: WebhookNotFound, WebhookDisabled."""
    await _active_webhook(webhooks, player_id, webhook_id)
    return await webhooks.send_again(webhook_id, delivery_id)


def shown_secret(secret: bytes) -> str:
    """Writes a secret as its player keeps it."""
    return _SECRET_PREFIX + base64.b64encode(secret).decode()


def signature(secrets: Iterable[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """Signs a message with each secret: what stands in the header webhook-signature."""
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    digests = (hmac.digest(secret, signed, "sha256") for secret in secrets)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


def is_chosen(type_: str, types: Sequence[str]) -> bool:
    """Tells whether messages of this type are wanted."""
    return not types or type_ in types


async def _active_webhook(webhooks: Webhooks, player_id: str, webhook_id: str) -> Webhook:
    kept = await own_webhook(webhooks, player_id, webhook_id)
    if kept.disabled:
        raise WebhookDisabled
    return kept
