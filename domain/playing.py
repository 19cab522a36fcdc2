"""A turn after the draw: laying down, laying off, and the discard that ends it."""

from domain import events as e
from domain.claims import fits_somewhere
from domain.commands import Discard, LayDown, LayOff, Pass
from domain.lay_down import read_lay_down
from domain.lay_off import lay_off as laid_off
from domain.meld import Meld, Placed, added_cards
from domain.refusals import illegal
from domain.rights import (
    contract_of,
    hand_left,
    keeps_a_discard,
    may_end_without_discard,
    meld_on_table,
    most_left_after_lay_down,
    must_not_return,
    refuse_unless_may_lay_off,
    refuse_while_owed,
    skip_targets,
    why_last_card_stays,
)
from domain.state import Game, Round
from domain.swapping import offer_swap
from domain.turns import turn_over
from domain.unfolding import Unfolding


def lay_down(table: Unfolding, seat: int, move: LayDown) -> None:
    """Lays the contract, all or nothing; a hand emptied by it ends the round."""
    game, round_ = table.game, table.round
    refuse_while_owed(round_)
    if game.seats[seat].down and not game.rules.extra_melds:
        raise illegal("no_new_melds")
    if round_.now.discard_only:
        raise illegal("no_melds_first_turn")
    if not move.melds:
        raise illegal("contract_not_met")
    left = hand_left(game.seats[seat].hand, [placed.card for meld in move.melds for placed in meld.cards])
    read = read_lay_down(move.melds, contract_of(game, round_, seat), game.rules)
    most = most_left_after_lay_down(game, seat)
    if most is not None and len(left) > most:
        raise illegal("must_empty_hand")
    if not left and keeps_a_discard(game, seat):
        raise illegal("keep_a_discard")
    first = len(round_.melds) + 1
    melds = tuple(Meld(f"m{number}", seat, kind, cards) for number, (kind, cards) in enumerate(read, start=first))
    table.add(e.MeldsLaid(seat, melds))
    _go_on_after_laying(table, seat, tuple(placed for meld in melds for placed in meld.cards))


def lay_off(table: Unfolding, seat: int, move: LayOff) -> None:
    """Adds cards to a meld; several are judged as a whole."""
    game, round_ = table.game, table.round
    refuse_unless_may_lay_off(game, round_, seat)
    meld = meld_on_table(round_, move.meld_id)
    cards = [placed.card for placed in move.cards]
    if round_.now.owed is not None and (round_.now.owed not in cards or meld.meld_id == round_.now.owed_from):
        raise illegal("wild_must_be_melded")
    left = hand_left(game.seats[seat].hand, cards)
    laid = laid_off(meld, move.cards, move.end, game.rules)
    if not left and keeps_a_discard(game, seat):
        raise illegal("keep_a_discard")
    added = added_cards(meld.cards, laid.cards)
    table.add(e.CardsLaidOff(seat, meld.meld_id, added, move.end, laid.cards))
    _go_on_after_laying(table, seat, added)


def discard(table: Unfolding, seat: int, move: Discard) -> None:
    """Ends the turn with a card on the pile; a hand emptied by it ends the round."""
    refuse_discard(table.game, table.round, seat, move)
    table.add(e.CardDiscarded(seat, move.card, move.declare, move.skip))
    turn_over(table)


def refuse_discard(game: Game, round_: Round, seat: int, move: Discard) -> None:
    """Raises the reason why this discard is not allowed, if there is one."""
    hand = game.seats[seat].hand
    if move.card not in hand:
        hand_left(hand, [move.card])
    refuse_while_owed(round_)
    if move.skip not in skip_targets(game, seat, move.card):
        raise illegal("skip_target")
    if reason := why_last_card_stays(game, seat):
        raise illegal(reason)
    if move.card == must_not_return(game, round_, seat):
        raise illegal("no_return")
    if move.declare and not game.rules.shanghai.declare:
        raise illegal("declare_not_allowed")
    if move.declare and not fits_somewhere(game, round_, move.card):
        raise illegal("declared_fits_nothing")


def end_without_discard(table: Unfolding, seat: int, move: Pass) -> None:
    """Ends a turn by passing, which the rules allow only to a last card that may not be discarded."""
    refuse_while_owed(table.round)
    if move.rest_of_round or not may_end_without_discard(table.game, table.round, seat):
        raise illegal("pass_not_allowed")
    table.add(e.TurnEnded(seat))
    turn_over(table)


def _go_on_after_laying(table: Unfolding, seat: int, laid: tuple[Placed, ...]) -> None:
    """Ends the round where the hand is empty; else new wilds may be offered round the table."""
    if not table.game.seats[seat].hand:
        turn_over(table)
    elif table.game.rules.swap.offer == "rotation" and any(placed.as_ for placed in laid):
        offer_swap(table, seat)
