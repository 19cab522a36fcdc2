"""Games before they are played: opening, listing, sitting down, starting."""

from api.away import all_away, away_from
from api.calls import Answer, Call, EmptyBody, KeyedCall, NoQuery
from api.house import House
from api.paths import game_id_of, seat_of
from api.problems import Failed, FieldError, read_part
from api.requests import cursor_of, etag, has_already, invalid, made_for
from api.rules import ruleset_of
from api.shapes import (
    CORRESPONDENCE_TURN_S,
    MAX_CLAIM_WINDOW_S,
    SPECTATOR_DELAY_S,
    BotSeat,
    GamePage,
    GamesQuery,
    NewGameRequest,
    NewPace,
    NonceRequest,
    OpenSeat,
    SeatRequest,
    YourSeat,
)
from domain.commands import Pace, SeatPlan
from services import games, lobby, seeing
from services.hot import Hot
from services.outcomes import Outcome
from services.ports import KeyedRequest, Principal
from services.rendering import NOBODY, GameBody, names_at, render_game, render_listed


async def create_game(house: House, call: KeyedCall[NoQuery, NewGameRequest]) -> Answer[GameBody]:
    """Opens a game. It waits until every seat is taken and its opener starts it.

    Without a seat `you` the caller does not play, but may start and watch the game.
    """
    body = call.body
    faults: list[FieldError] = []
    rules = read_part(faults, lambda: ruleset_of(body.ruleset, body.overrides))
    pace = read_part(faults, lambda: pace_of(body.pace))
    seats = read_part(faults, lambda: _seat_plans(body, call.caller))
    delay_s = read_part(faults, lambda: _delay_of(body))
    if rules is None or pace is None or seats is None or delay_s is None:
        raise Failed("invalid_request", faults[0].detail, errors=tuple(faults))
    new = games.NewGame(
        rules=rules,
        pace=pace,
        seats=seats,
        visibility=body.visibility,
        spectators=body.spectators,
        hints=body.hints,
        spectator_delay_s=delay_s,
    )
    return await opened(house, call.caller, new, call.request)


async def list_games(house: House, call: Call[GamesQuery, None]) -> Answer[GamePage]:
    """Lists the games that the caller may know of, the newest first.

    A game that was opened, started, finished or given another player is shown so at once; hands and points may be a
    second late.
    """
    query = call.query
    before = cursor_of(query.cursor, "gam")
    wanted = lobby.GameFilter(query.status, query.ruleset, query.mine)
    found, cursor = await lobby.list_games(house.lobby, house.tables, call.caller, wanted, before, query.limit)
    names = await names_at(house.accounts, found)
    away = await all_away(house, call.caller, found)
    items = tuple(render_listed(game, call.caller.player_id, names, away.get(game.game_id, NOBODY)) for game in found)
    return Answer(GamePage(items, cursor))


async def get_game(house: House, call: Call[NoQuery, None]) -> Answer[GameBody | None]:
    """Shows a game as the lobby has it."""
    hot = await seeing.known_game(house.tables, call.caller, game_id_of(call.path))
    hot = seeing.as_listed(house.tables, hot, call.caller)
    if has_already(call.headers, hot.version):
        return Answer(None, {"etag": etag(hot.version)}, 304)
    return await as_it_is(house, call.caller, hot)


