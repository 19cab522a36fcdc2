"""How texts in requests look, as the documents say it; the server refuses the same in its own words.

Patterns are written so that ECMAScript's, Python's and Rust's expressions read them alike: no look-ahead, no classes.
"""

from msgspec import Meta

_LETTER = "[0-9a-hjkmnp-tv-z]"
_CONTROL = r"\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"  # and marks that turn the writing direction
_SPACE = r" \u00a0\u1680\u2000-\u200f\u202f\u205f\u2060\u3000\ufeff"
_NUMBER = r"-?[0-9]{1,4}(\.[0-9]{1,20})?(e-[0-9]{1,2})?"

ONE_LINE = f"^[^{_CONTROL}]*$"
"""Text without control characters."""
SHOWN = f"^[^{_CONTROL}]*[^{_CONTROL}{_SPACE}][^{_CONTROL}]*$"
"""The same, with something to be seen."""
KEY = "^[ -~]*[!#-~][ -~]*$"
"""Printable ASCII, and not only spaces and quotes."""
URL = r'^https://([0-9A-Za-z_.-]+|\[[0-9A-Fa-f:.]+\])(:443)?([/?][!"$-~]*)?$'
"""An address of port 443 without a user and a fragment."""
RANK = f"^{_NUMBER}~ply_[0-7]{_LETTER}{{25}}$"
"""A place in a ranking of players: a number, and the id of whoever stands there."""


def id_pattern(prefix: str) -> str:
    """Gives the pattern of public ids with this prefix: 128 bits in Crockford's base32."""
    return f"^{prefix}_[0-7]{_LETTER}{{25}}$"


def looks(**keywords: object) -> Meta:
    """Adds words of JSON Schema to a type's description; decoding does not look at them."""
    return Meta(extra_json_schema=keywords)


def cursor_like(pattern: str) -> Meta:
    """Describes the parameter with which a list goes on."""
    return Meta(description="`next_cursor` of the page before", extra_json_schema={"pattern": pattern})
