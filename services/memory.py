"""The ports' twins in memory: what use-cases and tests run on where no engine is wanted.

They answer as the adapters in infra/ do; the contract suite runs on both. One event loop, nothing survives.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from services.ids import new_uuid, public_id
from services.invites import Invite, NewInvite
from services.ports import (
    OPENING,
    Append,
    DueWork,
    FeedEntry,
    KeyedRequest,
    KeyUsed,
    NewToken,
    Principal,
    Receipt,
    Recorded,
    Token,
    Unavailable,
    VersionConflict,
    WorkKind,
)
from services.receipts import receipt_of

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Is the present time, aware."""
    return datetime.now(UTC)


class MemoryLog:
    """A GameLog; `work` has the rows of MemoryWorkList, `listeners` are called with each append's events."""

    def __init__(self, now: Clock = utc_now) -> None:
        self.now = now
        self.games: dict[str, list[Recorded]] = {}
        self.receipts: dict[tuple[str, str, str, str], Receipt] = {}
        self.work: dict[tuple[str, int], tuple[WorkKind | None, datetime]] = {}
        self.listeners: list[Callable[[list[Recorded]], None]] = []

    async def read(self, game_id: str, after: int = 0) -> list[Recorded]:
        return self.games.get(game_id, [])[after:]

    async def append(self, append: Append) -> datetime:
        stored = self.games.get(append.game_id, [])
        self._refuse(append, stored)
        at = self.now()
        recorded = [
            Recorded(append.game_id, version, new.event, new.actor, new.round, new.command_id, at)
            for version, new in enumerate(append.events, append.after + 1)
        ]
        self.games[append.game_id] = stored + recorded
        self._keep_receipt(append)
        self._keep_work(append, at)
        for listener in self.listeners:
            listener(recorded)
        return at

    async def receipt(self, game_id: str, principal: str, operation: str, key: str) -> Receipt | None:
        return self.receipts.get((game_id, principal, operation, key))

    async def command_range(self, game_id: str, command_id: UUID) -> tuple[int, int] | None:
        versions = [e.version for e in self.games.get(game_id, []) if e.command_id == command_id]
        return (versions[0], versions[-1]) if versions else None

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        return {game: self.games[game][-1].version for game in game_ids if game in self.games}

    def _refuse(self, append: Append, stored: list[Recorded]) -> None:
        if append.request and _place(append.game_id, append.request) in self.receipts:
            raise KeyUsed
        known = {recorded.command_id for recorded in stored}
        if len(stored) != append.after or any(new.command_id in known for new in append.events):
            raise VersionConflict

    def _keep_receipt(self, append: Append) -> None:
        if append.request:
            self.receipts[_place(append.game_id, append.request)] = receipt_of(append, append.request)

    def _keep_work(self, append: Append, at: datetime) -> None:
        place = (append.game_id, append.after + len(append.events))
        if append.work is None:
            self.work[place] = (None, datetime.max.replace(tzinfo=UTC))
        else:
            delay = timedelta(milliseconds=append.work.delay_ms)
            self.work[place] = (append.work.kind, (append.work.at or at) + delay)


class MemorySecrets:
    """Secrets in a dict."""

    def __init__(self) -> None:
        self.seeds: dict[str, bytes] = {}

    async def keep(self, game_id: str, seed: bytes) -> None:
        self.seeds.setdefault(game_id, seed)

    async def seed(self, game_id: str) -> bytes:
        return self.seeds[game_id]


class KeptToken(Struct):
    """A row of the table of tokens."""

    player_id: str
    token: Token
    made_by: str | None = None
    is_revoked: bool = False


