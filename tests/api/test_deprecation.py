"""An operation that is going says so: in every answer, in the document and to scripts of websites."""

from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
import pytest

from api import openapi, routes
from api.cors import EXPOSED
from api.operation import Deprecated
from api.operations import OPERATIONS
from tests.api.world import World, new_world, players

OLD = Deprecated(since=date(2026, 11, 1), ends=date(2027, 5, 1), more="/docs#getScores")


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Gives the document of an API whose listBots is going, and getMe without an end."""
    going = {"listBots": OLD, "getMe": Deprecated(since=date(2026, 11, 1))}
    changed = tuple(msgspec.structs.replace(each, deprecated=going.get(each.id)) for each in OPERATIONS)
    monkeypatch.setattr(routes, "OPERATIONS", changed)
    monkeypatch.setattr(openapi, "OPERATIONS", changed)
    return openapi.document()


async def test_each_answer_says_since_when_until_when_and_what_instead(described: dict[str, Any]) -> None:
    world: World = new_world()
    async with players(world, "Anna") as [anna]:
        anna.http.event_hooks = {}  # the document that answers are held against knows nothing of it
        for path, status in (("/v1/bots", 200), ("/v1/bots?colour=red", 422)):
            answer = await anna.call("GET", path)
            assert answer.status_code == status
            assert answer.headers["deprecation"] == "@1793491200"
            assert parsedate_to_datetime(answer.headers["sunset"]).isoformat() == "2027-05-01T00:00:00+00:00"
            assert answer.headers["link"] == '</docs#getScores>; rel="deprecation"'
        assert "sunset" not in (await anna.call("GET", "/v1/me")).headers
        assert "deprecation" not in (await anna.call("GET", "/v1/meta")).headers


def test_the_document_marks_it_and_describes_the_headers(described: dict[str, Any]) -> None:
    listed = described["paths"]["/v1/bots"]["get"]
    assert listed["deprecated"] is True
    assert all({"Deprecation", "Link", "Sunset"} <= answer["headers"].keys() for answer in listed["responses"].values())
    assert {"Deprecation", "Link", "Sunset"} <= described["components"]["headers"].keys()
    endless = described["paths"]["/v1/me"]["get"]["responses"]["200"]["headers"]
    assert {"Deprecation", "Link"} <= endless.keys()
    assert "Sunset" not in endless
    assert "deprecated" not in described["paths"]["/v1/meta"]["get"]


def test_scripts_may_read_the_headers() -> None:
    assert {b"Deprecation", b"Link", b"Sunset"} <= set(EXPOSED.split(b", "))


def test_nothing_ends_before_it_is_deprecated() -> None:
    with pytest.raises(ValueError, match="ends after"):
        Deprecated(since=date(2026, 11, 1), ends=date(2026, 10, 31))
