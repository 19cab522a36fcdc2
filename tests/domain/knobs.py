"""Rulesets that nobody has written: a preset with some of its knobs turned at random."""

from random import Random

from domain.faults import FaultyRuleset
from domain.presets import Json, preset_names, ruleset_with
from domain.ruleset import Ruleset

VALUES: dict[str, list[Json]] = {
    "direction": ["clockwise", "counter_clockwise"],
    "ace": ["low", "high", "both", "corner"],
    "exact_sizes": [False, True],
    "max_wilds": [
        {"kind": "unlimited", "n": 0, "at": "always"},
        {"kind": "per_meld", "n": 1, "at": "always"},
        {"kind": "per_meld", "n": 1, "at": "first_laying"},
        {"kind": "not_more_than_naturals", "n": 0, "at": "always"},
        {"kind": "at_most_half", "n": 0, "at": "first_laying"},
        {"kind": "min_naturals", "n": 2, "at": "always"},
    ],
    "wilds_adjacent": [True, False],
    "all_wild_melds": [True, False],
    "distinct_set_ranks": [True, False],
    "distinct_set_suits": [True, False],
    "separate_runs": [True, False],
    "lay_off": ["same_turn", "later_turn"],
    "extra_melds": [True, False],
    "swap": [
        {"whose": "none", "sets": False, "re_meld": False, "offer": "on_turn"},
        {"whose": "opponents", "sets": True, "re_meld": True, "offer": "on_turn"},
        {"whose": "any", "sets": True, "re_meld": True, "offer": "on_turn"},
        {"whose": "any", "sets": True, "re_meld": False, "offer": "rotation"},
        {"whose": "opponents", "sets": False, "re_meld": False, "offer": "rotation"},
        {"whose": "move", "sets": False, "re_meld": False, "offer": "on_turn"},
    ],
    "buy": [
        {"allowed": False},
        {"allowed": True, "per_round": None, "penalty": [0], "priority": "first_call"},
        {"allowed": True, "per_round": 1, "penalty": [2], "priority": "seats", "down_may_buy": False},
        {"allowed": True, "per_game": 2, "penalty": [1, 3], "when_short": "not_offered"},
    ],
    "uncovered": ["closed", "reopens"],
    "down_may_take": [True, False],
    "no_return": [True, False],
    "shanghai": [
        {"call": "none", "declare": False, "false_call": "refused"},
        {"call": "caller_draws", "declare": True, "false_call": "refused"},
        {"call": "culprit_draws", "declare": True, "false_call": "caller_draws"},
        {"call": "taken_back", "declare": False, "false_call": "caller_draws"},
    ],
    "going_out": ["either", "discard_required", "no_discard"],
    "last_round": ["normal", "empty_hand", "empty_hand_no_discard"],
    "stock_out": [
        {"how": "shuffle", "max_renewals": 1, "both_empty": "skip_draw"},
        {"how": "turn_over", "max_renewals": 0, "both_empty": "end_round"},
        {"how": "turn_over", "max_renewals": 3, "both_empty": "skip_draw"},
    ],
    "progression": ["together", "individual"],
    "leaver": ["bot", "out"],
}


def any_ruleset(random: Random) -> Ruleset:
    """Turns four knobs of some preset, as long as the result has no fault."""
    while True:
        overrides = {knob: random.choice(VALUES[knob]) for knob in random.sample(sorted(VALUES), 4)}
        try:
            return ruleset_with(random.choice(preset_names()), overrides)
        except FaultyRuleset:
            continue
