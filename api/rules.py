"""A preset with overrides, as requests name it."""

from typing import Any

from api.overrides import PRESETS_OWN
from api.requests import invalid
from domain.faults import Fault, FaultyRuleset
from domain.presets import preset_names, ruleset_with
from domain.ruleset import Ruleset


def ruleset_of(name: str, overrides: dict[str, Any]) -> Ruleset:
    """Gives the whole ruleset.

    Errors: Failed for a preset that does not exist; FaultyRuleset with all faults, a field that belongs to the preset
    among them.
    """
    if name not in preset_names():
        raise invalid(
            "body", "/ruleset", "unknown_ruleset", f"There is no such ruleset; known are {', '.join(preset_names())}."
        )
    found = tuple(
        Fault("not_overridable", f"/overrides/{field}", "This belongs to the preset.")
        for field in PRESETS_OWN
        if field in overrides
    )
    changes = {field: change for field, change in overrides.items() if field not in PRESETS_OWN}
    try:
        rules = ruleset_with(name, changes)
    except FaultyRuleset as error:
        faults = (Fault(fault.code, f"/overrides{fault.path}", fault.detail) for fault in error.faults)
        raise FaultyRuleset((*found, *faults)) from None
    if found:
        raise FaultyRuleset(found)
    return rules
