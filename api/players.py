"""Players and who is calling."""

import unicodedata
from typing import Any

from api.calls import Answer, Call, NoQuery, OpenCall
from api.house import House
from api.leaderboards import RatingBody
from api.paths import player_id_of, token_id_of
from api.player_shapes import (
    MAX_NAME,
    Me,
    MeChange,
    NewPlayer,
    NewTokenRequest,
    PlayerCreated,
    PlayerPage,
    ResultBody,
    TokenBody,
    TokenCreated,
    TokenList,
)
from api.problems import Failed
from api.requests import invalid
from services.identity import TokenOver, known_scopes, mint_token
from services.identity import create_guest as add_guest
from services.lobby import RESULTS_SHOWN, Rated
from services.ports import Token
from services.rendering import timestamp, timestamp_if_any

# Control characters, line breaks, what is no character, and marks that turn the writing direction of what follows.
_REFUSED_CATEGORIES = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_VISIBLE = "LNPS"  # letters, numbers, punctuation, symbols
_DIRECTION_MARKS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANKS = set("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols that show nothing


async def create_guest(house: House, call: OpenCall[NoQuery, NewPlayer]) -> Answer[PlayerCreated]:
    """Adds a player and gives the bearer token that speaks for them.

    The token is shown this once; whoever has it is the player. There is nothing to log in to.
    """
    guest = await add_guest(house.accounts, _fit_name(call.body.name))
    return Answer(PlayerCreated(guest.player_id, guest.name, guest.token), {"location": "/v1/me"})


async def update_me(house: House, call: Call[NoQuery, MeChange]) -> Answer[Me]:
    """Gives the caller another name; it is shown everywhere, in games of the past too."""
    caller, name = call.caller, _fit_name(call.body.name)
    if not await house.accounts.rename(caller.player_id, name):
        raise Failed("unauthenticated", headers={"www-authenticate": "Bearer"})
    house.callers.forget()
    return Answer(Me(caller.player_id, name, known_scopes(caller.scopes)))


async def list_tokens(house: House, call: Call[NoQuery, None]) -> Answer[TokenList]:
    """Lists the caller's tokens that can be used. What a token is made of is never shown again."""
    tokens = await house.accounts.tokens(call.caller.player_id)
    items = (TokenBody(**_told(token), is_current=token.token_id == call.caller.token_id) for token in tokens)
    return Answer(TokenList(tuple(items)))


async def create_token(house: House, call: Call[NoQuery, NewTokenRequest]) -> Answer[TokenCreated]:
    """Makes another token of the caller, for a bot or another device, with some of the scopes of the token that asks.

    `watch` reads; `bot` takes seats and plays; `play` does so too, opens games and looks after the player and the
    tokens; `operate` is for those who run the server. The new token lives no longer than the one that asks. It is shown
    this once, so the request has no Idempotency-Key: where the answer was lost, the list tells which one to revoke.
    """
    label = call.body.label.strip()
    if label:
        refuse_unshowable(label, "/label")
    try:
        token, secret = await mint_token(house.accounts, call.caller, call.body.scopes, label, call.body.valid_s)
    except TokenOver:
        raise Failed("unauthenticated", headers={"www-authenticate": "Bearer"}) from None
    location = f"/v1/me/tokens/{token.token_id}"
    return Answer(TokenCreated(**_told(token), token=secret), {"location": location})


async def revoke_token(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Ends one of the caller's tokens, and with it the tokens that it has made, and these in turn.

    Spared are the token that asks and what it has made: it may end the one that has made it, and one that ends itself
    leaves the others. Open streams of the ended ones end. Other processes than the one that answers may know them two
    seconds longer; streams end within five.
    """
    ended = await house.accounts.revoke(call.caller.player_id, token_id_of(call.path), call.caller.token_id)
    if not ended:
        raise Failed("token_not_found")
    house.callers.forget()
    house.streams.dismiss(ended)
    return Answer(None)


async def delete_me(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Forgets the caller: the name is removed everywhere, every token ends, and so do open streams.

    Games stay as they were played, with `Former player` on the seat; where one is not over yet the timers play on. It
    cannot be undone. Other processes than the one that answers may know the token two seconds longer.
    """
    tokens = await house.accounts.tokens(call.caller.player_id)
    await house.accounts.forget(call.caller.player_id)
    house.callers.forget()
    house.streams.dismiss({token.token_id for token in tokens})
    return Answer(None)


async def get_player(house: House, call: Call[NoQuery, None]) -> Answer[PlayerPage]:
    """Shows a player: the name, the ratings, the sums of finished public games by ruleset, and the last 20 of them.

    Games against bots count like others, but for the rating; private games count nowhere, and those with delayed
    spectators when their end is told. For the rating see getLeaderboard.
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
    ratings = tuple(_shown_rating(rated) for rated in await house.lobby.ratings(player_id))
    return Answer(PlayerPage(player_id, names[player_id], tuple(standings), shown, ratings))


async def get_me(_: House, call: Call[NoQuery, None]) -> Answer[Me]:
    """Tells whom the token speaks for."""
    return Answer(Me(call.caller.player_id, call.caller.name, known_scopes(call.caller.scopes)))


def _fit_name(given: str) -> str:
    name = unicodedata.normalize("NFC", given.strip())
    if not 1 <= len(name) <= MAX_NAME:  # NFC makes some names longer
        code = "text_too_long" if name else "invalid_value"
        raise invalid("body", "/name", code, f"1 to {MAX_NAME} characters are needed.")
    refuse_unshowable(name, "/name")
    return name


def refuse_unshowable(text: str, pointer: str) -> None:
    """Raises Failed for a text that cannot be shown to others as it is."""
    if any(unicodedata.category(sign) in _REFUSED_CATEGORIES or sign in _DIRECTION_MARKS for sign in text):
        raise invalid("body", pointer, "cannot_be_shown", "Control characters are not allowed.")
    if not any(unicodedata.category(sign)[0] in _VISIBLE and sign not in _BLANKS for sign in text):
        raise invalid("body", pointer, "cannot_be_shown", "Something that can be seen is needed.")


def _told(token: Token) -> dict[str, Any]:
    return {
        "token_id": token.token_id,
        "label": token.label,
        "scopes": known_scopes(token.scopes),
        "created_at": timestamp(token.created_at),
        "expires_at": timestamp_if_any(token.expires_at),
    }


def _shown_rating(rated: Rated) -> RatingBody:
    rating = rated.rating
    return RatingBody(rated.ruleset, round(rating.ordinal, 2), rating.games, rating.is_provisional)
