"""How far games have come in the log, asked for many at once."""

import asyncio

from services.ports import GameLog


class Heads:
    """Whoever asks while a question is under way goes into the next one, together with all others.

    So nobody is told less than was acknowledged before they asked, and a hundred readers cost little more than one.
    """

    def __init__(self, log: GameLog) -> None:
        self._log = log
        self._waiting: list[tuple[str, asyncio.Future[int]]] = []
        self._asking: set[asyncio.Task[None]] = set()
        self._is_next = False
        self._one_at_a_time = asyncio.Lock()

    def head(self, game_id: str) -> asyncio.Future[int]:
        """Gives a game's last version, 0 for a game that the log does not know. Errors: Unavailable."""
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((game_id, answer))
        if not self._is_next:
            self._is_next = True
            asking = asyncio.create_task(self._ask())
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)
        return answer

    async def _ask(self) -> None:
        async with self._one_at_a_time:
            waiting, self._waiting, self._is_next = self._waiting, [], False
            try:
                heads = await self._log.heads(list({game_id for game_id, _ in waiting}))
            except Exception as error:  # noqa: BLE001 - whoever asked is told, whatever it is
                for _, answer in waiting:
                    if not answer.done():
                        answer.set_exception(error)
                return
            for game_id, answer in waiting:
                if not answer.done():  # who asked may have gone
                    answer.set_result(heads.get(game_id, 0))
