"""What a viewer downloads of a game: its visible events as JSON."""

from collections.abc import Iterable
from typing import Any

import msgspec

from domain.events import Event
from domain.fairness_report import ShownEvent
from domain.visible import kind_of, seat_of, visible_data

Json = dict[str, Any]


def exported(game_id: str, events: Iterable[Event], viewer: int | None) -> list[Json]:
    """Lists a game's events as they stand in a download."""
    bodies = [
        {
            "game_id": game_id,
            "version": version,
            "kind": kind_of(event),
            "seat": seat_of(event, viewer),
            "data": visible_data(event, viewer),
        }
        for version, event in enumerate(events, start=1)
    ]
    built: list[Json] = msgspec.json.decode(msgspec.json.encode(bodies))
    return built


def as_shown(export: list[Json]) -> list[ShownEvent]:
    """Reads a download."""
    return msgspec.convert(export, list[ShownEvent])


def shown(event: Event, version: int, viewer: int | None) -> dict[str, Any]:
    """Is one event as a viewer is shown it."""
    body = {
        "version": version,
        "kind": kind_of(event),
        "seat": seat_of(event, viewer),
        "data": visible_data(event, viewer),
    }
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(body))
    return built
