"""The components that both documents are made of: the types' names, and events as a union by kind."""

from typing import Any

from msgspec.structs import fields

from api.operations import OPERATIONS
from api.schemas import Components, Schema, described, explained
from api.shapes import NewGameRequest, NewSeat
from domain import ruleset
from domain.commands import Move
from domain.shown import VisibleData
from domain.view import DecisionView, RoundView, SeatView, TableView, WaitingForCount, WaitingForSeat
from domain.visible import KINDS
from services.rendering import EventBody, GameBody

NAMES: dict[Any, str] = {
    Move: "Move",
    NewSeat: "NewSeat",
    WaitingForSeat | WaitingForCount: "WaitingFor",
    EventBody: "Event",
    GameBody: "Game",
    NewGameRequest: "NewGame",
    SeatView: "Seat",
    RoundView: "Round",
    TableView: "Table",
    DecisionView: "Decision",
    ruleset.Buy: "BuyRules",
    ruleset.Shanghai: "ShanghaiRules",
    ruleset.Swap: "SwapRules",
}


def new_components() -> Components:
    """Makes components that know `Event` as a union: each kind is an event of its own, with its own data."""
    sent = {part for operation in OPERATIONS for part in (operation.types.body, operation.types.query) if part}
    components = Components(NAMES, sent)
    mapping: dict[str, str] = {}
    for data in VisibleData.__args__:
        name = data.__name__.removesuffix("Data") + "Event"
        kind = KINDS[_EVENTS[data.__name__.removesuffix("Data")]]
        components.schemas[name] = _event(data, kind, components)
        mapping[kind] = f"#/components/schemas/{name}"
    components.schemas["Event"] = {
        "description": described(EventBody),
        "oneOf": [{"$ref": ref} for ref in mapping.values()],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }
    return components


def event_refs(components: Components) -> dict[str, str]:
    """Gives the reference to each kind of event."""
    refs: dict[str, str] = components.schemas["Event"]["discriminator"]["mapping"]
    return refs


_EVENTS = {type_.__name__: type_ for type_ in KINDS}


def _event(data: Any, kind: str, components: Components) -> Schema:
    properties: Schema = {}
    for field in fields(EventBody):
        if field.name == "data":
            properties["data"] = explained(components.ref(data), "Event", "data")
        elif field.name == "kind":
            properties["kind"] = {"type": "string", "const": kind}
        else:
            properties[field.encode_name] = explained(components.of(field.type), "Event", field.encode_name)
    properties["occurred_at"]["format"] = "date-time"
    return {
        "type": "object",
        "description": described(data),
        "properties": properties,
        "required": list(properties),
    }
