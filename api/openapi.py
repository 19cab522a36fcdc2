"""`python -m api.openapi` writes openapi/openapi.json: the table of operations as an OpenAPI 3.1 document."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import fields

from api.about import VERSION
from api.calls import Text
from api.examples import EXAMPLES
from api.operations import OPERATIONS, TAGS, Operation, Types
from api.problems import KINDS, Problem
from api.schemas import Components, Schema, described
from api.shapes import NewGameRequest, NewSeat
from api.streams import Bye, EventStream, Heartbeat, Hello
from domain import ruleset
from domain.commands import Move
from domain.view import DecisionView, RoundView, SeatView, TableView, View, WaitingForCount, WaitingForSeat
from domain.visible import KINDS as EVENT_KINDS
from domain.visible import VisibleData
from services.rendering import EventBody, GameBody

FILE = Path("openapi") / "openapi.json"

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

_INFO = {
    "title": "Shanghai",
    "version": VERSION,
    "summary": "A server for the card game Shanghai and its family",
    "description": (
        "A game is a story of events with versions from 1 and no holes. What a player is asked are decisions; every"
        " option of a decision is a complete move that can be sent as it stands, so that a client that always sends"
        " some option plays a whole legal game. Nobody is shown what they would not see at a table.\n\n"
        "Errors are problem details (RFC 9457); `GET /v1/problems` lists them all. Unknown fields of requests are"
        " refused. Answers may gain fields, values and kinds of events; a client ignores what it does not know."
        " Every answer has an `X-Request-ID`; one that the client sends is kept."
    ),
    "license": {"name": "MIT", "identifier": "MIT"},
}

_PATH_PARAMETERS: dict[str, Schema] = {
    "game_id": {"description": "the game's id", "schema": {"type": "string", "pattern": "^gam_[0-9a-z]{26}$"}},
    "seat": {"description": "the seat's number, from 0", "schema": {"type": "integer", "minimum": 0}},
    "name": {"description": "the ruleset's name", "schema": {"type": "string"}},
}

_REQUEST_HEADERS: dict[str, Schema] = {
    "Idempotency-Key": {
        "description": "Any text of the client's own, new for each new request. The same request with the same key is"
        " carried out once, and answered again with `Idempotency-Replayed: true`.",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
    "If-Match": {"description": "the ETag that the game must still have", "schema": {"type": "string"}},
    "If-None-Match": {
        "description": "the ETag that is known already: 304 if it still holds",
        "schema": {"type": "string"},
    },
    "Prefer": {
        "description": "`return=representation` adds the view after the move",
        "schema": {"type": "string"},
    },
    "Last-Event-ID": {
        "description": "the version of the last event that was received",
        "schema": {"type": "string", "pattern": "^[0-9]*$"},
    },
}

_ANSWER_HEADERS: dict[str, str] = {
    "Location": "where what was made can be read",
    "ETag": 'the game\'s version, as `"v12"`',
    "Idempotency-Replayed": "`true` where the request had been carried out before",
    "Preference-Applied": "what of Prefer was done",
    "RateLimit": "what is left of the quota",
    "RateLimit-Policy": "the quota and its window in seconds",
    "Retry-After": "seconds after which the request may be sent again",
    "WWW-Authenticate": "`Bearer`",
    "Allow": "the methods of this path",
}

_SUCCESSES = {200: "Done.", 201: "Made."}

_OTHER_ANSWERS = {
    204: "The game is over and everything was told.",
    304: "Nothing has changed since that ETag.",
    503: "The database is away.",
}


def document() -> Schema:
    """Builds the document."""
    sent = {part for operation in OPERATIONS for part in (operation.types.body, operation.types.query) if part}
    components = Components(NAMES, sent)
    _add_events(components)
    for extra in (Problem, Hello, Heartbeat, Bye, View):
        components.ref(extra)
    paths: dict[str, Schema] = {}
    for operation in OPERATIONS:
        if operation.is_listed:
            paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, components)
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The token that createGuest gives."}
            },
            "headers": {
                name: {"description": description, "schema": {"type": "string"}}
                for name, description in _ANSWER_HEADERS.items()
            },
            "schemas": dict(sorted(components.schemas.items())),
        },
    }


@cache
def document_text() -> str:
    """Writes the document as it is served and kept in openapi/openapi.json."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def _operation(operation: Operation, components: Components) -> Schema:
    types = operation.types
    summary = re.split(r"\.\s", operation.description, maxsplit=1)[0].rstrip(".")
    made: Schema = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": summary,
        "description": operation.description,
        "security": [{"bearer": []}] if types.has_caller else [],
        "parameters": _parameters(operation, types, components),
    }
    if types.body is not None:
        content: Schema = {"schema": components.ref(types.body)}
        if operation.id in EXAMPLES:
            content["example"] = EXAMPLES[operation.id]
        made["requestBody"] = {
            "required": not types.is_body_optional,
            "content": {"application/json": content},
        }
    made["responses"] = _responses(operation, types, components)
    return made


