"""How far games have come in the log, asked for many at once."""

import asyncio

from services.ports import GameLog


class Heads:
    """Whoever asks while a question is under way goes into the next one, together with all others.

    So nobody is told less than was acknowledged before they asked, and a hundred readers cost little more than one.
    """

    def __init__(self, log: GameLog) -> None:
        self._log = log
        self._wanted: set[str] = set()
        self._next: asyncio.Task[dict[str, int]] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def head(self, game_id: str) -> int:
        """Gives a game's last version, 0 for a game that the log does not know. Errors: Unavailable."""
        self._wanted.add(game_id)
        if self._next is None:
            self._next = asyncio.create_task(self._ask())
            self._next.add_done_callback(_seen)
        return (await asyncio.shield(self._next)).get(game_id, 0)

    async def _ask(self) -> dict[str, int]:
        async with self._one_at_a_time:
            wanted, self._wanted, self._next = list(self._wanted), set(), None
            return await self._log.heads(wanted)


def _seen(asked: asyncio.Task[dict[str, int]]) -> None:
    """Takes note of a failure that nobody waits for any more."""
    if not asked.cancelled():
        asked.exception()
