"""What the use-cases need from the world, as small protocols. Each has a twin in memory in services/memory*.py and an
adapter in infra/; both pass one contract suite.

Game ids are public ids (`gam_…`), times are aware UTC datetimes of the database's clock.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from msgspec import Struct

from domain.events import Event

Actor: TypeAlias = Literal["player", "bot", "timer", "table", "operator"]
WorkKind: TypeAlias = Literal["bots", "deal", "score", "close_claims", "turn_timer", "warn", "expire"]


class NewEvent(Struct, frozen=True, gc=False):
    """An event to be stored. ordinal: its place among the events of its command, from 0."""

    event: Event
    actor: Actor
    round: int | None
    command_id: UUID
    ordinal: int


class Recorded(Struct, frozen=True, gc=False):
    """An event as it is stored, with its number in the game."""

    game_id: str
    version: int
    event: Event
    actor: Actor
    round: int | None
    command_id: UUID
    occurred_at: datetime


class Work(Struct, frozen=True):
    """The earliest thing that must happen if nobody acts: `delay_ms` after `at` or the append."""

    kind: WorkKind
    delay_ms: int
    at: datetime | None = None


class KeyedRequest(Struct, frozen=True):
    """A request that its sender may repeat: who sent what. fingerprint: method, path and raw body, hashed."""

    principal: str
    operation: str
    key: str
    fingerprint: bytes


class Receipt(Struct, frozen=True):
    """What a keyed request led to: its command and the versions that it wrote."""

    fingerprint: bytes
    command_id: UUID
    first_version: int
    last_version: int


class Append(Struct, frozen=True):
    """Everything that one command writes: events after version `after`, its receipt, the work that may follow.

    The receipt covers the events of the first command in `events`.
    """

    game_id: str
    after: int
    events: tuple[NewEvent, ...]
    work: Work | None = None
    request: KeyedRequest | None = None


class VersionConflict(Exception):
    """Somebody else has written this version or carried out this command; nothing was written."""


class KeyUsed(Exception):
    """This principal has used this key on this game before; nothing was written."""


class Unavailable(Exception):
    """The database cannot be reached; for a write the outcome is unknown."""


class Overloaded(Unavailable):
    """More waits to be written than can be written soon; nothing was written."""


class GameLog(Protocol):
    """The event store. Appends are whole or not at all, and durable when they return."""

    async def read(self, game_id: str, after: int = 0) -> list[Recorded]:
        """Reads a game's events in order, from version `after` + 1; empty for an unknown game."""
        ...

    async def append(self, append: Append) -> datetime:
        """Appends in one statement and gives its time.

        Errors: VersionConflict where `after` is not the game's head; KeyUsed; Unavailable, of which Overloaded is one.
        """
        ...

    async def receipt(self, game_id: str, principal: str, operation: str, key: str) -> Receipt | None:
        """Finds what a keyed request led to."""
        ...

    async def command_range(self, game_id: str, command_id: UUID) -> tuple[int, int] | None:
        """Finds the first and last version that a command wrote, or None where it was never carried out."""
        ...

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        """Gives the last version of each known game."""
        ...


class Secrets(Protocol):
    """The seeds of the chains of luck, kept outside the event stream and encrypted at rest."""

    async def keep(self, game_id: str, seed: bytes) -> None:
        """Keeps a game's seed; keeping it again changes nothing."""
        ...

    async def seed(self, game_id: str) -> bytes:
        """Gives the seed; raises KeyError for a game that has none."""
        ...


class Principal(Struct, frozen=True):
    """Who is calling, and with which token. expires_at: after which the token speaks for nobody."""

    player_id: str
    name: str
    scopes: tuple[str, ...]
    token_id: str = ""
    expires_at: datetime | None = None


class Token(Struct, frozen=True):
    """A token as its player may see it again: everything but itself. label: what the player calls it."""

    token_id: str
    label: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None


class NewToken(Struct, frozen=True):
    """A token to be kept. valid_s: seconds until it expires; it never lives longer than `expires_at`.

    asked_by: the token that asks for it and has to live still; it ends with that one.
    """

    token_id: str
    label: str
    scopes: tuple[str, ...]
    valid_s: int | None = None
    expires_at: datetime | None = None
    asked_by: str | None = None


