"""The way out to addresses that strangers have chosen: nothing inside can be reached by it.

The name is looked up once, every address of it has to be global, and the connection goes to one of these very
addresses: a name that means another one a moment later has no effect. The certificate is checked against the name. Of
the answer only the status is read; a redirect is an answer like others.

Which names there are inside is nobody's business either: one that is not there, one that leads inside and one that
takes too long are one fault, told after the same time.
"""

import asyncio
import logging
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from infra.lookups import Resolver, TooManyLookups
from services.addresses import is_global
from services.delivering import NotSent
from services.webhooks import Fault, Target, UrlRefused, read_target

Resolve: TypeAlias = Callable[[str, str, int], Awaitable[Sequence[str]]]
"""Gives all addresses of a host that a player has named. Errors: OSError, UnicodeError, TooManyLookups."""

LIMIT_S = 5.0  # for everything together
LOOKUP_S = 3.0  # of these for the name; one that leads nowhere always takes so long
_ANSWER_BYTES = 16 * 1024  # read of an answer at most, to come to its status
_INTERIM = 4  # answers of 1xx before the answer
_ADDRESSES = 6  # tried one after the other
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: |\r)")

_log = logging.getLogger(__name__)


class GuardedSender:
    """A Sender over plain sockets.

    is_anywhere: http, other ports and addresses that are not global are allowed. resolve, tls: other ones for tests.
    """

    def __init__(
        self,
        *,
        is_anywhere: bool = False,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        limit_s: float = LIMIT_S,
        lookup_s: float = LOOKUP_S,
    ) -> None:
        self._is_anywhere = is_anywhere
        self._resolve = resolve or Resolver(leads_out=self._leads_out, hold_s=lookup_s)
        self._tls = tls or ssl.create_default_context()
        self._limit_s = limit_s
        self._lookup_s = lookup_s

    async def post(self, player_id: str, url: str, headers: Mapping[str, str], body: bytes) -> int:
        end = asyncio.get_running_loop().time() + self._limit_s
        try:
            async with asyncio.timeout_at(end):
                target = read_target(url, is_anywhere=self._is_anywhere)
                addresses = await self._addresses(player_id, target)
                reader, writer = await self._connected(target, addresses)
        except UrlRefused:
            raise NotSent("address_refused") from None
        except TimeoutError:
            raise NotSent("unreachable") from None
        try:
            async with asyncio.timeout_at(end):
                writer.write(_request(target, headers, body))
                return await _status(reader)
        except TimeoutError:
            raise NotSent("timeout") from None
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise NotSent("bad_answer") from None
        finally:
            writer.transport.abort()  # the rest of the answer is nobody's business

    async def _addresses(self, player_id: str, target: Target) -> Sequence[str]:
        """Looks the host up. Errors: NotSent, when the time for it is over; one bad address among good ones is enough.

        The log tells the operator more than the player is told.
        """
        end = asyncio.get_running_loop().time() + self._lookup_s
        fault: Fault = "no_public_address"
        try:
            async with asyncio.timeout_at(end):
                addresses = await self._resolve(player_id, target.host, target.port)
        except TooManyLookups:
            fault, why = "internal_error", "too many names are being looked up"
        except TimeoutError:
            why = "its nameserver is slow"
        except (OSError, UnicodeError):
            why = "there is no such name"
        else:
            if self._leads_out(addresses):
                return addresses[:_ADDRESSES]
            why = f"it leads to {', '.join(addresses) or 'nothing'}"
        _log.warning("nothing is sent to %s for %s: %s", target.host, player_id, why)
        await asyncio.sleep(end - asyncio.get_running_loop().time())
        raise NotSent(fault)

    def _leads_out(self, addresses: Sequence[str]) -> bool:
        return bool(addresses) and (self._is_anywhere or all(map(is_global, addresses)))

    async def _connected(
        self, target: Target, addresses: Sequence[str]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connects to the first of the addresses that takes it. Errors: NotSent."""
        tls, name = (self._tls, target.host) if target.is_secure else (None, None)
        for address in addresses:
            try:
                return await asyncio.open_connection(
                    address, target.port, limit=_ANSWER_BYTES, ssl=tls, server_hostname=name
                )
            except ssl.SSLError:
                raise NotSent("tls") from None
            except OSError:
                continue
        raise NotSent("unreachable")


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    own = {
        "Host": target.authority,
        "User-Agent": "shanghai-webhooks",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in {**own, **headers}.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


async def _status(reader: asyncio.StreamReader) -> int:
    """Reads as far as the status of the answer. Errors: ValueError for what is no HTTP."""
    left = _ANSWER_BYTES
    for _ in range(_INTERIM):
        found = _STATUS.match(await reader.readuntil(b"\n"))
        if found is None:
            break
        if not found[1].startswith(b"1"):
            return int(found[1])
        while (line := await reader.readuntil(b"\n")) not in (b"\r\n", b"\n"):
            left -= len(line)
            if left < 0:
                raise ValueError("a head without end")
    raise ValueError("no HTTP")
