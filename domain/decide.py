"""`decide` judges a command on a state and gives the events that follow, or raises `Refused` before any exists."""

from typing import assert_never

from domain import claims, drawing, playing, swapping
from domain import events as e
from domain.commands import (
    ActForSeat,
    Answer,
    Buy,
    CallShanghai,
    CancelGame,
    ChangeController,
    CloseClaims,
    DealRound,
    Discard,
    DrawStock,
    DropNonces,
    EndGame,
    LayDown,
    LayOff,
    LeaveForGood,
    LeaveSeat,
    Move,
    NoteOperator,
    OpenGame,
    Pass,
    RevealNonce,
    ScoreRound,
    SeatBot,
    SeatBotForAbsent,
    StartGame,
    SwapWild,
    TableCommand,
    TakeDiscard,
    TakeSeat,
    WarnTurn,
)
from domain.dealing import deal_round, score_round
from domain.decisions import Decision, open_decisions
from domain.events import Event
from domain.evolve import fold
from domain.leaving import change_controller, leave_for_good
from domain.lobby import (
    cancel_game,
    drop_nonces,
    leave_seat,
    open_game,
    reveal_nonce,
    seat_bot,
    start_game,
    take_seat,
)
from domain.operating import end_game, note_operator, seat_bot_for_absent
from domain.options import options_for
from domain.refusals import (
    DecisionClosed,
    GameFinished,
    GameNotStarted,
    NotYourTurn,
    Outdated,
    Refused,
    illegal,
)
from domain.scoring import points_of
from domain.state import Game, State, Unopened
from domain.unfolding import Unfolding


def decide(command: TableCommand, state: State) -> list[Event]:
    """Gives the events of a command; an empty list where nothing need happen.

    Errors: Refused with the rule that is broken; FaultyRuleset when a game cannot be opened so.
    """
    return unfold(command, state)[0]


def unfold(command: TableCommand, state: State) -> tuple[list[Event], Game]:
    """Gives the events of a command and the game after them, which `decide` has on its way.

    Errors: as with `decide`.
    """
    if isinstance(state, Unopened):
        if not isinstance(command, OpenGame):
            raise Refused(GameNotStarted())
        events = open_game(command)
        game = fold(events)
        assert isinstance(game, Game)
        return events, game
    table = _judged(command, state)
    return table.events, table.game


def _judged(command: TableCommand, game: Game) -> Unfolding:
    match command:
        case Answer():
            return _answer(game, command.seat, command.decision_id, command.move)
        case CloseClaims(opened_at):
            return _close_claims(game, opened_at)
        case WarnTurn(clock_at):
            return _warn_turn(game, clock_at)
        case ActForSeat(seat, decision_id):
            return _act_for(game, seat, decision_id)
        case OpenGame():
            raise Refused(Outdated())
        case TakeSeat():
            return Unfolding(game, take_seat(game, command))
        case LeaveSeat():
            return Unfolding(game, leave_seat(game, command))
        case SeatBot():
            return Unfolding(game, seat_bot(game, command))
        case CancelGame():
            return Unfolding(game, cancel_game(game, command))
        case StartGame():
            return Unfolding(game, start_game(game, command))
        case RevealNonce():
            return Unfolding(game, reveal_nonce(game, command))
        case DropNonces():
            return Unfolding(game, drop_nonces(game, command))
        case ChangeController():
            return Unfolding(game, change_controller(game, command))
        case LeaveForGood():
            return Unfolding(game, leave_for_good(game, command))
        case EndGame():
            return Unfolding(game, end_game(game))
        case NoteOperator():
            return Unfolding(game, note_operator(game, command))
        case SeatBotForAbsent():
            return Unfolding(game, seat_bot_for_absent(game, command))
        case DealRound():
            return Unfolding(game, deal_round(game, command))
        case ScoreRound():
            return Unfolding(game, score_round(game, command))
        case _:
            assert_never(command)


def _answer(game: Game, seat: int, decision_id: str, move: Move) -> Unfolding:
    decision = _decision(game, seat, decision_id)
    table = Unfolding(game)
    match decision.kind:
        case "draw":
            _answer_draw(table, seat, move)
        case "claim":
            _answer_claim(table, seat, move)
        case "play":
            _answer_play(table, seat, move)
    return table


