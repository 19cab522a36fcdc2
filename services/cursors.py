"""Cursors of streams of people, as clients keep them: a place in the log, as letters that mean nothing to them.

It tells no more than how far the log is. Games that the player is told late have a version of their own.
"""

import base64
import binascii
import struct
from hashlib import sha256
from uuid import UUID

from msgspec import Struct

from services.ids import public_id, uuid_of
from services.relay import Position

LATE_AT_MOST = 20  # games that are told late; so a cursor stays below a kilobyte
_PLACE = struct.Struct(">8sQQ")  # the generation's digest, transaction, number
_LATE = struct.Struct(">16sI")


class Cursor(Struct, frozen=True):
    """Everything of the player's games up to `position` was told, but of those in `late` only up to these versions.

    generation: the digest of what the position belongs to.
    """

    generation: bytes
    position: Position
    late: dict[str, int] = {}


def digest_of(generation: str) -> bytes:
    """Gives what a cursor keeps of a generation's name."""
    return sha256(generation.encode()).digest()[:8]


def write_cursor(generation: bytes, position: Position, late: dict[str, int]) -> bytes:
    """Writes a cursor as letters, digits, `-` and `_`."""
    raw = _PLACE.pack(generation, *position)
    for game_id, version in late.items():
        uuid = uuid_of("gam", game_id)
        assert uuid is not None
        raw += _LATE.pack(uuid.bytes, version)
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def read_cursor(text: str) -> Cursor | None:
    """Reads a cursor; None for what is none."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
    late, odd = divmod(len(raw) - _PLACE.size, _LATE.size)
    if odd or not 0 <= late <= LATE_AT_MOST:
        return None
    generation, xid, gseq = _PLACE.unpack_from(raw)
    if max(xid, gseq) >= 1 << 63:
        return None
    pairs = _LATE.iter_unpack(raw[_PLACE.size :])
    return Cursor(generation, (xid, gseq), {public_id("gam", UUID(bytes=game)): version for game, version in pairs})
