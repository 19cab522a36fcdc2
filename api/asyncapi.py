"""The streams and the webhooks as an AsyncAPI 3.0 document, on the same components as the OpenAPI document."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from api.components import event_refs, new_components
from api.schemas import Components, Schema
from api.streams import Bye, Heartbeat, Hello, Resync
from api.webhook_shapes import MESSAGE_HEADERS, MESSAGES
from api.wording import INFO, PATH_PARAMETERS
from domain.view import View

FILE = Path("openapi") / "asyncapi.json"

_EXTRAS: dict[str, tuple[type, str]] = {
    "hello": (Hello, "The first message of each connection."),
    "view": (View, "With `?view=1`, after each batch of events: the caller's whole view with its decisions."),
    "heartbeat": (Heartbeat, "After 15 seconds in which nothing was sent."),
    "resync": (Resync, "The last message to a client that took too long; it comes back for the rest."),
    "bye": (Bye, "The last message of a connection."),
}

_DESCRIPTION = (
    "Server-sent events of one game, for one viewer. A message's field `event` is its kind; events of the game have"
    " their version as `id`, the other messages have no id. The first event sent is the one after `Last-Event-ID`, or"
    " after the parameter `after`, or version 1; each version is sent once per connection and in order. When the game"
    " is over the stream ends with `bye`, and a connection with nothing left to tell is answered with 204.\n\n"
    "Webhooks send the same events, and what is asked of a player, to an address of the player's own."
)
_HEADERS: Schema = {
    "type": "object",
    "properties": {name: {"type": "string", "description": meaning} for name, meaning in MESSAGE_HEADERS.items()},
    "required": list(MESSAGE_HEADERS),
}


def document() -> Schema:
    """Builds the document."""
    components = new_components()
    refs = event_refs(components) | {name: components.ref(type_)["$ref"] for name, (type_, _) in _EXTRAS.items()}
    sent = {name: components.ref(type_)["$ref"] for name, type_ in MESSAGES.items()}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": f"{INFO['title']} streams",
            "version": INFO["version"],
            "description": _DESCRIPTION,
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "channels": {
            "game": {
                "address": "/v1/games/{game_id}/stream",
                "description": "`GET` with the header `Authorization: Bearer …`; see streamEvents in openapi.json.",
                "parameters": {"game_id": {"description": PATH_PARAMETERS["game_id"]["description"]}},
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in refs},
            },
            "webhook": {
                "address": None,
                "description": "`POST` to the address that was given with createWebhook; see Standard Webhooks.",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in sent},
            },
        },
        "operations": {
            "tellGame": {"action": "send", "channel": {"$ref": "#/channels/game"}},
            "sendWebhook": {"action": "send", "channel": {"$ref": "#/channels/webhook"}},
        },
        "components": {
            "messages": {name: _message(name, ref, components) for name, ref in refs.items()}
            | {name: _message(name, ref, components) | {"headers": _HEADERS} for name, ref in sent.items()},
            "schemas": _reached([*refs.values(), *sent.values()], components),
        },
    }


@cache
def document_text() -> str:
    """Writes the document as it is served and kept in openapi/asyncapi.json."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def _message(name: str, ref: str, components: Components) -> Schema:
    said = _EXTRAS[name][1] if name in _EXTRAS else components.schemas[_name_in(ref)]["description"]
    return {"name": name, "summary": said, "payload": {"$ref": ref}}


def _reached(refs: Iterable[str], components: Components) -> Schema:
    """Picks the schemas that the messages are made of."""
    found: Schema = {}
    waiting = [_name_in(ref) for ref in refs]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _without_mapping(components.schemas[name])
            waiting += re.findall(r"#/components/schemas/(\w+)", msgspec.json.encode(found[name]).decode())
    return dict(sorted(found.items()))


def _without_mapping(schema: Any) -> Any:
    """Gives a schema with each discriminator as AsyncAPI has it: the name of the tag; constants tell the rest."""
    if isinstance(schema, list):
        return [_without_mapping(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: below["propertyName"] if name == "discriminator" else _without_mapping(below)
        for name, below in schema.items()
    }


def _name_in(ref: str) -> str:
    return ref.rpartition("/")[2]
