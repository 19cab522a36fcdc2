"""Public ids: a prefix and 26 characters of Crockford base32, one to one with a UUID."""

import os
import time
from collections.abc import Iterable
from functools import lru_cache
from uuid import UUID

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = frozenset(ALPHABET)
_DIGITS = str.maketrans(ALPHABET, "0123456789abcdefghijklmnopqrstuv")  # of the same values, as int() reads them
_LENGTH = 26
_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
_SHIFTS = range(120, -10, -10)  # of the ten bits that a pair of letters holds


def new_uuid() -> UUID:
    """Makes a UUIDv7: ids made later sort later, to the millisecond."""
    stamp = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (
        (stamp & (1 << 48) - 1) << 80 | 0x7 << 76 | (random >> 68 & 0xFFF) << 64 | 0b10 << 62 | random & (1 << 62) - 1
    )
    return UUID(int=value)


def age_s(uuid: UUID) -> float:
    """Gives how long ago a UUIDv7 was made, by this machine's clock."""
    return time.time() - (uuid.int >> 80) / 1000


def public_id(prefix: str, uuid: UUID) -> str:
    """Writes a UUID as a public id, `gam_06…`."""
    return f"{prefix}_{_written(uuid.int)}"


def uuid_of(prefix: str, text: str) -> UUID | None:
    """Reads a public id; None for anything that `public_id` would not have written with this prefix."""
    return _read(prefix, text) if len(text) == len(prefix) + 1 + _LENGTH else None


@lru_cache(maxsize=4096)
def _written(value: int) -> str:
    """Writes 26 letters. The same few games and players are named again and again."""
    return "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])


@lru_cache(maxsize=4096)
def _read(prefix: str, text: str) -> UUID | None:
    """Reads what is as long as an id."""
    letters = text[-_LENGTH:]
    if text != f"{prefix}_{letters}" or not _LETTERS.issuperset(letters):
        return None
    value = int(letters.translate(_DIGITS), 32)
    return UUID(int=value) if value < 1 << 128 else None


def public_id_if_any(prefix: str, uuid: UUID | None) -> str | None:
    """Writes a UUID as a public id, and nothing as nothing."""
    return None if uuid is None else public_id(prefix, uuid)


def uuid_if_any(prefix: str, text: str | None) -> UUID | None:
    """Reads a public id, and nothing as nothing."""
    return None if text is None else uuid_of(prefix, text)


def uuids_of(prefix: str, texts: Iterable[str]) -> list[UUID]:
    """Reads public ids; what is none is left out."""
    return [uuid for text in texts if (uuid := uuid_of(prefix, text))]
