"""The operators' twin in memory: what they search is read from the other twins, the book is a list."""

from datetime import UTC, datetime
from uuid import UUID

from domain.evolve import fold
from domain.state import Game
from services.ids import uuid_of
from services.listings import people_on
from services.memory import MemoryLog
from services.memory_accounts import MemoryAccounts
from services.operating import Deed, FoundGame, FoundPlayer, GamesSought, KeptWork, NotedDeed
from services.ports import Recorded


class MemoryDesk:
    """An OperatorDesk over a MemoryLog and MemoryAccounts."""

    def __init__(self, log: MemoryLog, accounts: MemoryAccounts) -> None:
        self._log = log
        self._accounts = accounts
        self._book: dict[UUID, NotedDeed] = {}

    async def games(self, sought: GamesSought, before: str | None, limit: int) -> list[FoundGame]:
        older = sorted((game for game in self._log.games if before is None or game < before), reverse=True)
        found = [_found(game_id, self._log.games[game_id], await self.work(game_id)) for game_id in older]
        return [listed for game, listed in found if _is_sought(game, listed, sought)][:limit]

    async def work(self, game_id: str) -> KeptWork | None:
        version = max((version for game, version in self._log.work if game == game_id), default=None)
        if version is None:
            return None
        kind, due_at = self._log.work[game_id, version]
        if kind is None:
            return KeptWork(version, None, None, 0)
        return KeptWork(version, kind, due_at, (self._log.now() - due_at).total_seconds())

    async def players(self, name: str, before: str | None, limit: int) -> list[FoundPlayer]:
        older = sorted((player for player in self._accounts.players if before is None or player < before), reverse=True)
        wanted = name.lower()
        return [await self._player(each) for each in older if wanted in self._accounts.players[each].lower()][:limit]

    async def player(self, player_id: str) -> FoundPlayer | None:
        return await self._player(player_id) if player_id in self._accounts.players else None

    async def revoke_all(self, player_id: str) -> None:
        self._accounts.revoke_all(player_id)

    async def suspend(self, player_id: str, *, is_suspended: bool) -> None:
        if not is_suspended:
            self._accounts.suspended.pop(player_id, None)
        elif player_id in self._accounts.players:
            self._accounts.suspended.setdefault(player_id, self._accounts.now())

    async def note(self, deed: Deed) -> None:
        number, game_id, player_id = len(self._book) + 1, _known("gam", deed.game_id), _known("ply", deed.player_id)
        noted = NotedDeed(number, self._log.now(), deed.what, deed.operator, game_id, player_id, deed.reason)
        self._book.setdefault(deed.deed_id, noted)

    async def deeds(self, before: int | None, limit: int) -> list[NotedDeed]:
        return [deed for deed in reversed(self._book.values()) if before is None or deed.number < before][:limit]

    async def _player(self, player_id: str) -> FoundPlayer:
        tokens = await self._accounts.tokens(player_id)
        created_at = _made_at(player_id)
        suspended_at = self._accounts.suspended.get(player_id)
        return FoundPlayer(player_id, self._accounts.players[player_id], created_at, suspended_at, len(tokens))


def _found(game_id: str, recorded: list[Recorded], work: KeptWork | None) -> tuple[Game, FoundGame]:
    game = fold(each.event for each in recorded)
    assert isinstance(game, Game)
    return game, FoundGame(game_id, game.status, game.version, recorded[-1].occurred_at, work)


def _is_sought(game: Game, listed: FoundGame, sought: GamesSought) -> bool:
    people = {game.opened_by, *(player_id for _, player_id in people_on(game.seats))}
    return (
        sought.game_id in (None, listed.game_id)
        and (sought.player_id is None or sought.player_id in people)
        and sought.status in (None, listed.status)
        and (listed.is_stalled or not sought.is_stalled)
    )


def _made_at(player_id: str) -> datetime:
    """Reads when a player was added from their id, a UUIDv7."""
    uuid = uuid_of("ply", player_id)
    assert uuid is not None
    return datetime.fromtimestamp((uuid.int >> 80) / 1000, UTC)


def _known(prefix: str, text: str | None) -> str | None:
    return None if text is None or uuid_of(prefix, text) is None else text
