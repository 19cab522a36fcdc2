"""Players and who is calling."""

import unicodedata

from api.calls import Answer, Call, NoQuery, OpenCall
from api.house import House
from api.limits import neighbourhood, refuse_beyond
from api.requests import invalid
from api.shapes import MAX_NAME, Me, NewPlayer, PlayerCreated
from services.identity import create_guest as add_guest

# Control characters, line breaks, what is no character, and marks that turn the writing direction of what follows.
_REFUSED_CATEGORIES = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_VISIBLE = "LNPS"  # letters, numbers, punctuation, symbols
_DIRECTION_MARKS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


async def create_guest(house: House, call: OpenCall[NoQuery, NewPlayer]) -> Answer[PlayerCreated]:
    """Adds a player and gives the bearer token that speaks for them.

    The token is shown this once; whoever has it is the player. There is nothing to log in to.
    """
    headers = await refuse_beyond(house.guests, "guests", neighbourhood(call.address))
    name = call.body.name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise invalid("body", "/name", "invalid_value", f"1 to {MAX_NAME} characters are needed.")
    if any(unicodedata.category(sign) in _REFUSED_CATEGORIES or sign in _DIRECTION_MARKS for sign in name):
        raise invalid("body", "/name", "invalid_value", "Control characters are not allowed.")
    if not any(unicodedata.category(sign)[0] in _VISIBLE for sign in name):
        raise invalid("body", "/name", "invalid_value", "Something that can be seen is needed.")
    guest = await add_guest(house.accounts, name)
    created = PlayerCreated(guest.player_id, guest.name, guest.token)
    return Answer(created, {"location": "/v1/me", **headers})


async def get_me(_: House, call: Call[NoQuery, None]) -> Answer[Me]:
    """Tells whom the token speaks for."""
    return Answer(Me(call.caller.player_id, call.caller.name, call.caller.scopes))
