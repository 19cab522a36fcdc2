"""Players and who is calling."""

import unicodedata

from api.calls import Answer, Call, NoQuery, OpenCall
from api.house import House
from api.limits import neighbourhood, refuse_beyond
from api.paths import player_id_of
from api.problems import Failed
from api.requests import invalid
from api.shapes import MAX_NAME, Me, NewPlayer, PlayerCreated, PlayerPage, ResultBody
from services.identity import create_guest as add_guest
from services.lobby import RESULTS_SHOWN
from services.rendering import timestamp

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


async def delete_me(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Forgets the caller: the name is removed everywhere, every token ends, and so do open streams.

    Games stay as they were played, with `Former player` on the seat; where one is not over yet the timers play on. It
    cannot be undone. Other processes than the one that answers may know the token two seconds longer.
    """
    await house.accounts.forget(call.caller.player_id)
    house.callers.forget()
    house.streams.dismiss({call.caller.player_id})
    return Answer(None)


async def get_player(house: House, call: Call[NoQuery, None]) -> Answer[PlayerPage]:
    """Shows a player: the name, the sums of finished public games by ruleset, and the last 20 of them.

    Games against bots count like others; private games count nowhere.
    """
    player_id = player_id_of(call.path)
    names = await house.accounts.names([player_id])
    if player_id not in names:
        raise Failed("player_not_found")
    standings = await house.lobby.standings(player_id)
    results = await house.lobby.results(player_id, RESULTS_SHOWN)
    shown = tuple(
        ResultBody(
            game_id=result.game_id,
            ruleset=result.ruleset,
            finished_at=timestamp(result.finished_at),
            seat=result.seat,
            seats=result.seats,
            score=result.score,
            won=result.is_won,
        )
        for result in results
    )
    return Answer(PlayerPage(player_id, names[player_id], tuple(standings), shown))


async def get_me(_: House, call: Call[NoQuery, None]) -> Answer[Me]:
    """Tells whom the token speaks for."""
    return Answer(Me(call.caller.player_id, call.caller.name, call.caller.scopes))
