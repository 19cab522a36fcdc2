"""Guests and their bearer tokens. A token is shown once and known afterwards by its hash only."""

import secrets
from hashlib import sha256

from msgspec import Struct

from services.ids import new_uuid, public_id
from services.ports import Accounts, Principal

TOKEN_PREFIX = "shg_"  # noqa: S105  says what a string is, so that leaked tokens are found
GUEST_SCOPES = ("play", "watch")


class Guest(Struct, frozen=True):
    """A new player with the token that speaks for them."""

    player_id: str
    name: str
    token: str


async def create_guest(accounts: Accounts, name: str) -> Guest:
    """Adds a player under a name that need not be unique."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    player_id = public_id("ply", new_uuid())
    await accounts.add_guest(player_id, name, token_hash(token), GUEST_SCOPES)
    return Guest(player_id, name, token)


async def who_is(accounts: Accounts, token: str) -> Principal | None:
    """Finds whom a token speaks for, or None."""
    return await accounts.principal(token_hash(token)) if token.startswith(TOKEN_PREFIX) else None


def token_hash(token: str) -> bytes:
    """Gives what is stored of a token."""
    return sha256(token.encode()).digest()
