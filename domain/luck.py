"""All luck of a game comes from one chain of secrets, so that players can check every shuffle.

The algorithm, with test vectors, is described in domain/README.md ("Fair dealing").
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from hmac import digest
from itertools import count
from typing import TypeVar

CHAIN_LENGTH = 128

T = TypeVar("T")


def link(seed: bytes, number: int) -> bytes:
    """Gives `c_number` of the chain whose last link `c_128` is `seed`; `c_0` is the public commitment.

    Shape: 32 raw bytes. Cost: at most 128 hashes.
    """
    for _ in range(CHAIN_LENGTH - number):
        seed = sha256(seed).digest()
    return seed


def words(secret: bytes, game_id: str, number: int, nonces: Sequence[str | None], label: str) -> Iterator[int]:
    """Streams the 32-bit words of one use of luck, named by its label, in round `number` (from 1)."""
    lines = ("shanghai-fair/1", game_id, str(number), *(nonce or "" for nonce in nonces), label)
    message = "".join(f"{line}\n" for line in lines).encode()
    for block in count():
        drawn = digest(secret, message + block.to_bytes(4, "big"), "sha256")
        for at in range(0, 32, 4):
            yield int.from_bytes(drawn[at : at + 4], "big")


def below(stream: Iterator[int], bound: int) -> int:
    """Draws a number from 0 to bound − 1, each equally likely: words beyond the last whole multiple are thrown away."""
    limit = 2**32 - 2**32 % bound
    return next(word for word in stream if word < limit) % bound


def shuffled(cards: Sequence[T], stream: Iterator[int]) -> tuple[T, ...]:
    """Shuffles by swapping from the end down (Fisher and Yates)."""
    mixed = list(cards)
    for place in range(len(mixed) - 1, 0, -1):
        other = below(stream, place + 1)
        mixed[place], mixed[other] = mixed[other], mixed[place]
    return tuple(mixed)
