"""How often something may be asked: the quotas, the port that counts, and its twin in memory."""

import time
from collections.abc import Callable
from typing import Annotated, Literal, Protocol, TypeAlias
from uuid import UUID

from msgspec import Meta, Struct

from domain.state import is_over
from services.ids import age_s, new_uuid, public_id
from services.outcomes import GameNotFound
from services.ports import KeyedRequest, Reservations
from services.reserving import id_for
from services.tables import Tables

Policy: TypeAlias = Literal["reads", "moves", "games", "guests", "strangers", "webhook_tries"]
OPENING_S = 60.0  # whoever opens a game is done with it by then, or has died
_Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]


_ADDRESSES = {
    "guests_per_minute": "guests_per_address_and_minute",
    "strangers_per_s": "strangers_per_address_and_s",
    "strangers_burst": "strangers_per_address_burst",
}


class Quotas(Struct, frozen=True, kw_only=True, rename=_ADDRESSES):
    """What one token may ask, and where it says so one address. burst: at once, after a time of silence.

    moves: everything that changes something, but for opening games. costly_read: so many reads count the view at a
    version, replay, export, hint, a dry run and a fairness check. unfinished: games that a player has opened, or
    plays before no ticket is given for another one and nobody may hand them one.
    strangers: requests without a token, or with one that this server does not know yet. webhook_tries: of one player,
    whatever the token: tests of webhooks, redeliveries, and switching webhooks on.
    streams: open at once, counted by each process of the server for itself; where there are several, a token or an
    address may come to so many at each of them.
    """

    reads_per_s: _Count
    reads_burst: _Count
    costly_read: _Count
    moves_per_s: _Count
    moves_burst: _Count
    games_per_minute: _Count
    games_unfinished: _Count
    guests_per_minute: _Count
    streams_per_token: _Count
    streams_per_address: _Count
    strangers_per_s: _Count
    strangers_burst: _Count
    webhook_tries_per_minute: _Count

    @property
    def policies(self) -> dict[Policy, tuple[int, float]]:
        """Gives each policy's quota and the seconds in which it refills."""
        return {
            "reads": (self.reads_burst, self.reads_burst / self.reads_per_s),
            "moves": (self.moves_burst, self.moves_burst / self.moves_per_s),
            "games": (self.games_per_minute, 60.0),
            "guests": (self.guests_per_minute, 60.0),
            "strangers": (self.strangers_burst, self.strangers_burst / self.strangers_per_s),
            "webhook_tries": (self.webhook_tries_per_minute, 60.0),
        }


class Verdict(Struct, frozen=True, gc=False):
    """Whether a request may pass, what is left of the quota, and after how long a refused one may be repeated.

    wait_s of one that passes: until the quota is full again.
    """

    passes: bool
    remaining: int
    wait_s: float


class Limit(Protocol):
    """A quota of `quota` requests in `window_s` seconds for each subject; it refills evenly."""

    quota: int
    window_s: float

    async def take(self, subject: str, cost: int = 1) -> Verdict:
        """Counts one request that weighs `cost`. Whatever is away, somebody may rather pass than wait."""
        ...


class TooManyGames(Exception):
    """So many games that the player has opened, or plays and asks for another one, are not over."""


async def reserved_game(reservations: Reservations, tables: Tables, request: KeyedRequest, at_most: int) -> UUID:
    """Gives the id that is kept for a request that opens a game, also where no other game may be opened.

    Errors: TooManyGames, KeyReused. Cost: one statement, in which the player's games are counted; where it finds too
    many, they are read too, and those over not found again.
    """
    while (kept := await reservations.reserve_game(request, new_uuid(), at_most)) is None:
        ids = await reservations.unfinished(request.principal, at_most)
        over = [new_id for new_id in ids if await _is_over(tables, new_id)]
        if len(ids) >= at_most and not over:
            raise TooManyGames
        await reservations.finish(over)
    return id_for(request, *kept)


async def _is_over(tables: Tables, new_id: UUID) -> bool:
    """Tells whether a game has ended; one that was never opened, or lies in an archive, is over too.

    One that is not there and whose id is new is just being opened by another request: it counts.
    """
    try:
        hot = await tables.fresh(public_id("gam", new_id))
    except GameNotFound:
        return age_s(new_id) > OPENING_S
    return is_over(hot.game.status)


class MemoryLimit:
    """A Limit of one process."""

    def __init__(self, *, quota: int, window_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.quota = quota
        self.window_s = window_s
        self._clock = clock
        self._full_at: dict[str, float] = {}

    async def take(self, subject: str, cost: int = 1) -> Verdict:
        """Counts one request; kept is the moment at which the subject's quota will be full again."""
        now = self._clock()
        each_s = self.window_s / self.quota
        before = max(now, self._full_at.get(subject, now))
        full_at = before + min(cost, self.quota) * each_s
        end = now + self.window_s + 1e-6  # parts of a second do not add up to a whole one exactly
        if full_at > end:
            return Verdict(passes=False, remaining=int((end - before) / each_s), wait_s=full_at - end)
        self._full_at[subject] = full_at
        return Verdict(passes=True, remaining=int((end - full_at) / each_s), wait_s=full_at - now)