def _decision(game: Game, seat: int, decision_id: str) -> Decision:
    """Finds the open decision, or says why there is none."""
    if game.status == "waiting":
        raise Refused(GameNotStarted())
    if game.status != "playing":
        raise Refused(GameFinished())
    for decision in open_decisions(game):
        if decision.seat == seat and decision.decision_id == decision_id:
            return decision
    raise Refused(DecisionClosed(decision_id))


def _answer_draw(table: Unfolding, seat: int, move: Move) -> None:
    match move:
        case DrawStock():
            drawing.draw_stock(table, seat)
        case TakeDiscard():
            drawing.take_discard(table, seat)
        case CallShanghai():
            drawing.refuse_unless_open(table)
            claims.call_shanghai(table, seat, move)
        case Buy() | Pass() | LayDown() | LayOff() | SwapWild() | Discard():
            raise illegal("must_draw")
        case _:
            assert_never(move)


def _answer_claim(table: Unfolding, seat: int, move: Move) -> None:
    if table.round.now.offered is not None:
        if not isinstance(move, SwapWild | Pass):
            raise Refused(NotYourTurn(seat, table.round.turn))
        swapping.answer_offer(table, seat, move)
        return
    match move:
        case Buy():
            claims.buy(table, seat, move)
        case CallShanghai():
            claims.call_shanghai(table, seat, move)
        case Pass():
            claims.pass_claim(table, seat, move)
        case DrawStock() | TakeDiscard() | LayDown() | LayOff() | SwapWild() | Discard():
            raise Refused(NotYourTurn(seat, table.round.turn))
        case _:
            assert_never(move)


def _answer_play(table: Unfolding, seat: int, move: Move) -> None:
    match move:
        case Discard():
            playing.discard(table, seat, move)
        case LayDown():
            playing.lay_down(table, seat, move)
        case LayOff():
            playing.lay_off(table, seat, move)
        case SwapWild():
            swapping.swap_wild(table, seat, move)
        case Pass():
            playing.end_without_discard(table, seat, move)
        case DrawStock() | TakeDiscard() | Buy() | CallShanghai():
            raise illegal("no_draw_first_turn" if table.round.now.discard_only else "already_drawn")
        case _:
            assert_never(move)


def _close_claims(game: Game, opened_at: int) -> Unfolding:
    """The window's time is over: it closes now if the player in turn has declined, otherwise with the decline."""
    window = None if game.round is None else game.round.window
    if window is None or window.opened_at != opened_at or not window.declined:
        raise Refused(Outdated())
    table = Unfolding(game)
    claims.close(table, "time")
    return table


def _warn_turn(game: Game, clock_at: int) -> Unfolding:
    round_ = game.round
    if round_ is None or not open_decisions(game) or round_.clock_at != clock_at or round_.is_warned:
        raise Refused(Outdated())
    table = Unfolding(game)
    table.add(e.TurnWarned(round_.turn if round_.now.offered is None else round_.now.offered))
    return table


def _act_for(game: Game, seat: int, decision_id: str) -> Unfolding:
    """Plays for an absent seat: draws from the stock, discards the card drawn or else the dearest, lets claims pass."""
    decision = _decision(game, seat, decision_id)
    return _answer(game, seat, decision_id, timed_out_move(game, decision))


def timed_out_move(game: Game, decision: Decision) -> Move:
    """Gives the move that the table makes when nobody answers; always one of the decision's options."""
    if decision.kind == "draw":
        return DrawStock()
    if decision.kind == "claim":
        return Pass()
    assert game.round is not None
    options = options_for(game, decision)
    if game.round.now.owed is not None:
        return options[0]
    discards = [move for move in options if isinstance(move, Discard) and not move.declare]
    drawn = [move for move in discards if move.card == game.round.now.drawn]
    if drawn:
        return drawn[0]
    return max(discards, key=lambda move: points_of(move.card, game.rules)) if discards else Pass()
