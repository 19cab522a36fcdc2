"""The OpenAPI document says what the server does, and the file in the repository is that document."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from api import asyncapi
from api.openapi import document, document_text
from api.operations import OPERATIONS, TAGS
from api.problems import EXCEPTIONS, KINDS, REFUSALS
from api.reasons import REASONS
from domain.commands import Move
from domain.refusals import Reason, RuleBroken
from domain.visible import KINDS as EVENT_KINDS
from tests.api.world import Json, Player, World, asked, dealt_game, new_world, players

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
    assert set(messages) == {*EVENT_KINDS.values(), "hello", "view", "heartbeat", "resync", "bye"}
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


async def test_the_catalogue_of_problems_is_open_to_everybody(stranger: Player) -> None:
    catalogue = (await stranger.call("GET", "/v1/problems")).json()
    assert {item["code"]: item["status"] for item in catalogue["items"]} == {
        code: kind.status for code, kind in KINDS.items()
    }
    assert {item["reason"] for item in catalogue["reasons"]} == set(REASONS)


async def test_answers_have_the_documented_shape(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await asked(game_id, "play", anna, boris)
    moved = await player.move(
        game_id, view["decisions"][0]["decision_id"], view["decisions"][0]["options"][0], prefer="return=representation"
    )
    refused = await player.call("GET", "/v1/games?limit=0")
    answers: list[tuple[str, Any]] = [
        ("View", view),
        ("MoveResult", moved.json()),
        ("Problem", refused.json()),
        ("Me", await player.sent("GET", "/v1/me")),
        ("Game", await player.sent("GET", f"/v1/games/{game_id}")),
        ("PlayerPage", await player.sent("GET", f"/v1/players/{player.player_id}")),
        ("GamePage", await player.sent("GET", "/v1/games")),
        ("EventPage", await player.sent("GET", f"/v1/games/{game_id}/events?limit=500")),
        ("DecisionList", await player.sent("GET", f"/v1/games/{game_id}/decisions")),
        ("RulesetList", await player.sent("GET", "/v1/rulesets")),
        ("Ruleset", await player.sent("GET", "/v1/rulesets/black-twos")),
        ("BotList", await player.sent("GET", "/v1/bots")),
        ("ProblemCatalogue", await player.sent("GET", "/v1/problems")),
        ("Meta", await player.sent("GET", "/v1/meta")),
        ("Alive", await player.sent("GET", "/health/live")),
        ("Readiness", await player.sent("GET", "/health/ready")),
    ]
    for name, answer in answers:
        assert list(faults(answer, SCHEMAS[name], name)) == []


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


def faults(value: Any, schema: Json, where: str) -> Iterator[str]:
    """Checks a value against as much of JSON Schema as the document uses; no field may be undescribed."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        matches = [member for member in schema["oneOf"] if not list(faults(value, member, where))]
        if len(matches) != 1:
            yield f"{where}: {len(matches)} of the union's members match"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value} is not {schema['const']}"
    types = schema.get("type", _type_of(value))
    if _type_of(value) not in (types if isinstance(types, list) else [types]):
        yield f"{where}: {_type_of(value)} is not {types}"
    for listed in ("enum", "x-extensible-enum"):
        if listed in schema and value not in schema[listed]:
            yield f"{where}: {value} is not in {schema[listed]}"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from faults(item, schema["items"], f"{where}/{number}")
    if isinstance(value, dict):
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
        for name in set(schema.get("required", ())) - set(value):
            yield f"{where}: {name} is missing"
        for name, below in value.items():
            if name in properties or isinstance(rest, dict):
                yield from faults(below, properties.get(name, rest), f"{where}/{name}")
            else:
                yield f"{where}: {name} is not described"


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else names[type(value)]
