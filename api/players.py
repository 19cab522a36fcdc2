"""Players and who is calling."""

from typing import Any

from api.calls import Answer, Call, NoQuery, OpenCall
from api.house import House
from api.leaderboards import RatingBody
from api.paths import player_id_of, token_id_of
from api.player_shapes import (
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
from api.texts import fit_name, fit_note
from services.identity import TokenOver, known_scopes, mint_token
from services.identity import create_guest as add_guest
from services.lobby import RESULTS_SHOWN, Rated
from services.ports import Token
from services.rendering import timestamp, timestamp_if_any


async def create_guest(house: House, call: OpenCall[NoQuery, NewPlayer]) -> Answer[PlayerCreated]:
    """Adds a player and gives the bearer token that speaks for them.

    The token is shown this once; whoever has it is the player. There is nothing to log in to.
    """
    guest = await add_guest(house.accounts, fit_name(call.body.name))
    return Answer(PlayerCreated(guest.player_id, guest.name, guest.token), {"location": "/v1/me"})


async def update_me(house: House, call: Call[NoQuery, MeChange]) -> Answer[Me]:
    """Gives the caller another name; it is shown everywhere, in games of the past too."""
    caller, name = call.caller, fit_name(call.body.name)
    if not await house.accounts.rename(caller.player_id, name):
        raise Failed("unauthenticated")
    house.callers.forget(caller.player_id)
    return Answer(Me(caller.player_id, name, known_scopes(caller.scopes)))


async def list_tokens(house: House, call: Call[NoQuery, None]) -> Answer[TokenList]:
    """Lists the caller's tokens that can be used. What a token is made of is never shown again."""
    tokens = await house.accounts.tokens(call.caller.player_id)
    items = (TokenBody(**_told(token), is_current=token.token_id == call.caller.token_id) for token in tokens)
    return Answer(TokenList(tuple(items)))


async def create_token(house: House, call: Call[NoQuery, NewTokenRequest]) -> Answer[TokenCreated]:
    """Makes another token of the caller, for a bot or another device, with some of the scopes of the token that asks.

    `watch` reads; `bot` takes seats and plays; `play` does so too, opens games and looks after the player and the
    tokens; `operate` is for those who run the server. None but `watch` reads, so a bot needs `bot` and `watch`. The new
    token lives no longer than the one that asks. It is shown this once, so the request has no Idempotency-Key: where
    the answer was lost, the list tells which one to revoke.
    """
    label = fit_note(call.body.label, "/label")
    try:
        token, secret = await mint_token(house.accounts, call.caller, call.body.scopes, label, call.body.valid_s)
    except TokenOver:
        raise Failed("unauthenticated") from None
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
    house.callers.forget(call.caller.player_id)
    house.streams.dismiss(ended)
    return Answer(None)


async def delete_me(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Forgets the caller: the name is removed everywhere, every token ends, and so do open streams.

    Games stay as they were played, with `Former player` on the seat; where one is not over yet the timers play on. It
    cannot be undone. Other processes than the one that answers may know the token two seconds longer.
    """
    tokens = await house.accounts.tokens(call.caller.player_id)
    await house.accounts.forget(call.caller.player_id)
    house.callers.forget(call.caller.player_id)
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
