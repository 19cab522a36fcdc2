"""Players, and the bearer tokens that speak for them. A token is shown once and known afterwards by its hash only."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import Struct

from services.ids import new_uuid, public_id
from services.ports import Accounts, NewToken, Principal, Token

TOKEN_PREFIX = "shg_"  # noqa: S105  says what a string is, so that leaked tokens are found
TOKENS_AT_MOST = 50  # of one player, living
Scope: TypeAlias = Literal["play", "watch", "bot", "operate"]
GUEST_SCOPES: tuple[Scope, ...] = ("play", "watch")
GRANTED_BY: dict[Scope, frozenset[Scope]] = {
    "play": frozenset({"play"}),
    "watch": frozenset({"watch"}),
    "bot": frozenset({"bot", "play"}),  # who may play may do all that a program at the table may
    "operate": frozenset({"operate"}),
}
"""Which scopes of a token allow what needs a scope; one is enough."""


class Guest(Struct, frozen=True):
    """A new player with the token that speaks for them."""

    player_id: str
    name: str
    token: str


class ScopeNotOwned(Exception):
    """A token can hand on only what it is allowed itself."""


class TooManyTokens(Exception):
    """So many tokens of this player live that there is no room for another one."""


class TokenOver(Exception):
    """The token that asks was ended a moment ago."""


async def create_guest(accounts: Accounts, name: str, scopes: Sequence[Scope] = GUEST_SCOPES) -> Guest:
    """Adds a player under a name that need not be unique."""
    token = _new_token()
    player_id = public_id("ply", new_uuid())
    await accounts.add_guest(player_id, name, token_hash(token), scopes)
    return Guest(player_id, name, token)


async def who_is(accounts: Accounts, token: str) -> Principal | None:
    """Finds whom a token speaks for, or None."""
    return await accounts.principal(token_hash(token)) if token.startswith(TOKEN_PREFIX) else None


async def mint_token(
    accounts: Accounts, principal: Principal, scopes: Collection[Scope], label: str, valid_s: int | None
) -> tuple[Token, str]:
    """Makes another token of the player, and gives what is kept of it and the token itself.

    It can do no more and lives no longer than the token that asks for it. Errors: ScopeNotOwned, TooManyTokens,
    TokenOver.
    """
    if not all(is_allowed(principal, scope) for scope in scopes):
        raise ScopeNotOwned
    token, token_id = _new_token(), public_id("tok", new_uuid())
    new = NewToken(token_id, label, tuple(sorted(set(scopes))), valid_s, principal.expires_at, principal.token_id)
    kept = await accounts.add_token(principal.player_id, token_hash(token), new, TOKENS_AT_MOST)
    if kept is None:
        raise TooManyTokens if await accounts.living([principal.token_id]) else TokenOver
    return kept, token


async def first_token(accounts: Accounts, player_id: str, scopes: Collection[Scope]) -> str:
    """Makes a token for a known player that no other one has asked for. Errors: TooManyTokens."""
    token = _new_token()
    new = NewToken(public_id("tok", new_uuid()), "", tuple(sorted(set(scopes))))
    if await accounts.add_token(player_id, token_hash(token), new, TOKENS_AT_MOST) is None:
        raise TooManyTokens
    return token


def is_allowed(principal: Principal, scope: Scope) -> bool:
    """Tells whether the token may do what needs this scope."""
    return not GRANTED_BY[scope].isdisjoint(principal.scopes)


def known_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    """Gives scopes as they are shown, those of this version of the program."""
    kept = set(scopes)
    return tuple(scope for scope in GRANTED_BY if scope in kept)


def token_hash(token: str) -> bytes:
    """Gives what is stored of a token."""
    return sha256(token.encode()).digest()


def _new_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)
