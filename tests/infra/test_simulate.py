"""`shanghai simulate`: a readable table, and one clear line for what cannot be played."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from infra.cli import main


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *arguments])


def test_the_table_tells_how_the_games_went() -> None:
    result = simulate("--ruleset", "king-rummy", "--players", "4", "--games", "2", "--seed", "5")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "king-rummy: 2 games of 4 bots of level normal, seeds 5 to 6"
    for row in ("rounds", "moves", "events", "points of a seat", "out %", "lay-downs", "buys", "calls", "swaps"):
        assert re.search(rf"^{row}  ", result.output, re.MULTILINE), row
    assert re.search(r"^a round( +\d){4} +all$", result.output, re.MULTILINE)
    assert re.search(r"^moves +\S+ +\S+ +(\S+) +\1$", result.output, re.MULTILINE), "of two games the longer is the p95"
    assert re.fullmatch(r"[\d,]+ moves in [\d.]+ s: [\d,]+ moves/s", lines[-1])
    assert "\x1b" not in result.output


def test_the_same_seed_gives_the_same_table() -> None:
    first, again = (
        simulate("--ruleset", "ten-phases", "--players", "2", "--games", "1", "--level", "easy").output.splitlines()
        for _ in range(2)
    )
    assert first[:-1] == again[:-1]


def test_a_variant_is_simulated_from_a_file(tmp_path: Path) -> None:
    overrides = tmp_path / "short.json"
    overrides.write_text('{"max_rounds": 1}', "utf-8")
    result = simulate("--games", "1", "--players", "2", "--overrides", str(overrides))
    assert result.exit_code == 0, result.output
    assert re.search(r"^rounds +1\.0", result.output, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--ruleset", "whist"], "there is no ruleset whist; known are black-twos, "),
        (["--players", "9"], "davis is for 2 to 5 players, not 9"),
        (["--players", "0"], "0 is not in the range"),
        (["--games", "0"], "0 is not in the range"),
        (["--level", "hard"], "'hard' is not one of 'easy', 'normal'"),
        (["--overrides", "/nowhere.json"], "/nowhere.json cannot be read: "),
    ],
)
def test_what_cannot_be_played_is_said(arguments: list[str], text: str) -> None:
    result = simulate(*arguments)
    assert result.exit_code == 2
    assert text in result.output


@pytest.mark.parametrize("content", ["[]", "{", '"x"', "\ud800"], ids=["array", "half", "string", "no-utf-8"])
def test_a_file_that_holds_no_overrides_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    overrides = tmp_path / "bad.json"
    overrides.write_bytes(content.encode("utf-8", "surrogatepass"))
    result = simulate("--overrides", str(overrides))
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert str(overrides) in result.output


def test_every_fault_of_the_overrides_is_named_with_its_place(tmp_path: Path) -> None:
    overrides = tmp_path / "bad.json"
    overrides.write_text('{"deal": {"cards": [40]}, "stock_out": {"max_renewals": 99}}', "utf-8")
    result = simulate("--overrides", str(overrides))
    assert result.exit_code == 2
    assert len([line for line in result.output.splitlines() if "bad.json: /" in line]) >= 2
