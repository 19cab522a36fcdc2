"""What may differ from a preset, as the documents say it: every knob, with the numbers that it may be.

Only the documents are made of this. A request's overrides are laid over the preset first and looked at whole, so that
every fault of the result is named at once (domain/faults.py), those of knobs that do not go together among them.
"""

from typing import Annotated, Any, TypeAlias, get_args, get_origin

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct
from msgspec.structs import fields

from api.patterns import looks
from domain import bounds
from domain.presets import preset_names
from domain.ruleset import Ruleset

Preset: TypeAlias = Annotated[str, looks(pattern=f"^({'|'.join(preset_names())})$")]
"""The name of a preset; no enumeration, which would be a type of its own in generated clients."""

PRESETS_OWN = ("name", "source", "extends")
"""What a ruleset is called tells which preset it is."""

_FACE = "([2-9TJQKA][CDHS]|JK|([1-9]|1[0-2])[RYGB]|W|X)"
_FACE_OR_RANK = f"^({_FACE}|[2-9TJQKA]|1[0-2]|1)$"
_POINTS = Meta(ge=-bounds.MAX_POINTS, le=bounds.MAX_POINTS)
_BOUNDS: dict[str, Meta] = {
    "players/min": Meta(ge=2, le=bounds.MAX_PLAYERS),
    "players/max": Meta(ge=2, le=bounds.MAX_PLAYERS),
    "deck/sizes": looks(propertyNames={"pattern": f"^[1-{bounds.MAX_PLAYERS}]$"}),
    "deck/sizes/*/packs": Meta(ge=1, le=bounds.MAX_PACKS),
    "deck/sizes/*/jokers": Meta(ge=0, le=bounds.MAX_WILDS_IN_DECK),
    "deck/wilds": Meta(max_length=bounds.MAX_FACES, extra_json_schema={"uniqueItems": True}),
    "deck/wilds/*": looks(pattern=_FACE_OR_RANK),
    "deal/cards": Meta(min_length=1, max_length=bounds.MAX_ROUNDS),
    "deal/cards/*": Meta(ge=1, le=bounds.MAX_DEAL),
    "contracts": Meta(min_length=1, max_length=bounds.MAX_CONTRACTS),
    "contracts/*": Meta(min_length=1, max_length=bounds.MAX_PARTS),
    "contracts/*/*/size": Meta(ge=2, le=bounds.MAX_SIZE),
    "max_wilds/n": Meta(ge=0, le=bounds.MAX_SIZE),
    "buy/per_round": Meta(ge=0, le=bounds.MAX_BUYS),
    "buy/per_game": Meta(ge=0, le=bounds.MAX_BUYS),
    "buy/penalty": Meta(min_length=1, max_length=bounds.MAX_ENTRIES),
    "buy/penalty/*": Meta(ge=0, le=bounds.MAX_PENALTY),
    "stock_out/max_renewals": Meta(ge=0, le=bounds.MAX_RENEWALS),
    "idle_laps/no_draw": Meta(ge=1, le=bounds.MAX_LAPS),
    "idle_laps/no_progress": Meta(ge=1, le=bounds.MAX_LAPS),
    "max_rounds": Meta(ge=1, le=bounds.MAX_ROUNDS),
    "points/cards": looks(propertyNames={"pattern": _FACE_OR_RANK}),
    "points/cards/*": _POINTS,
    "points/alternatives": looks(maxProperties=bounds.MAX_ALTERNATIVES),
    "points/alternatives/*": looks(propertyNames={"pattern": _FACE_OR_RANK}),
    "points/alternatives/*/*": _POINTS,
    "points/use": Meta(max_length=bounds.MAX_ALTERNATIVES),
    "points/go_out_bonus": Meta(max_length=bounds.MAX_ENTRIES),
    "points/go_out_bonus/*": _POINTS,
    "never_taken": Meta(max_length=bounds.MAX_FACES),
    "never_taken/*": looks(pattern=f"^{_FACE}$"),
}
"""By the knob's place, `*` for whatever a list or table holds."""


def _changes(type_: type[Struct], path: str = "", *, is_whole: bool = False) -> type[Struct]:
    """Makes the type of what may be sent instead of a struct: some of its fields. is_whole: all that have no default,
    since what stands in a list is replaced.
    """
    wanted: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for field in fields(type_):
        below = f"{path}/{field.name}".lstrip("/")
        if below in PRESETS_OWN:
            continue
        annotation = _annotated(field.type, below, is_whole=is_whole)
        wanted.append((field.name, annotation) if is_whole else (field.name, annotation | UnsetType, UNSET))
    name = f"{type_.__name__}{'Wanted' if is_whole else 'Changes'}"
    words = f"{type_.__doc__}" if is_whole else "Knobs that differ from the preset's; the others stay as they are."
    return defstruct(name, wanted, frozen=True, forbid_unknown_fields=True, namespace={"__doc__": words})


def _annotated(type_: Any, path: str, *, is_whole: bool) -> Any:
    """Gives a knob's type within the bounds of its place."""
    origin, args = get_origin(type_), get_args(type_)
    made: Any = type_
    if isinstance(type_, type) and issubclass(type_, Struct):
        made = _changes(type_, path, is_whole=is_whole)
    elif origin is tuple:
        made = tuple[_annotated(args[0], f"{path}/*", is_whole=True), ...]  # type: ignore[misc]  # made here
    elif origin is dict:
        made = dict[str, _annotated(args[1], f"{path}/*", is_whole=is_whole)]  # type: ignore[misc]
    bounds = _BOUNDS.get(path)
    return made if bounds is None else Annotated[made, bounds]


Overrides: TypeAlias = Annotated[dict[str, Any], Meta(extra={"described_by": _changes(Ruleset)})]
"""What differs from a preset."""
