"""Texts of people that are shown to others: what cannot be shown as it is is refused."""

import unicodedata

from api.faults import RequestFault
from api.player_shapes import MAX_NAME
from api.requests import invalid

# Control characters, line breaks, what is no character, and marks that turn the writing direction of what follows.
_REFUSED_CATEGORIES = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_VISIBLE = "LNPS"  # letters, numbers, punctuation, symbols
_DIRECTION_MARKS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANKS = set("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols that show nothing


def fit_name(given: str) -> str:
    """Gives a player's name as it is kept. Errors: Failed."""
    name = unicodedata.normalize("NFC", given.strip())
    if not 1 <= len(name) <= MAX_NAME:  # NFC makes some names longer
        code: RequestFault = "text_too_long" if name else "invalid_value"
        raise invalid("body", "/name", code, f"1 to {MAX_NAME} characters are needed.")
    refuse_unshowable(name, "/name")
    return name


def fit_note(given: str, pointer: str) -> str:
    """Gives a player's own words about something as they are kept; there need not be any. Errors: Failed."""
    note = given.strip()
    if note:
        refuse_unshowable(note, pointer)
    return note


def refuse_unshowable(text: str, pointer: str) -> None:
    """Raises Failed for a text that cannot be shown to others as it is."""
    if any(unicodedata.category(sign) in _REFUSED_CATEGORIES or sign in _DIRECTION_MARKS for sign in text):
        raise invalid("body", pointer, "cannot_be_shown", "Control characters are not allowed.")
    if not any(unicodedata.category(sign)[0] in _VISIBLE and sign not in _BLANKS for sign in text):
        raise invalid("body", pointer, "cannot_be_shown", "Something that can be seen is needed.")
