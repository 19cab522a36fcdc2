"""Holds what the server sends against its OpenAPI document, read strictly: nothing may be sent that is not described.

Every answer that the tests' clients get comes by here, so that an operation is covered by being tested at all.
"""

import json
import re
from functools import cache
from typing import Any

import httpx
from jsonschema_rs import Draft202012Validator

from api.openapi import document
from api.operation import Operation
from api.operations import OPERATIONS
from tests.examples import keep_example

Json = dict[str, Any]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

DOCUMENT = document()
ANYWHERE = {"bad_request", "not_found", "method_not_allowed"}  # what is found before any operation is


class Undescribed(AssertionError):
    """The server sent what its document does not say."""


async def hold(response: httpx.Response) -> None:
    """Checks an answer; as a hook of httpx's asynchronous client."""
    if not _is_stream(response):
        await response.aread()
    check(response)


def hold_now(response: httpx.Response) -> None:
    """Checks an answer; as a hook of httpx's client."""
    if not _is_stream(response):
        response.read()
    check(response)


def check(response: httpx.Response) -> None:
    """Raises where an answer has another status, media type, header, problem or shape than its operation has."""
    request = response.request
    if (operation := operation_of(request.method, request.url.path)) is not None and not operation.is_listed:
        return
    if found := _faults(response, operation):
        raise Undescribed(f"{request.method} {request.url.path} {response.status_code}: {'; '.join(found)}")
    if operation is not None:
        keep_example(operation.id, response)


def check_message(kind: str, data: Any) -> None:
    """Raises where a stream's message is not described."""
    if faults := shape_faults(data, _messages()[kind]):
        raise Undescribed(f"{kind}: {'; '.join(faults)}")


def operation_of(method: str, path: str) -> Operation | None:
    """Finds the operation of a request."""
    method = "GET" if method == "HEAD" else method
    found = [each for each in OPERATIONS if each.method == method and _pattern(each.path).fullmatch(path)]
    return min(found, key=lambda each: each.path.count("{"), default=None)


def shape_faults(value: Any, schema: Json) -> list[str]:
    """Lists how a value departs from a schema of the document."""
    validator = _validator(json.dumps(schema, sort_keys=True))
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message:.300}" for error in validator.iter_errors(value)
    ]


def is_example(operation_id: str, example: Json) -> bool:
    """Tells whether an operation may still be asked and answered so."""
    operation = next((each for each in OPERATIONS if each.id == operation_id), None)
    if operation is None:
        return False
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]
    shown = described["responses"][str(operation.status)]["content"]["application/json"]
    faults = shape_faults(example["answer"], shown["schema"])
    if "request" in example:
        faults += shape_faults(example["request"], described["requestBody"]["content"]["application/json"]["schema"])
    return not faults


def _faults(response: httpx.Response, operation: Operation | None) -> list[str]:
    is_problem = response.headers.get("content-type") == "application/problem+json"
    if is_problem and response.content and response.json()["code"] in ANYWHERE:
        return shape_faults(response.json(), {"$ref": "#/components/schemas/Problem"})
    if operation is None:
        is_bare = is_problem and response.request.method == "HEAD"  # its code is nowhere to be read
        return [] if response.request.method == "OPTIONS" or is_bare else ["no such operation"]
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]["responses"].get(str(response.status_code))
    if described is None:
        return ["no such status"]
    return [*_header_faults(response, described), *_body_faults(response, described, operation)]


def _header_faults(response: httpx.Response, described: Json) -> list[str]:
    known = DOCUMENT["components"]["headers"].keys()
    undescribed = {name for name in known if name.lower() in response.headers} - described.get("headers", {}).keys()
    return [f"the header {name} is not described" for name in sorted(undescribed)]


def _body_faults(response: httpx.Response, described: Json, operation: Operation) -> list[str]:
    if response.request.method == "HEAD":
        return []
    content = described.get("content", {})
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if not content:
        return ["a body"] if response.content else []
    if media_type not in content:
        return [f"{media_type or 'no type'} instead of {' or '.join(content)}"]
    if line := content[media_type].get("x-line"):
        return [fault for each in response.text.splitlines() for fault in shape_faults(json.loads(each), line)]
    if media_type not in ("application/json", "application/problem+json"):
        return []
    faults = shape_faults(response.json(), content[media_type]["schema"])
    if media_type == "application/problem+json" and response.json()["code"] not in operation.problem_codes:
        faults.append(f"no such problem: {response.json()['code']}")
    return faults


def _is_stream(response: httpx.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path))


@cache
def _messages() -> dict[str, Json]:
    """Gives the schema of each message of the streams of games."""
    stream = DOCUMENT["paths"]["/v1/games/{game_id}/stream"]["get"]["responses"]["200"]["content"]["text/event-stream"]
    messages: dict[str, Json] = stream["x-sse"]
    return messages


@cache
def _strict_schemas() -> Json:
    schemas: Json = _closed(DOCUMENT["components"]["schemas"])
    return schemas


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(
        {**_closed(json.loads(schema)), "components": {"schemas": _strict_schemas()}}, validate_formats=True
    )


def _closed(schema: Any) -> Any:
    """Gives a schema with objects that have no other fields, and enumerations that have no other values."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(below) for name, below in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    if "x-extensible-enum" in schema:
        closed["enum"] = schema["x-extensible-enum"]
    return closed
