"""Looking names up that strangers have chosen: who names slow ones waits for them alone.

The system's resolver cannot be interrupted: a name whose nameserver is silent holds its thread for half a minute. So
a player has a small share of the threads, a name has one for all who ask for it, and whoever waits may stop waiting.
While many players hold all threads, a name leads where it led last.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias
from weakref import WeakValueDictionary

LookUp: TypeAlias = Callable[[str, int], Sequence[str]]
"""Gives all addresses of a host, in its own time. Errors: OSError, UnicodeError."""

SHARE = 2  # lookups of one player at once; the next ones wait for these
AT_ONCE = 64  # lookups of all: threads that do nothing but wait
REMEMBERED = 10_000  # names, and where they led last; the ones that were asked for longest ago are forgotten


class TooManyLookups(Exception):
    """So many names are being looked up that there is no thread for another one."""


class Resolver:
    """Looks hosts up as the system does, each in a thread that nobody waits for when the process ends.

    leads_out: whether addresses are of use. A name without such ones holds its player's share for `hold_s` at least:
    by how soon the next name gets it nobody learns how soon this one was answered.
    """

    def __init__(
        self,
        look_up: LookUp | None = None,
        *,
        leads_out: Callable[[Sequence[str]], bool] = bool,
        hold_s: float = 0.0,
        share: int = SHARE,
        at_once: int = AT_ONCE,
    ) -> None:
        self._look_up = look_up or _ask_system
        self._leads_out = leads_out
        self._hold_s = hold_s
        self._share = share
        self._at_once = at_once
        self._under_way: dict[tuple[str, int], asyncio.Future[Sequence[str]]] = {}
        self._led_to: dict[tuple[str, int], Sequence[str]] = {}
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, player_id: str, host: str, port: int) -> Sequence[str]:
        """Gives all addresses of a host. Errors: OSError, UnicodeError, TooManyLookups."""
        name = host.lower(), port
        if name not in self._under_way:
            share = self._shares.setdefault(player_id, asyncio.Semaphore(self._share))
            await share.acquire()
            self._begin(name, share)
        if name not in self._under_way:
            return self._led_to[name]
        return await asyncio.shield(self._under_way[name])

    def _begin(self, name: tuple[str, int], share: asyncio.Semaphore) -> None:
        """Starts a lookup, which holds its share until its thread is free at least; none is started twice.

        Nor is one where all threads are held and it is known where the name led last.
        """
        is_new = name not in self._under_way
        if not is_new or len(self._under_way) >= self._at_once:
            share.release()
            if is_new and name not in self._led_to:
                raise TooManyLookups
            return
        loop = asyncio.get_running_loop()
        held_until = loop.time() + self._hold_s
        try:
            found = _in_a_thread(partial(self._look_up, *name))
        except RuntimeError:  # the system gives no thread
            share.release()
            raise TooManyLookups from None
        self._under_way[name] = found

        def end(found: asyncio.Future[Sequence[str]]) -> None:
            del self._under_way[name]
            self._led_to.pop(name, None)
            if found.exception() is None and self._leads_out(found.result()):
                share.release()
                self._led_to[name] = found.result()
                if len(self._led_to) > REMEMBERED:
                    del self._led_to[next(iter(self._led_to))]
            else:
                loop.call_at(held_until, share.release)

        found.add_done_callback(end)


def _in_a_thread(look_up: Callable[[], Sequence[str]]) -> asyncio.Future[Sequence[str]]:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Sequence[str]] = loop.create_future()

    def run() -> None:
        tell: Callable[[], None]
        try:
            tell = partial(found.set_result, look_up())
        except Exception as error:  # noqa: BLE001 - it is raised where somebody waits
            tell = partial(found.set_exception, error)
        with suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(tell)

    threading.Thread(target=run, name="lookup", daemon=True).start()
    return found


def _ask_system(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
