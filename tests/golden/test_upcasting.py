"""Payloads of older schemas are lifted step by step; what is newer than this version is not guessed at."""

from typing import Any

import pytest

from domain.events import CardDrawn, Event, MeldsLaid, TurnEnded
from domain.meld import Meld, Placed
from services import codec
from services.codec import TYPE_NUMBERS, UnknownEvent, decode_event, encode_event

Json = dict[str, Any]


@pytest.fixture
def _third_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has these events changed twice: `seat` was once called `chair`, and counted from 1."""

    def renamed(fields: Json) -> Json:
        return {"seat" if name == "chair" else name: value for name, value in fields.items()}

    def counted_from_zero(fields: Json) -> Json:
        return {**fields, "seat": fields["seat"] - 1}

    for type_ in (TurnEnded, CardDrawn, MeldsLaid):
        monkeypatch.setitem(codec.SCHEMAS, type_, 3)
        monkeypatch.setitem(codec._NEWEST, (TYPE_NUMBERS[type_], 3), codec._NEWEST[TYPE_NUMBERS[type_], 1])
        monkeypatch.delitem(codec._NEWEST, (TYPE_NUMBERS[type_], 1))
        monkeypatch.setitem(codec.UPCASTERS, (type_, 1), renamed)
        monkeypatch.setitem(codec.UPCASTERS, (type_, 2), counted_from_zero)


@pytest.mark.usefixtures("_third_schema")
@pytest.mark.parametrize(
    ("event", "schema", "payload"),
    [
        (TurnEnded(0), 1, b'{"chair":1}'),
        (TurnEnded(0), 2, b'{"seat":1}'),
        (TurnEnded(1), 3, b'{"seat":1}'),
        (CardDrawn(2, "stock", "7H", 50), 1, b'{"chair":3,"source":"stock","card":"7H","stock_count":50}'),
        (
            MeldsLaid(0, (Meld("m1", 0, "set", (Placed("7H"), Placed("JK", "7"))),)),
            2,
            b'{"seat":1,"melds":[{"meld_id":"m1","owner":0,"kind":"set","cards":[{"card":"7H"},{"card":"JK","as":"7"}]}]}',
        ),
    ],
)
def test_an_old_payload_is_lifted_through_every_schema_since(event: Event, schema: int, payload: bytes) -> None:
    assert decode_event(TYPE_NUMBERS[type(event)], schema, payload) == event


@pytest.mark.usefixtures("_third_schema")
def test_events_are_written_in_the_latest_schema() -> None:
    assert encode_event(TurnEnded(1)) == (TYPE_NUMBERS[TurnEnded], 3, b'{"seat":1}')


@pytest.mark.parametrize(("number", "schema"), [(99, 1), (TYPE_NUMBERS[TurnEnded], 2)])
def test_an_event_of_a_newer_version_is_refused(number: int, schema: int) -> None:
    with pytest.raises(UnknownEvent, match=f"type {number}, schema {schema} are newer than this version"):
        decode_event(number, schema, b'{"seat":1}')
