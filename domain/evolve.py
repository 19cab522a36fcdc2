"""`evolve` records an event in the state. It judges nothing and reads no rule, so an old stream never breaks."""

from collections.abc import Iterable
from functools import reduce
from typing import assert_never

from msgspec.structs import replace

from domain import events as e
from domain import evolve_round as round_after
from domain.evolve_round import seats_with
from domain.state import Game, Result, Round, Seat, State, Unopened


def fold(recorded: Iterable[e.Event], state: State | None = None) -> State:
    """Records events one after the other, from the first or on top of a state."""
    return reduce(evolve, recorded, state or Unopened())


def evolve(state: State, event: e.Event) -> State:
    """Gives the state after the event; its version is one higher.

    Errors: TypeError for a stream that is not one game's whole story (a defect, never a player's fault).
    """
    if isinstance(state, Game):
        return evolve_game(state, event)
    if isinstance(event, e.GameOpened):
        return _opened(event)
    raise TypeError("the first event of a game is GameOpened")


def evolve_game(game: Game, event: e.Event) -> Game:
    """Gives the game after an event that is not its first.

    Cost: a microsecond or two. The cases are tried in turn, so the events of every turn come first.
    """
    match event:
        case e.CardDrawn():
            return round_after.card_drawn(game, event)
        case e.CardDiscarded():
            return round_after.card_discarded(game, event)
        case e.TurnBegan():
            return round_after.turn_began(game, event)
        case e.ClaimsClosed():
            return round_after.claims_closed(game)
        case e.DrawDeclined():
            return round_after.draw_declined(game)
        case e.Passed():
            return round_after.passed(game, event)
        case e.BuyRequested():
            return round_after.buy_requested(game, event)
        case e.CardBought():
            return round_after.card_bought(game, event)
        case e.DiscardOpened():
            return round_after.discard_opened(game, event)
        case e.CardsLaidOff():
            return round_after.cards_laid_off(game, event)
        case e.MeldsLaid():
            return round_after.melds_laid(game, event)
        case e.WildSwapped():
            return round_after.wild_swapped(game, event)
        case e.SwapOffered():
            return round_after.swap_offered(game, event.seat)
        case e.SwapDeclined():
            return round_after.swap_offered(game, None)
        case e.ShanghaiCalled():
            return round_after.shanghai_called(game, event)
        case e.FalseCalled():
            return round_after.false_called(game, event)
        case e.DrawSkipped():
            return round_after.draw_skipped(game)
        case e.StockRenewed():
            return round_after.stock_renewed(game, event)
        case e.TurnEnded():
            return round_after.turn_ended(game, event)
        case e.RoundEnded():
            return round_after.round_ended(game, event)
        case e.RoundDealt():
            return round_after.round_dealt(game, event)
        case e.RoundScored():
            return round_after.round_scored(game, event)
        case e.GameFinished(winners, totals):
            return replace(game, version=game.version + 1, status="finished", result=Result(winners, totals))
        case _:
            return _before_rounds(game, event)


def _opened(event: e.GameOpened) -> Game:
    return Game(
        version=1,
        game_id=event.game_id,
        rules=event.rules,
        pace=event.pace,
        commitment=event.commitment,
        opened_by=event.opened_by,
        visibility=event.visibility,
        spectators=event.spectators,
        seats=(Seat(),) * event.seat_count,
    )


GameEvent = e.GameOpened | e.SeatChanged | e.NoncesAsked | e.NonceRevealed | e.NoncesDropped | e.GameStarted


def _before_rounds(game: Game, event: GameEvent) -> Game:
    """Records what can happen before the first round; a seat may change hands at any time."""
    game = replace(game, version=game.version + 1)
    match event:
        case e.SeatChanged():
            return _seat_changed(game, event)
        case e.NoncesAsked():
            return replace(game, nonces_asked_at=game.version)
        case e.NonceRevealed(seat, nonce):
            revealed = replace(game.seats[seat], nonce=nonce)
            return replace(game, seats=seats_with(game.seats, seat, revealed))
        case e.NoncesDropped(emptied):
            kept = tuple(
                Seat() if number in emptied else replace(seat, nonce_commitment=None, nonce=None)
                for number, seat in enumerate(game.seats)
            )
            return replace(game, seats=kept, nonces_asked_at=None)
        case e.GameStarted(nonces):
            return replace(game, status="playing", nonces=nonces, nonces_asked_at=None)
        case e.GameOpened():
            raise TypeError("a game is opened once")
        case _:
            assert_never(event)


def _seat_changed(game: Game, event: e.SeatChanged) -> Game:
    before = game.seats[event.seat]
    seat = replace(
        before,
        controller=event.controller,
        player_id=event.player_id,
        level=event.level,
        passes_round=False,
        out=event.reason == "out",
        nonce_commitment=event.nonce_commitment or before.nonce_commitment,
    )
    seats = seats_with(game.seats, event.seat, seat)
    if event.reason != "out" or game.round is None:
        return replace(game, seats=seats)
    return replace(game, seats=seats, round=_without(event.seat, game.round, game.version))


def _without(seat: int, round_: Round, version: int) -> Round:
    """The leaver is waited for no longer; who plays has a new decision, since a skip card may not name the leaver."""
    if round_.window is None:
        asked_anew = round_.step == "play" and round_.now.offered is None
        return replace(round_, asked_at=version) if asked_anew else round_
    left = replace(
        round_.window,
        asked=tuple(other for other in round_.window.asked if other != seat),
        buys=tuple(other for other in round_.window.buys if other != seat),
    )
    return replace(round_, window=left)
