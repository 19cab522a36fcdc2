"""Why a request may be refused that keeps to the document: rules that no schema can say, by operation.

Codes are those of the problem's `errors`, or the problem's own where it has none. What a schema can say, as the shape
of a field or its bounds, has no place here. 401, 403, 404, 409 and 429 are nothing that a request's shape decides.
"""

_KNOBS = frozenset(
    {  # knobs that do not go together; see domain/bounds.py
        "all_wild_within_limit",
        "bad_deck",
        "bad_player_numbers",
        "contract_too_big",
        "deck_missing",
        "deck_too_small",
        "first_through_together",
        "last_contract_too_small",
        "meld_too_big",
        "moved_wild_in_set",
        "moved_wild_offered",
        "moved_wild_owed",
        "offered_wild_owed",
        "one_deck_only",
        "rounds_without_contract",
        "size_below_naturals",
        "skip_cards_missing",
        "skip_is_wild",
        "skip_may_be_taken",
        "too_many_wilds",
        "unknown_alternative",
        "unknown_face",
        "upcard_and_forehand_extra",
        "useless_card",
    }
)
_TEXT = frozenset({"cannot_be_shown"})  # letters that Unicode does not have, or nothing but blanks
_NAME = _TEXT | {"text_too_long"}  # some letters are longer in NFC
_PACE = frozenset({"window_too_long"})

REFUSALS: dict[str, frozenset[str]] = {
    "createGuest": _NAME,
    "updateMe": _NAME,
    "createToken": _TEXT,
    "createGame": _KNOBS | _PACE | {"bad_player_number", "not_delayed", "second_own_seat"},
    "validateRuleset": _KNOBS,
    "createTicket": _PACE | {"bad_player_number"},
    "createInvite": frozenset({"seat_needed"}),
    "createStreamTicket": frozenset({"game_needed"}),
    "startGame": frozenset({"version_mismatch"}),
    "makeMove": frozenset({"illegal_move", "version_mismatch"}),
    "getView": frozenset({"beyond_head"}),
    "streamEvents": frozenset({"beyond_head"}),
    "streamMine": frozenset({"unknown_cursor"}),
    "createWebhook": _TEXT | {"address_refused"},
    "updateWebhook": _TEXT | {"address_refused"},
    "adminEndGame": _TEXT,
    "adminSuspendPlayer": _TEXT,
}