class MemoryAccounts:
    """Accounts in two dicts, tokens by their hashes."""

    def __init__(self, now: Clock = utc_now) -> None:
        self.now = now
        self.players: dict[str, str] = {}
        self.suspended: dict[str, datetime] = {}
        self.kept: dict[bytes, KeptToken] = {}
        self.when_all_end: list[Callable[[str], None]] = []  # told the player

    async def add_guest(self, player_id: str, name: str, token_hash: bytes, scopes: Sequence[str]) -> None:
        self.players[player_id] = name
        token = Token(public_id("tok", new_uuid()), "", tuple(scopes), self.now(), None)
        self.kept[token_hash] = KeptToken(player_id, token)

    async def principal(self, token_hash: bytes) -> Principal | None:
        kept = self.kept.get(token_hash)
        if kept is None or not self._lives(kept) or kept.player_id in self.suspended:
            return None
        token = kept.token
        return Principal(kept.player_id, self.players[kept.player_id], token.scopes, token.token_id, token.expires_at)

    async def names(self, player_ids: Sequence[str]) -> dict[str, str]:
        return {player: self.players[player] for player in player_ids if player in self.players}

    async def rename(self, player_id: str, name: str) -> bool:
        if player_id not in self.players:
            return False
        self.players[player_id] = name
        return True

    async def forget(self, player_id: str) -> None:
        self.players.pop(player_id, None)
        self.suspended.pop(player_id, None)
        self.kept = {token: kept for token, kept in self.kept.items() if kept.player_id != player_id}

    async def add_token(self, player_id: str, token_hash: bytes, new: NewToken, at_most: int) -> Token | None:
        if player_id not in self.players or len(await self.tokens(player_id)) >= at_most:
            return None
        if new.asked_by is not None and not await self.living([new.asked_by]):
            return None
        self.kept = {
            token: kept for token, kept in self.kept.items() if kept.player_id != player_id or self._lives(kept)
        }
        ends = [new.expires_at] if new.expires_at else []
        ends += [self.now() + timedelta(seconds=new.valid_s)] if new.valid_s else []
        token = Token(new.token_id, new.label, new.scopes, self.now(), min(ends, default=None))
        self.kept[token_hash] = KeptToken(player_id, token, new.asked_by)
        return token

    async def tokens(self, player_id: str) -> list[Token]:
        own = [kept.token for kept in self.kept.values() if kept.player_id == player_id and self._lives(kept)]
        return sorted(own, key=lambda token: (token.created_at, token.token_id))

    async def revoke(self, player_id: str, token_id: str, asked_by: str | None = None) -> set[str]:
        own = {kept.token.token_id: kept for kept in self.kept.values() if kept.player_id == player_id}
        if token_id not in own:
            return set()
        ended, above = _line(own, token_id, asked_by), own[token_id].made_by
        for each, kept in own.items():
            kept.is_revoked |= each in ended
            if each not in ended and kept.made_by in ended:
                kept.made_by = above
        return ended

    def revoke_all(self, player_id: str) -> None:
        """Ends all tokens of a player, and what goes with them."""
        for kept in self.kept.values():
            kept.is_revoked |= kept.player_id == player_id
        for tell in self.when_all_end:
            tell(player_id)

    async def living(self, token_ids: Sequence[str]) -> set[str]:
        living = {
            kept.token.token_id
            for kept in self.kept.values()
            if self._lives(kept) and kept.player_id not in self.suspended
        }
        return living.intersection(token_ids)

    def _lives(self, kept: KeptToken) -> bool:
        expires_at = kept.token.expires_at
        return not kept.is_revoked and (expires_at is None or expires_at > self.now())


def _line(own: Mapping[str, KeptToken], token_id: str, spared: str | None) -> set[str]:
    """Gives a token and what it has made, and these in turn, without the one that is spared and what it has made."""
    made = [each for each, kept in own.items() if kept.made_by == token_id != spared != each]
    return {token_id}.union(*(_line(own, each, spared) for each in made))


