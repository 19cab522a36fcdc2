"""How far the relay is behind the log, and telling the operator when it is too far."""

import logging
from collections.abc import Awaitable, Callable

from msgspec import Struct

ALERT_S = 2.0
"""An event that waits longer is late for players: streams and bots wait with it."""

_log = logging.getLogger(__name__)


class Lag(Struct, frozen=True):
    """How long the oldest event waits that the bus was not told yet; 0 where none waits.

    is_held_back: a transaction that began before it still writes, anywhere in the cluster: nobody may read on.
    """

    seconds: float
    is_held_back: bool


class LagWatch:
    """Logs when the lag passes ALERT_S, and when it is over."""

    def __init__(self, lag: Callable[[], Awaitable[Lag]]) -> None:
        self._lag = lag
        self._is_late = False

    async def look(self) -> None:
        """Looks once. Errors: those of reading the lag."""
        lag = await self._lag()
        is_late = lag.seconds > ALERT_S
        if is_late and not self._is_late:
            why = "an open transaction that writes holds it back" if lag.is_held_back else "it is down, or Redis is"
            _log.warning("the relay is %.1f s behind: %s", lag.seconds, why)
        if self._is_late and not is_late:
            _log.warning("the relay has caught up")
        self._is_late = is_late
