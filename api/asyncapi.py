"""The streams and the webhooks as an AsyncAPI 3.0 document, on the same components as the OpenAPI document."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from api.components import event_refs, new_components
from api.messages import EXTRAS
from api.my_stream import MyStream
from api.schemas import Components, Schema
from api.streams import EventStream
from api.webhook_shapes import MESSAGE_HEADERS, MESSAGES
from api.wording import INFO, PATH_PARAMETERS

FILE = Path("openapi") / "asyncapi.json"

_DESCRIPTION = (
    "Server-sent events of one game, or of all games of a player, for one viewer. A message's field `event` is its"
    " kind. In a game's stream events have their version as `id`, the other messages have no id. The first event sent"
    " is the one after `Last-Event-ID`, or after the parameter `after`, or version 1; each version is sent once per"
    " connection and in order. When the game is over the stream ends with `bye`, and a connection with nothing left to"
    " tell is answered with 204. In the stream of all games an `id` is an opaque cursor, also of `hello` and"
    " `heartbeat`: what came after it is told to whoever comes back with it as `Last-Event-ID`, each event once and"
    " those of each game in order.\n\n"
    "Webhooks send the same events, and what is asked of a player, to an address of the player's own."
)
_HEADERS: Schema = {
    "type": "object",
    "properties": {name: {"type": "string", "description": meaning} for name, meaning in MESSAGE_HEADERS.items()},
    "required": list(MESSAGE_HEADERS),
}
_CALLED = (
    "`GET` with the header `Authorization: Bearer …`, or with the parameter `ticket` that createStreamTicket has put"
    " into its `url`; see {} in openapi.json."
)
_CHANNELS: dict[str, tuple[type[EventStream], Schema]] = {
    "game": (
        EventStream,
        {
            "address": "/v1/games/{game_id}/stream",
            "description": _CALLED.format("streamEvents"),
            "parameters": {"game_id": {"description": PATH_PARAMETERS["game_id"]["description"]}},
        },
    ),
    "mine": (
        MyStream,
        {
            "address": "/v1/me/stream",
            "description": _CALLED.format("streamMine"),
        },
    ),
}


def document() -> Schema:
    """Builds the document."""
    components = new_components()
    kinds = {kind: _message(kind, ref, _said(ref, components)) for kind, ref in event_refs(components).items()}
    messages = dict(kinds)
    channels: Schema = {}
    for name, (stream, channel) in _CHANNELS.items():
        told = {kind: kind for kind in kinds}
        for kind, (shape, said) in EXTRAS[stream].items():
            message = _message(kind, components.ref(shape)["$ref"], said)
            told[kind] = kind if messages.setdefault(kind, message) == message else f"{name}_{kind}"
            messages[told[kind]] = message
        refs = {kind: {"$ref": f"#/components/messages/{key}"} for kind, key in told.items()}
        channels[name] = {**channel, "messages": refs}
    sent = {
        name: _message(name, ref, _said(ref, components)) | {"headers": _HEADERS}
        for name, type_ in MESSAGES.items()
        for ref in (components.ref(type_)["$ref"],)
    }
    channels["webhook"] = {
        "address": None,
        "description": "`POST` to the address that was given with createWebhook; see Standard Webhooks.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in sent},
    }
    messages |= sent
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": f"{INFO['title']} streams",
            "version": INFO["version"],
            "description": _DESCRIPTION,
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": {
            operation: {"action": "send", "channel": {"$ref": f"#/channels/{name}"}}
            for operation, name in (("tellGame", "game"), ("tellMine", "mine"), ("sendWebhook", "webhook"))
        },
        "components": {
            "messages": messages,
            "schemas": _reached((message["payload"]["$ref"] for message in messages.values()), components),
        },
    }


@cache
def document_text() -> str:
    """Writes the document as it is served and kept in openapi/asyncapi.json."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def _message(kind: str, ref: str, said: str) -> Schema:
    return {"name": kind, "summary": said, "payload": {"$ref": ref}}


def _said(ref: str, components: Components) -> str:
    return str(components.schemas[_name_in(ref)]["description"])


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