class Accounts(Protocol):
    """Players, their names and their tokens. Tokens are known by their SHA-256 only."""

    async def add_guest(self, player_id: str, name: str, token_hash: bytes, scopes: Sequence[str]) -> None:
        """Adds a player with a first token."""
        ...

    async def principal(self, token_hash: bytes) -> Principal | None:
        """Finds whose token it is, or None where it is unknown or revoked, or its player suspended."""
        ...

    async def names(self, player_ids: Sequence[str]) -> dict[str, str]:
        """Gives the present names of those players that are known."""
        ...

    async def rename(self, player_id: str, name: str) -> bool:
        """Gives a player another name; False where there is none such."""
        ...

    async def forget(self, player_id: str) -> None:
        """Removes a player with name and tokens; an unknown one is forgotten already."""
        ...

    async def add_token(self, player_id: str, token_hash: bytes, new: NewToken, at_most: int) -> Token | None:
        """Adds a token to a known player, and clears away dead ones; None where `at_most` live already."""
        ...

    async def tokens(self, player_id: str) -> list[Token]:
        """Lists a player's living tokens, the oldest first."""
        ...

    async def revoke(self, player_id: str, token_id: str, asked_by: str | None = None) -> set[str]:
        """Ends a token and what it has made, and these in turn, but not the one that asks nor what that has made.

        Gives all that are ended; none where the player has no such token. Doing it again changes nothing.
        """
        ...

    async def living(self, token_ids: Sequence[str]) -> set[str]:
        """Gives those of the tokens that are known, not revoked and not expired, of players who are not suspended."""
        ...


OPENING = ("createGame", "rematch")
"""The operations whose reserved ids are those of games."""


class Reservations(Protocol):
    """Keys of requests that make something new: a crash in between is finished by the retry under the same id."""

    async def reserve(self, request: KeyedRequest, new_id: UUID) -> tuple[UUID, bytes]:
        """Keeps the id for this key unless there is one already; gives the id and fingerprint that are kept."""
        ...

    async def reserve_game(self, request: KeyedRequest, new_id: UUID, at_most: int) -> tuple[UUID, bytes] | None:
        """Keeps the id of a game as `reserve` does; None where the principal has `at_most` unfinished ones already."""
        ...

    async def is_kept(self, request: KeyedRequest) -> bool:
        """Tells whether there is an id for this key."""
        ...

    async def unfinished(self, player_id: str, limit: int) -> list[UUID]:
        """Lists up to `limit` ids of games that the player has opened and that were not said to be over."""
        ...

    async def finish(self, new_ids: Sequence[UUID]) -> None:
        """Keeps that these games are over, or were never opened."""
        ...


class DueWork(Struct, frozen=True):
    """A game where something is due."""

    game_id: str
    version: int
    kind: WorkKind


class WorkList(Protocol):
    """The work rows; only a game's newest counts."""

    async def due(self, limit: int) -> list[DueWork]:
        """Lists games whose newest work row is due by now, the longest overdue first."""
        ...

    async def now(self) -> datetime:
        """Gives the time by which rows become due: the database's, whatever the clocks of other machines say."""
        ...

    async def forget_overtaken(self, limit: int) -> int:
        """Deletes up to `limit` rows that are not their game's newest; gives how many."""
        ...


class Jobs(Protocol):
    """The way to the workers. A job is named by its game, or its webhook; doing it twice is harmless."""

    async def hand_out(self, *subject_ids: str) -> None:
        """Queues the tending of games, or visits of webhooks, in this order; raises Unavailable without the broker."""
        ...

    async def length(self) -> int:
        """Gives how many jobs wait for a worker; raises Unavailable."""
        ...


class FeedEntry(Struct, frozen=True):
    """A committed event as the bus tells it. recorded: None where the event must not travel: read it from the log."""

    game_id: str
    version: int
    recorded: Recorded | None


class BusReader(Protocol):
    """The stream of committed events, from now on."""

    def entries(self) -> AsyncIterator[list[FeedEntry]]:
        """Yields batches as they come, an empty one after each second without; raises Unavailable."""
        ...