async def start_game(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Starts a game whose seats are all taken; the cards of the first round are dealt at once after it.

    Where a seat has given a `nonce_commitment`, the game still waits until these seats have revealed their nonces.
    """
    game_id = game_id_of(call.path)
    hot, outcome = await games.start_game(house.tables, call.caller, game_id, call.request, made_for(call.headers))
    return await shown(house, call.caller, hot, outcome)


async def take_seat(house: House, call: Call[NoQuery, SeatRequest]) -> Answer[GameBody]:
    """Sits down on an open seat of a waiting game. Doing it again changes nothing.

    With a `nonce_commitment` the player takes part in the luck: the start then first asks for the bytes behind it
    (event `nonces_asked`, then revealNonce). While the game waits it can be given, or another one, by sitting down
    again.
    """
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    hot = await games.take_seat(house.tables, call.caller, game_id, seat, call.body.nonce_commitment)
    return await as_it_is(house, call.caller, hot)


async def reveal_nonce(house: House, call: Call[NoQuery, NonceRequest]) -> Answer[GameBody]:
    """Reveals the 16 bytes that the own seat has committed itself to. Doing it again changes nothing.

    Nobody sees them until all have; then the game starts. A seat that has not revealed within 10 seconds is emptied,
    all commitments are thrown away, and the game waits again.
    """
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    hot = await games.reveal_nonce(house.tables, call.caller, game_id, seat, call.body.nonce)
    return await as_it_is(house, call.caller, hot)


async def opened(house: House, caller: Principal, new: games.NewGame, request: KeyedRequest) -> Answer[GameBody]:
    """Opens a game and shows it as it was opened, and where it is."""
    hot, outcome = await games.open_game(
        house.tables, house.secrets, house.reservations, caller, new, request, house.quotas.games_unfinished
    )
    answer = await shown(house, caller, hot, outcome)
    answer.headers["location"] = f"/v1/games/{answer.shown.game_id}"
    return answer


async def as_it_is(house: House, caller: Principal, hot: Hot) -> Answer[GameBody]:
    """Shows the game as it is now."""
    game = hot.game
    names = await names_at(house.accounts, [game])
    away = await away_from(house, caller, game)
    return Answer(render_game(hot, game, caller.player_id, names, away), {"etag": etag(game.version)})


async def shown(house: House, caller: Principal, hot: Hot, outcome: Outcome) -> Answer[GameBody]:
    """Shows the game as the request left it, also when it is answered again later."""
    if hot.version < outcome.last:
        hot = await house.tables.fresh(hot.game.game_id)
    answer = await as_it_is(house, caller, hot.at(outcome.last))
    answer.headers.update(replay_header(is_replayed=outcome.replayed))
    return answer


def replay_header(*, is_replayed: bool) -> dict[str, str]:
    """Marks the answer of a request that was carried out before."""
    return {"idempotency-replayed": "true"} if is_replayed else {}


def pace_of(new: NewPace) -> Pace:
    """Gives the pace that a request asks for; refuses a claim window of hours where a turn has minutes."""
    if new.claim_window_s > MAX_CLAIM_WINDOW_S and new.turn_s < CORRESPONDENCE_TURN_S:
        detail = f"More than {MAX_CLAIM_WINDOW_S} s go only with turns of {CORRESPONDENCE_TURN_S} s and more."
        raise invalid("body", "/pace/claim_window_s", "window_too_long", detail)
    return Pace(new.claim_window_s, new.turn_s, new.bot_delay_ms, new.claims)


def _delay_of(body: NewGameRequest) -> int:
    """Gives how late spectators see the game, 0 where they see it at once or not at all."""
    given = body.spectator_delay_s
    if body.spectators == "delayed":
        return SPECTATOR_DELAY_S if given is None else given
    if given is not None:
        raise invalid("body", "/spectator_delay_s", "not_delayed", 'A delay goes only with `"spectators": "delayed"`.')
    return 0


def _seat_plans(body: NewGameRequest, caller: Principal) -> tuple[SeatPlan, ...]:
    plans: list[SeatPlan] = []
    for number, seat in enumerate(body.seats):
        match seat:
            case YourSeat(nonce_commitment):
                if any(plan.player_id for plan in plans):
                    raise invalid("body", f"/seats/{number}", "second_own_seat", "A player has one seat at most.")
                plans.append(SeatPlan("human", caller.player_id, nonce_commitment=nonce_commitment))
            case BotSeat(level):
                plans.append(SeatPlan("bot", level=level))
            case OpenSeat():
                plans.append(SeatPlan("open"))
    return tuple(plans)
