"""Waiting for something, but not for ever, where thousands wait and are woken again and again."""

import asyncio


class Alarm:
    """Sets an event at a moment, which mostly is put off again before it comes.

    Putting it off costs next to nothing: the loop's timer stays, and looks for itself when it runs out.
    """

    __slots__ = ("_due", "_event", "_loop", "_rings_at", "_timer")

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event
        self._loop = asyncio.get_running_loop()
        self._due = self._rings_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def ring_within(self, seconds: float) -> None:
        """Has the event set so many seconds from now, and not before."""
        self._due = self._loop.time() + seconds
        if self._timer is None or self._due < self._rings_at:
            self._set_timer()

    def close(self) -> None:
        """Takes the timer away."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        self.close()
        self._rings_at = self._due
        self._timer = self._loop.call_at(self._due, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._due > self._rings_at:
            self._set_timer()
        else:
            self._event.set()
