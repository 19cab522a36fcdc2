"""Stored events: a small number for type and schema beside a JSON payload. Old schemas are upcast only here."""

from collections.abc import Callable
from typing import Any

import msgspec

from domain import events as e
from domain.events import Event

TYPE_NUMBERS: dict[type[Event], int] = {
    e.GameOpened: 1,
    e.SeatChanged: 2,
    e.GameStarted: 3,
    e.RoundDealt: 4,
    e.TurnBegan: 5,
    e.CardDrawn: 6,
    e.DrawDeclined: 7,
    e.DrawSkipped: 8,
    e.BuyRequested: 9,
    e.Passed: 10,
    e.CardBought: 11,
    e.ClaimsClosed: 12,
    e.DiscardOpened: 13,
    e.ShanghaiCalled: 14,
    e.MeldsLaid: 15,
    e.CardsLaidOff: 16,
    e.WildSwapped: 17,
    e.CardDiscarded: 18,
    e.TurnEnded: 19,
    e.StockRenewed: 20,
    e.RoundEnded: 21,
    e.RoundScored: 22,
    e.GameFinished: 23,
    e.NoncesAsked: 24,
    e.NonceRevealed: 25,
    e.NoncesDropped: 26,
    e.FalseCalled: 27,
    e.SwapOffered: 28,
    e.SwapDeclined: 29,
    e.GameCancelled: 30,
    e.TurnWarned: 31,
    e.OperatorActed: 32,
}
_TYPES = {number: type_ for type_, number in TYPE_NUMBERS.items()}

SCHEMAS: dict[type[Event], int] = dict.fromkeys(TYPE_NUMBERS, 1)
UPCASTERS: dict[tuple[type[Event], int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From (type, schema) to a function that turns such a payload into one of the next schema."""

_encode = msgspec.json.Encoder().encode
_NEWEST: dict[tuple[int, int], Callable[[bytes], Event]] = {
    (number, SCHEMAS[type_]): msgspec.json.Decoder(type_).decode for number, type_ in _TYPES.items()
}


class UnknownEvent(KeyError):
    """An event of a type or schema that a newer version of this program has written."""

    def __str__(self) -> str:
        """Says it without the quotes of a key."""
        return str(self.args[0])


def encode_event(event: Event) -> tuple[int, int, bytes]:
    """Gives an event's type number, schema number and payload."""
    type_ = type(event)
    return TYPE_NUMBERS[type_], SCHEMAS[type_], _encode(event)


def decode_event(number: int, schema: int, payload: bytes) -> Event:
    """Reads a stored event of any type and schema ever written; raises UnknownEvent for what is newer than this."""
    newest = _NEWEST.get((number, schema))
    if newest is not None:
        return newest(payload)
    type_ = _TYPES.get(number)
    if type_ is None or schema > SCHEMAS[type_]:
        raise UnknownEvent(f"events of type {number}, schema {schema} are newer than this version: upgrade it")
    fields = msgspec.json.decode(payload)
    for old in range(schema, SCHEMAS[type_]):
        fields = UPCASTERS[type_, old](fields)
    return msgspec.convert(fields, type_)
