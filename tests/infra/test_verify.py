"""`shanghai verify` on files as they are downloaded."""

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result

from infra.cli import main
from tests.domain.exports import Json, exported
from tests.domain.games import at_random, whole_game


@pytest.fixture(scope="module")
def export() -> list[Json]:
    """A round and a half of davis, as seat 2 sees it."""
    told = list(whole_game("davis", 4, 1, at_random(Random(1), 0.1), rounds=2))
    events = [event for _, events in told for event in events]
    second = next(at for at, (_, events) in enumerate(told) if getattr(events[0], "number", 0) == 2)
    kept = sum(len(events) for _, events in told[: second + 5])
    return exported(told[-1][0].game_id, events[:kept], 2)


def verify(folder: Path, content: str) -> Result:
    file = folder / "game.ndjson"
    file.write_text(content, "utf-8")
    return CliRunner().invoke(main, ["verify", str(file)])


def lines(export: list[Json]) -> str:
    return "".join(json.dumps(event) + "\n" for event in export)


def test_a_fair_game_is_verified(tmp_path: Path, export: list[Json]) -> None:
    result = verify(tmp_path, lines(export))
    assert result.exit_code == 0, result.output
    assert "davis, 4 seats, seen by seat 2" in result.output
    assert "1 dealt again from the revealed secrets; 2 not revealed yet" in result.output
    assert result.output.endswith("\nverified\n")


def test_a_page_of_the_list_of_events_is_verified_too(tmp_path: Path, export: list[Json]) -> None:
    page = {"items": export, "next_after": len(export), "head_version": len(export)}
    result = verify(tmp_path, json.dumps(page))
    assert result.exit_code == 0, result.output


def test_what_is_wrong_is_named_with_its_version(tmp_path: Path, export: list[Json]) -> None:
    dealt = next(event for event in export if event["kind"] == "round_dealt")
    dealer = dealt["data"]["dealer"]
    forged = [
        event if event is not dealt else {**dealt, "data": {**dealt["data"], "dealer": (dealer + 1) % 4}}
        for event in export
    ]
    result = verify(tmp_path, lines(forged))
    assert result.exit_code == 1
    assert f"version {dealt['version']}: dealer_differs: the dealer" in result.output
    assert result.output.endswith("\nNOT verified: 1 finding\n")


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", "hello", "{}", "[]", '{"items": []}', '{"version": 1}\n', '{"items": 7}', "[" * 100_000, "\x00"],
    ids=["nothing", "blank", "text", "object", "array", "no-items", "half", "number", "deep", "nul"],
)
def test_what_is_no_export_is_said_in_one_line(tmp_path: Path, content: str) -> None:
    result = verify(tmp_path, content)
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert "is no export of a game" in result.output


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["verify", str(tmp_path / "nothing")])
    assert result.exit_code == 2
    assert "No such file" in result.output