def _parameters(operation: Operation, types: Types, components: Components) -> list[Schema]:
    parameters: list[Schema] = [
        {"name": name, "in": "path", "required": True, **_PATH_PARAMETERS[name]}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    components.ref(types.query)
    query = components.schemas.pop(types.query.__name__)
    for field in fields(types.query):
        schema = dict(query["properties"][field.encode_name])
        description = schema.pop("description", "")
        parameters.append({"name": field.encode_name, "in": "query", "description": description, "schema": schema})
    reads = ("Idempotency-Key", *operation.reads) if types.is_keyed else operation.reads
    parameters += [{"name": name, "in": "header", **_REQUEST_HEADERS[name]} for name in reads]
    return parameters


def _responses(operation: Operation, types: Types, components: Components) -> Schema:
    responses: Schema = {str(operation.status): _success(operation, types, components)}
    for status in operation.also:
        responses[str(status)] = {"description": _OTHER_ANSWERS[status]}
        if status == 503:
            responses["503"]["content"] = responses["200"]["content"]
    by_status: dict[int, list[str]] = {}
    for code in operation.problem_codes:
        by_status.setdefault(KINDS[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = _problem(codes, components)
    return responses


def _success(operation: Operation, types: Types, components: Components) -> Schema:
    answer: Schema = {"description": _SUCCESSES[operation.status]}
    if operation.headers:
        answer["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in operation.headers}
    if types.shown is EventStream:
        answer["description"] = "Server-sent events; see `x-sse` for the data of each."
        answer["content"] = {"text/event-stream": {"schema": {"type": "string"}, "x-sse": _sse(components)}}
    elif types.shown is not Text:
        answer["content"] = {"application/json": {"schema": components.of(types.shown)}}
    return answer


def _sse(components: Components) -> Schema:
    extras = {"hello": Hello, "heartbeat": Heartbeat, "view": View, "bye": Bye}
    kinds = {kind: components.ref(EventBody) for kind in EVENT_KINDS.values()}
    return kinds | {name: components.ref(type_) for name, type_ in extras.items()}


def _problem(codes: list[str], components: Components) -> Schema:
    answer: Schema = {
        "description": "\n".join(f"- `{code}`: {KINDS[code].meaning}" for code in codes),
        "content": {"application/problem+json": {"schema": components.ref(Problem)}},
    }
    headers = [name for name, wanted in _PROBLEM_HEADERS.items() if wanted & set(codes)]
    if headers:
        answer["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}
    return answer


_PROBLEM_HEADERS = {
    "Retry-After": {code for code, kind in KINDS.items() if kind.retry_after_s is not None},
    "WWW-Authenticate": {"unauthenticated"},
    "RateLimit": {"rate_limited"},
    "RateLimit-Policy": {"rate_limited"},
}


def _add_events(components: Components) -> None:
    """Makes `Event` a union by kind: each kind has an event of its own, with its own data."""
    mapping: dict[str, str] = {}
    for data in VisibleData.__args__:
        name = data.__name__.removesuffix("Data") + "Event"
        kind = EVENT_KINDS[_EVENTS[data.__name__.removesuffix("Data")]]
        components.schemas[name] = _event(data, kind, components)
        mapping[kind] = f"#/components/schemas/{name}"
    components.schemas["Event"] = {
        "description": described(EventBody),
        "oneOf": [{"$ref": ref} for ref in mapping.values()],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }


_EVENTS = {type_.__name__: type_ for type_ in EVENT_KINDS}


def _event(data: Any, kind: str, components: Components) -> Schema:
    properties: Schema = {}
    for field in fields(EventBody):
        if field.name == "data":
            properties["data"] = components.ref(data)
        elif field.name == "kind":
            properties["kind"] = {"type": "string", "const": kind}
        else:
            properties[field.encode_name] = components.of(field.type)
    properties["occurred_at"]["format"] = "date-time"
    return {
        "type": "object",
        "description": described(data),
        "properties": properties,
        "required": list(properties),
    }


def main() -> None:
    """Writes the file."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(document_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
