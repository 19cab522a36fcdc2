"""Appends for tests of the store: small events, made quickly."""

from uuid import UUID

from domain.events import CardDrawn, TurnEnded
from services.ids import new_uuid, public_id
from services.ports import Actor, Append, KeyedRequest, NewEvent, Work

ANNA = "ply_anna"
BORIS = "ply_boris"


def new_game() -> str:
    return public_id("gam", new_uuid())


def drawn(
    card: str = "7H", count: int = 1, *, command: UUID | None = None, actor: Actor = "player"
) -> tuple[NewEvent, ...]:
    """Draws a card and ends the turn, over and over, all in one command."""
    command = command or new_uuid()
    events = (CardDrawn(seat=0, source="stock", card=card, stock_count=50), TurnEnded(seat=0))
    return tuple(NewEvent(events[n % 2], actor, 1, command, n) for n in range(count))


def append(
    game_id: str, after: int = 0, count: int = 1, *, work: Work | None = None, request: KeyedRequest | None = None
) -> Append:
    return Append(game_id, after, drawn(count=count), work, request)


def keyed(key: str = "k1", *, principal: str = ANNA, operation: str = "makeMove") -> KeyedRequest:
    return KeyedRequest(principal, operation, key, fingerprint=b"f" * 32)