class MemoryReservations:
    """Reservations in a dict."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, str], tuple[UUID, bytes]] = {}
        self.over: set[UUID] = set()

    async def reserve(self, request: KeyedRequest, new_id: UUID) -> tuple[UUID, bytes]:
        place = (request.principal, request.operation, request.key)
        return self.kept.setdefault(place, (new_id, request.fingerprint))

    async def is_kept(self, request: KeyedRequest) -> bool:
        return (request.principal, request.operation, request.key) in self.kept

    async def unfinished(self, player_id: str, limit: int) -> list[UUID]:
        games = [
            new_id
            for (principal, operation, _), (new_id, _) in self.kept.items()
            if principal == player_id and operation in OPENING and new_id not in self.over
        ]
        return games[:limit]

    async def finish(self, new_ids: Sequence[UUID]) -> None:
        self.over.update(new_ids)


class MemoryInvites:
    """Invites in a dict."""

    def __init__(self, now: Clock = utc_now) -> None:
        self.now = now
        self.kept: dict[UUID, Invite] = {}

    async def keep(self, invite_id: UUID, new: NewInvite) -> Invite:
        expires_at = self.now() + timedelta(seconds=new.valid_s)
        made = Invite(new.code, new.game_id, new.seat, new.is_hand, new.made_by, expires_at)
        return self._aged(self.kept.setdefault(invite_id, made))

    async def find(self, code: str) -> Invite | None:
        return next((self._aged(invite) for invite in self.kept.values() if invite.code == code), None)

    async def living(self, game_id: str, made_by: str) -> int:
        those = [each for each in self.kept.values() if (each.game_id, each.made_by) == (game_id, made_by)]
        return sum(not self._aged(each).is_expired for each in those)

    async def forget_old(self) -> None:
        since = self.now() - timedelta(days=30)
        self.kept = {invite_id: invite for invite_id, invite in self.kept.items() if invite.expires_at >= since}

    def _aged(self, invite: Invite) -> Invite:
        return replace(invite, is_expired=invite.expires_at <= self.now())


class MemoryWorkList:
    """The work rows that a MemoryLog's appends left."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log

    async def due(self, limit: int) -> list[DueWork]:
        now = self.log.now()
        due = [
            (due_at, DueWork(game_id, version, kind))
            for (game_id, version), (kind, due_at) in self.log.work.items()
            if kind is not None and due_at <= now and self._is_newest(game_id, version)
        ]
        return [work for _, work in sorted(due, key=lambda pair: pair[0])][:limit]

    async def now(self) -> datetime:
        return self.log.now()

    async def forget_overtaken(self, limit: int) -> int:
        games = Counter(game for game, _ in self.log.work)
        overtaken = [
            (game, version)
            for (game, version), (kind, _) in sorted(self.log.work.items())
            if not self._is_newest(game, version) or (kind is None and games[game] == 1)
        ][:limit]
        for place in overtaken:
            del self.log.work[place]
        return len(overtaken)

    def _is_newest(self, game_id: str, version: int) -> bool:
        return version == max(other for game, other in self.log.work if game == game_id)


class MemoryJobs:
    """Keeps what was handed out, in order; with `is_lost` the broker is out of reach."""

    def __init__(self) -> None:
        self.handed_out: list[str] = []
        self.is_lost = False

    async def hand_out(self, subject_id: str) -> None:
        if self.is_lost:
            raise Unavailable
        self.handed_out.append(subject_id)


class MemoryBus:
    """The events of a MemoryLog as they come; `lose` breaks all readings as a vanished bus does.

    pointers: event classes that travel without their content.
    """

    def __init__(self, log: MemoryLog, pointers: tuple[type, ...] = ()) -> None:
        self.pointers = pointers
        self.queues: list[asyncio.Queue[list[FeedEntry] | None]] = []
        log.listeners.append(self._tell)

    def entries(self) -> AsyncIterator[list[FeedEntry]]:
        queue: asyncio.Queue[list[FeedEntry] | None] = asyncio.Queue()
        self.queues.append(queue)
        return self._follow(queue)

    def lose(self) -> None:
        for queue in self.queues:
            queue.put_nowait(None)

    async def _follow(self, queue: asyncio.Queue[list[FeedEntry] | None]) -> AsyncIterator[list[FeedEntry]]:
        try:
            while True:
                try:
                    batch = await asyncio.wait_for(queue.get(), timeout=1)
                except TimeoutError:
                    batch = []
                if batch is None:
                    raise Unavailable
                yield batch
        finally:
            self.queues.remove(queue)

    def _tell(self, recorded: list[Recorded]) -> None:
        batch = [FeedEntry(e.game_id, e.version, None if isinstance(e.event, self.pointers) else e) for e in recorded]
        for queue in self.queues:
            queue.put_nowait(batch)


def _place(game_id: str, request: KeyedRequest) -> tuple[str, str, str, str]:
    return (game_id, request.principal, request.operation, request.key)
