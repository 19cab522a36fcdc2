"""A preset with overrides, as requests name it."""

from typing import Any

from api.overrides import PRESETS_OWN
from api.requests import invalid
from domain.faults import Fault, FaultyRuleset
from domain.presets import preset_names, ruleset_with
from domain.ruleset import Ruleset


def ruleset_of(name: str, overrides: dict[str, Any]) -> Ruleset:
    """Gives the whole ruleset.

    Errors: Failed for a preset that does not exist or a field that belongs to it; FaultyRuleset with all faults.
    """
    if name not in preset_names():
        raise invalid(
            "body", "/ruleset", "unknown_ruleset", f"There is no such ruleset; known are {', '.join(preset_names())}."
        )
    for field in PRESETS_OWN:
        if field in overrides:
            raise invalid("body", f"/overrides/{field}", "not_overridable", "This belongs to the preset.")
    try:
        return ruleset_with(name, overrides)
    except FaultyRuleset as error:
        faults = (Fault(fault.code, f"/overrides{fault.path}", fault.detail) for fault in error.faults)
        raise FaultyRuleset(tuple(faults)) from None
