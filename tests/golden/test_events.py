"""Every event ever written can be read: no payload changes its shape without a new schema number and an upcaster.

`events.json` holds, for every type and schema number, the shape of the payload and one payload as it was stored. It
only grows: `pytest tests/golden --record-golden` adds new types and schemas, and new optional fields of a known one.
"""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from msgspec import Struct

from services.codec import SCHEMAS, TYPE_NUMBERS, UPCASTERS, decode_event, encode_event
from tests.golden.samples import SAMPLES
from tests.golden.shapes import lost, shape_of

FILE = Path(__file__).parent / "events.json"
Json = dict[str, Any]
NAMES = {type_.__name__: type_ for type_ in TYPE_NUMBERS}


@pytest.fixture(scope="module")
def golden(is_recording: bool) -> Json:
    known: Json = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if is_recording:
        for sample in SAMPLES:
            _add(known, sample)
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    return known


def _add(known: Json, sample: Any) -> None:
    """Adds the sample's present shape, unless it would hide that payloads of this schema number cannot be read."""
    type_ = type(sample)
    number, schema, payload = encode_event(sample)
    schemas = known.setdefault(type_.__name__, {"type": number, "schemas": {}})["schemas"]
    before, shape = schemas.get(str(schema)), shape_of(type_)
    if before is None or (before["shape"] != shape and lost(before["shape"], shape) is None):
        schemas[str(schema)] = {"shape": shape, "payload": json.loads(payload)}


def test_there_is_a_sample_of_every_type() -> None:
    assert {type(sample) for sample in SAMPLES} == set(TYPE_NUMBERS)
    assert len(set(TYPE_NUMBERS.values())) == len(TYPE_NUMBERS)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_present_shape_is_the_recorded_one(golden: Json, name: str) -> None:
    type_ = NAMES[name]
    recorded = golden.get(name, {"schemas": {}})["schemas"].get(str(SCHEMAS[type_]))
    assert recorded, f"{name} {SCHEMAS[type_]} is not recorded: pytest tests/golden --record-golden"
    what = lost(recorded["shape"], shape_of(type_))
    assert what is None, f"{name}: {what}; it needs schema {SCHEMAS[type_] + 1} and an upcaster from {SCHEMAS[type_]}"
    assert recorded["shape"] == shape_of(type_), f"{name} has grown: pytest tests/golden --record-golden"


def test_types_keep_their_numbers(golden: Json) -> None:
    assert {name: entry["type"] for name, entry in golden.items()} == {
        name: TYPE_NUMBERS[type_] for name, type_ in NAMES.items()
    }


def test_every_payload_ever_recorded_can_be_read(golden: Json) -> None:
    for name, entry in golden.items():
        for schema, recorded in entry["schemas"].items():
            event = decode_event(entry["type"], int(schema), json.dumps(recorded["payload"]).encode())
            assert type(event).__name__ == name


def test_every_older_schema_has_its_upcaster(golden: Json) -> None:
    for name, entry in golden.items():
        latest = SCHEMAS[NAMES[name]]
        assert sorted(map(int, entry["schemas"])) == list(range(1, latest + 1))
        assert all((NAMES[name], schema) in UPCASTERS for schema in range(1, latest))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_stored_event_is_read_as_it_was(sample: Any) -> None:
    assert decode_event(*encode_event(sample)) == sample


class Inner(Struct, frozen=True):
    size: int


def changed(**fields: Any) -> Json:
    """Gives the shape of a small event with some fields in another way; None leaves one out."""
    whole: dict[str, Any] = {
        "face": (str,),
        "suit": (Literal["H", "S"],),
        "inner": (tuple[Inner, ...], ()),
        "by": (int | None, None),
        "nested": (Bigger, Bigger(1)),
    }
    made = [(name, *how) for name, how in {**whole, **fields}.items() if how is not None]
    made.sort(key=len)
    return shape_of(msgspec.defstruct("Small", made))


class Smaller(Struct, frozen=True):
    width: int


class Bigger(Struct, frozen=True):
    size: int
    colour: str = "red"


class Biggest(Bigger, frozen=True):
    shade: str = "dark"


def test_new_optional_fields_and_new_values_may_come() -> None:
    old = changed()
    assert lost(old, changed()) is None
    assert lost(old, changed(more=(int, 0))) is None
    assert lost(old, changed(suit=(Literal["H", "S", "D"],))) is None
    assert lost(old, changed(by=(int | str | None, None))) is None
    assert lost(old, changed(inner=(tuple[Bigger, ...], ()))) is None
    assert lost(old, changed(nested=(Biggest, Biggest(1)))) is None


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"face": None}, "/face is gone"),
        ({"face": (int,)}, "/face: string has become integer"),
        ({"more": (int,)}, ": ['more'] must be there now"),
        ({"suit": (Literal["H"],)}, "/suit: ['S'] cannot be read any more"),
        ({"by": (int | None, 7)}, "/by: the default has changed"),
        ({"by": (str | None, None)}, "/by: {'type': 'integer'} cannot be read any more"),
        ({"inner": (tuple[Smaller, ...], ())}, "/inner/*: ['width'] must be there now"),
        ({"nested": (Bigger, Bigger(2))}, "/nested: the default has changed"),
        ({"inner": (Inner,)}, ": ['inner'] must be there now"),
    ],
)
def test_what_an_old_payload_would_lose_is_named(change: dict[str, Any], what: str) -> None:
    assert lost(changed(), changed(**change)) == what
