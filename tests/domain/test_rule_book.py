"""The rule book names every knob, every value and every preset that there is."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Literal, get_args, get_origin

import pytest
from msgspec import Struct
from msgspec.structs import fields

from domain.presets import preset_names
from domain.ruleset import DeckSize, Ruleset

BOOK = (files("domain") / "README.md").read_text("utf-8")


def knobs(type_: type[Struct], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Lists the knobs with their types, those in sections by their path."""
    for knob in fields(type_):
        if isinstance(knob.type, type) and issubclass(knob.type, Struct):
            yield from knobs(knob.type, f"{prefix}{knob.name}.")
        else:
            yield f"{prefix}{knob.name}", knob.type


KNOBS = dict(knobs(Ruleset))
ROWS = [line for line in BOOK.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("knob", KNOBS)
def test_every_knob_has_a_row_with_its_values(knob: str) -> None:
    row = next((row for row in ROWS if f"`{knob}`" in row.split(" | ")[0]), None)
    assert row is not None
    if get_origin(KNOBS[knob]) is Literal:
        assert all(f"`{value}`" in row for value in get_args(KNOBS[knob]))


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_has_a_row(name: str) -> None:
    assert any(row.startswith(f"| `{name}` |") for row in ROWS)


def test_a_deck_is_described_by_its_packs_and_jokers() -> None:
    row = next(row for row in ROWS if row.startswith("| `deck.sizes` |"))
    assert all(f"`{field.name}`" in row for field in fields(DeckSize))
