"""Who is at which table, kept in Redis: a key for each player and game that expires."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from infra.bus.on_demand import ImpatientWire
from services.attendance import AWAY_S, EVERYWHERE, Sign

T = TypeVar("T")

_SCRIPT = Path(__file__).with_suffix(".lua").read_bytes()
_SINCE = "shanghai:here:since"
_AT_ONCE = 500  # keys in one call, so that no other caller of Redis waits long


class RedisAttendance:
    """An Attendance on one connection, opened when it is needed."""

    def __init__(self, url: str, *, away_s: float = AWAY_S) -> None:
        self._wire = ImpatientWire(url)
        self._away_s = away_s

    async def attend(self, signs: Collection[Sign]) -> None:
        for some in _in_calls([_key(sign) for sign in signs]):
            await self._call(some, round(self._away_s * 1000))

    async def absent(self, asked: Sequence[Sign]) -> set[Sign]:
        """A player is there who was seen at the game, or follows all their games."""
        signs = sorted({*asked, *((EVERYWHERE, player) for _, player in asked)})
        seen: set[Sign] = set()
        for some in _in_calls(signs):
            age_s, *is_there = await self._call([_key(sign) for sign in some])
            if age_s <= self._away_s:
                return set()
            seen.update(sign for sign, there in zip(some, is_there, strict=True) if there)
        return {sign for sign in asked if sign not in seen and (EVERYWHERE, sign[1]) not in seen}

    async def close(self) -> None:
        """Closes the connection."""
        await self._wire.close()

    async def _call(self, keys: Sequence[str], *arguments: int) -> list[int]:
        count = len(keys) + 1
        told: list[int] = await self._wire.use(
            lambda wire: wire.call("EVAL", _SCRIPT, count, _SINCE, *keys, *arguments)
        )
        return told


def _key(sign: Sign) -> str:
    return f"shanghai:here:{sign[0]}:{sign[1]}"


def _in_calls(those: Sequence[T]) -> Iterator[Sequence[T]]:
    return (those[start : start + _AT_ONCE] for start in range(0, len(those), _AT_ONCE))
