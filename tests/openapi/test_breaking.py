"""Nothing that clients rely on is taken away while the version stays."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.openapi import document
from tests.openapi.breaking import Json, bare, breaks

BASELINE = Path(__file__).parent / "baseline.json"
DOCUMENT = document()


def test_clients_of_the_last_recorded_version_still_work(is_recording: bool) -> None:
    if is_recording:
        BASELINE.write_text(json.dumps(bare(DOCUMENT), separators=(",", ":")) + "\n", encoding="utf-8")
    old = json.loads(BASELINE.read_text("utf-8"))
    found = breaks(old, DOCUMENT)
    if old["info"]["version"] == DOCUMENT["info"]["version"]:
        assert found == [], "clients break: take it back; or raise VERSION, tell it in CHANGELOG.md, and make golden"


def operation(document: Json, path: str, method: str = "post") -> Any:
    return document["paths"][path][method]


def schema(document: Json, name: str) -> Any:
    return document["components"]["schemas"][name]


def parameter(document: Json, name: str) -> Any:
    return next(each for each in operation(document, "/v1/games", "get")["parameters"] if each["name"] == name)


GAMES, GAME = "/v1/games", "/v1/games/{game_id}"
BREAKING: list[tuple[str, Callable[[Json], Any]]] = [
    ("an operation is gone", lambda d: d["paths"].pop(GAME)),
    ("another name", lambda d: operation(d, GAMES).update(operationId="openGame")),
    ("a token where none was needed", lambda d: operation(d, "/v1/meta", "get").update(security=[{"bearer": []}])),
    ("a parameter is gone", lambda d: operation(d, GAMES, "get")["parameters"].pop()),
    ("a parameter must be sent", lambda d: parameter(d, "cursor").update(required=True)),
    ("a bound is narrower", lambda d: parameter(d, "limit")["schema"].update(maximum=50)),
    ("a value cannot be sent", lambda d: schema(d, "NewPace")["properties"]["claims"]["enum"].remove("full")),
    ("a field cannot be sent", lambda d: schema(d, "NewGame")["properties"].pop("hints")),
    ("a field must be sent", lambda d: schema(d, "NewGame")["required"].append("hints")),
    ("a move cannot be sent", lambda d: schema(d, "Move")["oneOf"].pop()),
    ("a field of an answer is gone", lambda d: schema(d, "Seat")["properties"].pop("score")),
    ("a field of an answer may be absent", lambda d: schema(d, "Seat")["required"].remove("score")),
    ("another type", lambda d: schema(d, "Seat")["properties"].update(score={"type": "string"})),
    ("null where none was", lambda d: schema(d, "Seat")["properties"].update(score={"type": ["integer", "null"]})),
    ("a kind of event is gone", lambda d: schema(d, "Event")["oneOf"].pop()),
    ("another status", lambda d: operation(d, GAMES)["responses"].pop("201")),
    ("a header is gone", lambda d: operation(d, GAMES)["responses"]["201"]["headers"].pop("Location")),
    ("a message is gone", lambda d: operation(d, f"{GAME}/stream", "get")["responses"]["200"]["content"]
        ["text/event-stream"]["x-sse"].pop("hello")),
]  # fmt: skip

HARMLESS: list[tuple[str, Callable[[Json], Any]]] = [
    ("a new operation", lambda d: d["paths"].update({"/v1/more": {}})),
    ("a field of an answer", lambda d: schema(d, "Seat")["properties"].update(more={"type": "string"})),
    ("a field that may be sent", lambda d: schema(d, "NewGame")["properties"].update(more={"type": "string"})),
    ("a value that may be sent", lambda d: schema(d, "NewPace")["properties"]["claims"]["enum"].append("never")),
    ("a value of an answer", lambda d: schema(d, "Game")["properties"]["status"]["x-extensible-enum"].append("")),
    ("other words", lambda d: schema(d, "Seat").update(description="A chair.")),
    ("a wider bound", lambda d: parameter(d, "limit")["schema"].update(maximum=500)),
]  # fmt: skip


@pytest.mark.parametrize("change", [change for _, change in BREAKING], ids=[what for what, _ in BREAKING])
def test_what_breaks_clients_is_found(change: Callable[[Json], Any]) -> None:
    new = copy.deepcopy(DOCUMENT)
    change(new)
    assert breaks(bare(DOCUMENT), new)


@pytest.mark.parametrize("change", [change for _, change in HARMLESS], ids=[what for what, _ in HARMLESS])
def test_what_is_only_more_breaks_nobody(change: Callable[[Json], Any]) -> None:
    new = copy.deepcopy(DOCUMENT)
    change(new)
    assert breaks(bare(DOCUMENT), new) == []
