"""The table of operations as an OpenAPI 3.1 document. `python -m api.openapi` writes it and the AsyncAPI document."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from api import asyncapi
from api.calls import Text
from api.components import event_refs, new_components
from api.messages import EXTRAS, is_stream
from api.operation import TAGS, Operation, Types
from api.operations import OPERATIONS
from api.problems import KINDS, Problem
from api.schemas import Components, Schema, described
from api.webhook_shapes import MESSAGE_HEADERS, MESSAGES
from api.wording import (
    ANSWER_HEADERS,
    EXAMPLES,
    INFO,
    OTHER_ANSWERS,
    PATH_PARAMETERS,
    RECORDED,
    REQUEST_HEADERS,
    SUCCESSES,
    TEXTS,
)

FILE = Path("openapi") / "openapi.json"


def document() -> Schema:
    """Builds the document."""
    components = new_components()
    for shape in (Problem, *(shape for extras in EXTRAS.values() for shape, _ in extras.values())):
        components.ref(shape)
    paths: dict[str, Schema] = {}
    for operation in OPERATIONS:
        if operation.is_listed:
            paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, components)
    return {
        "openapi": "3.1.0",
        "info": INFO,
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": paths,
        "webhooks": {name: {"post": _message(name, type_, components)} for name, type_ in MESSAGES.items()},
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The token that createGuest gives."},
                "ticket": {
                    "type": "apiKey",
                    "in": "query",
                    "name": "ticket",
                    "description": "What createStreamTicket gives, for those who cannot send headers.",
                },
            },
            "headers": {
                name: {"description": description, "schema": {"type": "string"}}
                for name, description in ANSWER_HEADERS.items()
                if name not in _GOING or any(name in _going_headers(operation) for operation in OPERATIONS)
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
        "security": _security(operation, types),
        "parameters": _parameters(operation, types, components),
    }
    if operation.deprecated:
        made["deprecated"] = True
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


def _message(name: str, type_: type[Struct], components: Components) -> Schema:
    """Describes what a player's own server is sent."""
    said = described(type_)
    return {
        "operationId": f"{name}Webhook",
        "tags": ["Webhooks"],
        "summary": re.split(r"\.\s", said, maxsplit=1)[0].rstrip("."),
        "description": said,
        "security": [],
        "parameters": [
            {"name": header, "in": "header", "required": True, "description": meaning, "schema": {"type": "string"}}
            for header, meaning in MESSAGE_HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": components.ref(type_)}}},
        "responses": {
            "2XX": {"description": "It has arrived; the body is not read."},
            "410": {"description": "The webhook is switched off."},
            "default": {"description": "Anything else, or nothing within 5 seconds: it is sent again later."},
        },
    }


def _security(operation: Operation, types: Types) -> list[Schema]:
    scopes = [operation.scope] if operation.scope else []
    tickets: list[Schema] = [{"ticket": []}] if types.takes_ticket else []
    return [{"bearer": scopes}, *tickets] if types.has_caller else []


def _parameters(operation: Operation, types: Types, components: Components) -> list[Schema]:
    parameters: list[Schema] = [
        {"name": name, "in": "path", "required": True, **PATH_PARAMETERS[name]}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    components.ref(types.query)
    query = components.schemas.pop(types.query.__name__)
    for field in fields(types.query):
        if field.name == "ticket":
            continue  # a way to say who asks
        schema = dict(query["properties"][field.encode_name])
        description = schema.pop("description", "")
        parameters.append({"name": field.encode_name, "in": "query", "description": description, "schema": schema})
    reads = ("Idempotency-Key", *operation.reads) if types.is_keyed else operation.reads
    parameters += [{"name": name.partition(":")[0], "in": "header", **REQUEST_HEADERS[name]} for name in reads]
    return parameters


def _responses(operation: Operation, types: Types, components: Components) -> Schema:
    responses: Schema = {str(operation.status): _success(operation, types, components)}
    for status in operation.also:
        responses[str(status)] = {"description": OTHER_ANSWERS[status]}
        if status == 304:
            responses["304"]["headers"] = {"ETag": {"$ref": "#/components/headers/ETag"}}
        if status == 503:
            responses["503"]["content"] = responses["200"]["content"]
    by_status: dict[int, list[str]] = {}
    for code in operation.problem_codes:
        by_status.setdefault(KINDS[code].status, []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = _problem(codes, components)
    everywhere = [*(_LIMIT_HEADERS if operation.limited_by else ()), *_going_headers(operation)]
    for response in responses.values() if everywhere else ():
        response["headers"] = response.get("headers", {}) | _refs(everywhere)
    return responses


def _going_headers(operation: Operation) -> list[str]:
    told = operation.deprecated.headers if operation.deprecated else {}
    return [name for name in _GOING if name.lower() in told]


def _refs(headers: Iterable[str]) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in headers}


def _success(operation: Operation, types: Types, components: Components) -> Schema:
    answer: Schema = {"description": SUCCESSES[operation.status]}
    if operation.headers:
        answer["headers"] = _refs(operation.headers)
    if is_stream(types.shown):
        answer["description"] = "Server-sent events; see `x-sse` for the data of each."
        answer["content"] = {
            "text/event-stream": {"schema": {"type": "string"}, "x-sse": _sse(types.shown, components)}
        }
    elif operation.media_types:
        answer["content"] = {media_type: {"schema": {"type": "string"}} for media_type in operation.media_types}
        if ndjson := answer["content"].get("application/x-ndjson"):
            ndjson["x-line"] = {"$ref": "#/components/schemas/Event"}
    elif types.shown not in (Text, None):
        answer["content"] = {"application/json": {"schema": components.of(types.shown)}}
        if operation.id in RECORDED:
            answer["content"]["application/json"]["example"] = RECORDED[operation.id]["answer"]
    for media_type, text in TEXTS.get(operation.id, {}).items():
        answer["content"][media_type]["example"] = text
    return answer


def _sse(stream: Any, components: Components) -> Schema:
    kinds = {kind: {"$ref": ref} for kind, ref in event_refs(components).items()}
    return kinds | {name: components.ref(type_) for name, (type_, _) in EXTRAS[stream].items()}


def _problem(codes: list[str], components: Components) -> Schema:
    answer: Schema = {
        "description": "\n".join(f"- `{code}`: {KINDS[code].meaning}" for code in codes),
        "content": {"application/problem+json": {"schema": components.ref(Problem)}},
    }
    headers = [name for name, wanted in _PROBLEM_HEADERS.items() if wanted & set(codes)]
    if headers:
        answer["headers"] = _refs(headers)
    return answer


_PROBLEM_HEADERS = {
    "Retry-After": {code for code, kind in KINDS.items() if kind.retry_after_s is not None},
    "WWW-Authenticate": {"unauthenticated"},
}
_GOING = ("Deprecation", "Link", "Sunset")
_LIMIT_HEADERS = ("RateLimit", "RateLimit-Policy")


def main() -> None:
    """Writes both files."""
    for file, text in ((FILE, document_text()), (asyncapi.FILE, asyncapi.document_text())):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
