"""Twins in memory of the ports about players: their tokens, what their keys led to, invites."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from services.ids import new_uuid, public_id
from services.invites import Invite, NewInvite
from services.memory import Clock, utc_now
from services.ports import OPENING, KeyedRequest, NewToken, Principal, Token


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

    async def reserve_game(self, request: KeyedRequest, new_id: UUID, at_most: int) -> tuple[UUID, bytes] | None:
        is_full = len(await self.unfinished(request.principal, at_most)) >= at_most
        return None if is_full and not await self.is_kept(request) else await self.reserve(request, new_id)

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
        self.invites: dict[UUID, Invite] = {}

    async def keep(self, invite_id: UUID, new: NewInvite, at_most: int) -> Invite | None:
        if invite_id not in self.invites and await self.living(new.game_id, new.made_by) < at_most:
            expires_at = self.now() + timedelta(seconds=new.valid_s)
            made = Invite(new.code, new.game_id, new.seat, new.is_hand, new.made_by, expires_at)
            self.invites[invite_id] = made
        return await self.kept(invite_id)

    async def kept(self, invite_id: UUID) -> Invite | None:
        return self._aged(self.invites[invite_id]) if invite_id in self.invites else None

    async def find(self, code: str) -> Invite | None:
        return next((self._aged(invite) for invite in self.invites.values() if invite.code == code), None)

    async def living(self, game_id: str, made_by: str) -> int:
        those = [each for each in self.invites.values() if (each.game_id, each.made_by) == (game_id, made_by)]
        return sum(not self._aged(each).is_expired for each in those)

    async def forget_old(self) -> None:
        since = self.now() - timedelta(days=30)
        self.invites = {kept: invite for kept, invite in self.invites.items() if invite.expires_at >= since}

    def _aged(self, invite: Invite) -> Invite:
        return replace(invite, is_expired=invite.expires_at <= self.now())
