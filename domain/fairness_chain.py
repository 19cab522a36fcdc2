"""What was fixed before the cards: the chain of secrets, and the players' own nonces."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from msgspec import Struct

from domain.fairness_report import Finding, ShownEvent
from domain.luck import CHAIN_LENGTH

SECRET_BYTES, NONCE_BYTES = 32, 16


class Secrets(Struct, frozen=True):
    """The rounds' secrets as they were revealed, by number, and what is wrong with them."""

    of_round: dict[int, bytes]
    findings: tuple[Finding, ...]


def revealed_secrets(events: Sequence[ShownEvent], commitment: str) -> Secrets:
    """Collects the secrets and hashes each down to the one before, the first to the game's commitment.

    One that does not lead there is a finding, and its round can still be dealt again with it.
    """
    found: dict[int, bytes] = {}
    findings: list[Finding] = []
    number, known, link = 0, 0, commitment
    for event in events:
        number += event.kind == "round_dealt"
        if "revealed" not in event.data or number in found:
            continue
        secret = raw_bytes(event.data["revealed"], SECRET_BYTES)
        if secret is None or not 1 <= number <= CHAIN_LENGTH:
            text = "a secret is 32 bytes in lower-case hex and belongs to one of 128 rounds"
            findings.append(Finding(event.version, "secret_malformed", text))
            continue
        found[number] = secret
        if hashed(secret, number - known).hex() == link:
            known, link = number, secret.hex()
        else:
            before = f"the secret of round {known}" if known else "the commitment of the first event"
            text = f"the secret of round {number} does not hash to {before}"
            findings.append(Finding(event.version, "secret_off_chain", text))
    return Secrets(found, tuple(findings))


def hashed(secret: bytes, times: int) -> bytes:
    """Hashes a secret so many links down its chain."""
    for _ in range(times):
        secret = sha256(secret).digest()
    return secret


def wrong_nonces(commitments: Sequence[str | None], nonces: Sequence[str | None]) -> Iterator[str]:
    """Tells which seats' nonces are not those that the seats had committed themselves to."""
    if len(commitments) != len(nonces):
        yield f"{len(commitments)} seats have {len(nonces)} nonces"
        return
    for seat, (commitment, nonce) in enumerate(zip(commitments, nonces, strict=True)):
        raw = raw_bytes(nonce, NONCE_BYTES)
        if (commitment, nonce) != (None, None) and (raw is None or sha256(raw).hexdigest() != commitment):
            yield f"the nonce of seat {seat} is not the one that it has committed itself to"


def raw_bytes(text: object, length: int) -> bytes | None:
    """Reads so many bytes in lower-case hex, or gives None for anything else."""
    if not isinstance(text, str) or len(text) != 2 * length:
        return None
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return None
    return raw if raw.hex() == text else None
