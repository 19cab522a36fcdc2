"""The OpenAPI document says what the server does, and the file in the repository is that document."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import httpx
import pytest
from msgspec.structs import fields

from api import asyncapi
from api.faults import FAULTS, FaultCode
from api.meanings import MEANINGS
from api.messages import is_stream
from api.openapi import document, document_text
from api.operation import TAGS, Operation
from api.operations import OPERATIONS
from api.problems import EXCEPTIONS, KINDS, REFUSALS
from api.reasons import REASONS
from api.webhook_shapes import MESSAGES
from domain.commands import Move
from domain.refusals import Reason, RuleBroken
from domain.visible import KINDS as EVENT_KINDS
from services.rendering import EventBody
from tests.api.scopes import allow
from tests.api.world import Json, Player, World, new_world, players
from tests.described import Undescribed, check, shape_faults

RECORD = "run: make openapi-examples"
ROOT = Path(__file__).parents[2]
DOCUMENT = document()
SCHEMAS: Json = DOCUMENT["components"]["schemas"]


DOCUMENTS = [("openapi", document_text()), ("asyncapi", asyncapi.document_text())]


@pytest.mark.parametrize(("name", "text"), DOCUMENTS, ids=["openapi", "asyncapi"])
def test_the_files_are_what_the_code_says(name: str, text: str) -> None:
    assert (ROOT / "openapi" / f"{name}.json").read_text("utf-8") == text, "run: make openapi"


@pytest.mark.parametrize(("name", "text"), DOCUMENTS, ids=["openapi", "asyncapi"])
async def test_the_server_gives_the_same_documents(stranger: Player, name: str, text: str) -> None:
    response = await stranger.call("GET", f"/{name}.json")
    assert response.headers["content-type"] == "application/json"
    assert response.text == text


def test_the_streams_document_is_whole() -> None:
    streams = asyncapi.document()
    messages = streams["components"]["messages"]
    extras = {"hello", "view", "heartbeat", "presence", "resync", "bye"}
    mine = {"mine_hello", "joined", "invited", "left", "mine_heartbeat", "mine_resync"}
    assert set(messages) == {*EVENT_KINDS.values(), *extras, *mine, *MESSAGES}
    for node in nodes(streams):
        if isinstance(ref := node.get("$ref"), str):
            place: Any = streams
            for step in ref.removeprefix("#/").split("/"):
                place = place[step]
    assert streams["components"]["schemas"].keys() <= SCHEMAS.keys()


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    used = {node["$ref"] for node in nodes(DOCUMENT) if isinstance(node.get("$ref"), str)}
    defined = {
        f"#/components/{kind}/{name}" for kind in ("schemas", "headers") for name in DOCUMENT["components"][kind]
    }
    assert used == defined


def test_every_operation_has_its_id_one_tag_and_its_words() -> None:
    ids = [operation.id for operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    for operation in OPERATIONS:
        assert re.fullmatch(r"[a-z][A-Za-z]+", operation.id)
        assert operation.tag in TAGS
        assert operation.description
        assert set(operation.problem_codes) <= set(KINDS)


def test_every_field_and_every_parameter_says_what_it_is() -> None:
    silent = [
        f"{name}.{field}"
        for name, schema in SCHEMAS.items()
        for field, shown in schema.get("properties", {}).items()
        if "const" not in shown and not shown.get("description")
    ]
    silent += [
        f"{operation['operationId']} {parameter['name']}"
        for path in DOCUMENT["paths"].values()
        for operation in path.values()
        for parameter in operation.get("parameters", ())
        if not parameter["description"]
    ]
    assert silent == []


def test_no_words_are_kept_for_a_field_that_is_gone() -> None:
    queries = {operation.types.query for operation in OPERATIONS}
    there = {f"{name}.{field}" for name, schema in SCHEMAS.items() for field in schema.get("properties", {})}
    there |= {f"{query.__name__}.{field.encode_name}" for query in queries for field in fields(query)}
    there |= {f"Event.{field.encode_name}" for field in fields(EventBody)}
    there |= {place.partition(".")[2] for place in there}
    assert set(MEANINGS) <= there


def test_every_union_of_objects_tells_its_members_apart() -> None:
    for name, schema in SCHEMAS.items():
        if "oneOf" not in schema or name == "WaitingFor":
            continue
        tag = schema["discriminator"]["propertyName"]
        mapping = schema["discriminator"]["mapping"]
        assert sorted(mapping.values()) == sorted(member["$ref"] for member in schema["oneOf"])
        for value, ref in mapping.items():
            member = SCHEMAS[ref.rpartition("/")[2]]
            assert member["properties"][tag] == {"type": "string", "const": value}
            assert tag in member["required"]


def test_every_move_and_every_kind_of_event_is_described() -> None:
    assert set(SCHEMAS["Move"]["discriminator"]["mapping"]) == {move.__struct_config__.tag for move in get_args(Move)}
    assert set(SCHEMAS["Event"]["discriminator"]["mapping"]) == set(EVENT_KINDS.values())


def test_whatever_the_rules_refuse_has_its_problem() -> None:
    assert set(REFUSALS) == set(get_args(RuleBroken))
    assert set(REFUSALS.values()) | set(EXCEPTIONS.values()) <= set(KINDS)
    assert set(REASONS) == set(get_args(Reason))


def test_whatever_can_be_wrong_with_a_request_has_its_words_in_the_document_and_in_the_guide() -> None:
    guide = (ROOT / "openapi" / "README.md").read_text("utf-8")
    listed = guide.partition("What can be wrong with a request:")[2].partition("\n\n|")[0]
    told = set(re.findall(r"`(\w+)`", listed)) - {"overrides"}
    assert set(FAULTS) == set(get_args(FaultCode)) == told
    assert set(SCHEMAS["FieldError"]["properties"]["code"]["x-extensible-enum"]) == {*FAULTS, *REASONS}


async def test_the_catalogue_of_problems_is_open_to_everybody(stranger: Player) -> None:
    catalogue = (await stranger.call("GET", "/v1/problems")).json()
    assert {item["code"]: item["status"] for item in catalogue["items"]} == {
        code: kind.status for code, kind in KINDS.items()
    }
    assert {item["reason"] for item in catalogue["reasons"]} == set(REASONS)
    assert {item["code"]: item["detail"] for item in catalogue["faults"]} == FAULTS


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.is_listed], ids=lambda each: each.id)
def test_every_example_is_one(operation: Operation) -> None:
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]
    if operation.types.body is not None:
        taken = described["requestBody"]["content"]["application/json"]
        if any(field.required for field in fields(operation.types.body)):
            assert "example" in taken, RECORD
        assert shape_faults(taken.get("example", {}), taken["schema"]) == []
    for media_type, shown in described["responses"][str(operation.status)].get("content", {}).items():
        if media_type == "application/json":
            assert "example" in shown, RECORD
            assert shape_faults(shown["example"], shown["schema"]) == [], RECORD
        else:
            assert_text_is_as_described(media_type, shown)


def assert_text_is_as_described(media_type: str, shown: Json) -> None:
    if media_type == "text/event-stream":
        told = re.findall(r"event: (\w+)\ndata: (.*)\n\n", shown["example"])
        lines = [(shown["x-sse"][kind], line) for kind, line in told]
        assert len(lines) == shown["example"].count("\n\n")
    elif media_type == "application/x-ndjson":
        lines = [(shown["x-line"], line) for line in shown["example"].splitlines()]
    else:
        assert shown["example"]
        return
    assert lines
    for schema, line in lines:
        assert shape_faults(json.loads(line), schema) == []


READABLE = [
    each
    for each in OPERATIONS
    if each.method == "GET"
    and "{" not in each.path
    and each.is_listed
    and each.scope != "operate"
    and not is_stream(each.types.shown)
]


@pytest.mark.parametrize("operation", READABLE, ids=lambda each: each.id)
async def test_what_needs_no_id_can_be_read_as_described(world: World, anna: Player, operation: Operation) -> None:
    if operation.scope == "operate":
        await allow(world, anna, ("operate",))
    await anna.sent("GET", operation.path)


async def test_the_strict_reading_finds_what_is_not_described(anna: Player) -> None:
    good = await anna.sent("GET", "/v1/me")
    me = {"$ref": "#/components/schemas/Me"}
    assert shape_faults(good, me) == []
    assert shape_faults(good | {"more": 1}, me)
    assert shape_faults(good | {"name": None}, me)
    assert shape_faults({"name": "Anna"}, me)
    assert shape_faults("purple", {"type": "string", "x-extensible-enum": ["red"]})
    request = httpx.Request("GET", "http://shanghai/v1/me")
    for other in (
        httpx.Response(418, json=good, request=request),
        httpx.Response(200, text="Anna", request=request),
        httpx.Response(200, json=good, headers={"Location": "/"}, request=request),
        httpx.Response(401, json={}, request=request),
    ):
        with pytest.raises(Undescribed):
            check(other)


async def test_the_page_of_the_document_needs_nothing_from_elsewhere(stranger: Player) -> None:
    response = await stranger.call("GET", "/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script" in response.text
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", response.text)
    assert "https://" not in response.text


async def test_readiness_tells_who_is_missing(world: World, stranger: Player) -> None:
    ready = await stranger.call("GET", "/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    world.alive["relay"] = False
    ready = await stranger.call("GET", "/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert ready.json()["processes"] == {"worker": True, "relay": False, "clock": True, "projector": True}


async def test_readiness_tells_when_the_relay_is_late() -> None:
    for lag_s, status in ((0.5, "ok"), (3.0, "degraded")):
        async with players(new_world(lag_s=lag_s), "") as [stranger]:
            ready = await stranger.sent("GET", "/health/ready")
        assert (ready["status"], ready["relay_lag_s"]) == (status, lag_s)


def nodes(value: Any) -> Iterator[Json]:
    """Walks through every object of a document."""
    if isinstance(value, dict):
        yield value
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(below)


def test_the_words_that_an_event_can_hold_are_listed() -> None:
    silent = []
    for event in EVENT_KINDS:
        told = SCHEMAS[f"{event.__name__}Data"]["properties"]
        for name, type_ in get_type_hints(event).items():
            if get_origin(type_) is Literal and name in told:
                listed = told[name].get("x-extensible-enum", ())
                silent += [f"{event.__name__}.{name} {word}" for word in get_args(type_) if word not in listed]
    assert silent == []
