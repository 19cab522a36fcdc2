"""Presets are files beside this module: only what differs from the defaults, or from the preset they extend."""

import json
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from domain.cards import FACES, rank_of
from domain.faults import FaultyRuleset, faults, too_long
from domain.ruleset import Ruleset
from domain.shapes import shape_faults

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_FOLDER = files("domain") / "rulesets"
_S3: Json = {"kind": "set", "size": 3}
_R4: Json = {"kind": "run", "size": 4}
_NAMED_CONTRACTS: dict[str, Json] = {
    "std7": [
        [_S3, _S3], [_S3, _R4], [_R4, _R4], [_S3, _S3, _S3], [_S3, _S3, _R4], [_S3, _R4, _R4], [_R4, _R4, _R4],
    ]
}  # fmt: skip


@cache
def preset_names() -> tuple[str, ...]:
    """Lists the presets by name, in alphabetical order."""
    return tuple(sorted(file.name.removesuffix(".json") for file in _FOLDER.iterdir() if file.name.endswith(".json")))


@cache
def preset(name: str) -> Ruleset:
    """Gives a preset's whole ruleset; raises KeyError for a name that no file has."""
    return ruleset_with(name, {})


def ruleset_with(name: str, overrides: dict[str, Json]) -> Ruleset:
    """Lays overrides over a preset: objects are merged key by key, everything else is replaced.

    A rank among the wilds stands for its cards. Errors: KeyError for an unknown preset; FaultyRuleset with every
    fault of the result.
    """
    written = _merged(_preset_text(name), overrides)
    contracts = written.get("contracts")
    if isinstance(contracts, str) and contracts in _NAMED_CONTRACTS:
        written["contracts"] = _NAMED_CONTRACTS[contracts]
    if found := shape_faults(written, Ruleset):
        raise FaultyRuleset(found)
    rules = msgspec.convert(written, Ruleset, strict=True, str_keys=True)
    if found := too_long(rules):
        raise FaultyRuleset(found)
    rules = _with_faces(rules)
    if found := faults(rules):
        raise FaultyRuleset(found)
    return rules


def _with_faces(rules: Ruleset) -> Ruleset:
    """Names the cards where a whole rank is wild."""
    faces = FACES[rules.deck.kind]
    wilds = [[face for face in faces if wild in (face, rank_of(face))] or [wild] for wild in rules.deck.wilds]
    return replace(rules, deck=replace(rules.deck, wilds=tuple(chain.from_iterable(wilds))))


def _preset_text(name: str) -> dict[str, Json]:
    if name not in preset_names():
        raise KeyError(name)
    written: dict[str, Json] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    parent = written.pop("extends", None)
    return _merged(_preset_text(parent), written) if isinstance(parent, str) else written


def _merged(under: dict[str, Json], over: dict[str, Json]) -> dict[str, Json]:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _merged(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return merged
