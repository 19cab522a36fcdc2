"""Taking a wild from the table for the card it stands for, the duty to lay it again, and offering wilds around."""

from collections.abc import Callable, Iterable, Iterator

from domain import events as e
from domain.cards import Card, Hand, without
from domain.commands import LayOff, Pass, SwapWild
from domain.lay_off import End, lay_off, swap
from domain.meld import Meld, Placed, added_cards
from domain.readings import RUNS
from domain.refusals import IllegalMove, Refused, illegal
from domain.rights import (
    hand_left,
    keeps_a_discard,
    meld_on_table,
    refuse_unless_may_lay_off,
    refuse_while_owed,
)
from domain.ruleset import Ruleset
from domain.seating import next_seat
from domain.state import Game, Round
from domain.turns import turn_over
from domain.unfolding import Unfolding
from domain.welcome import fits, lay_off_options


def swap_wild(table: Unfolding, seat: int, move: SwapWild) -> None:
    """Takes a wild for its natural card, or moves it; a hand emptied by a moved wild ends the round."""
    table.add(swapped_by(table.game, table.round, seat, move))
    if not table.game.seats[seat].hand:
        turn_over(table)


def swapped_by(game: Game, round_: Round, seat: int, move: SwapWild) -> e.WildSwapped:
    """Judges a swap; where the wild must be laid again, a place for it must exist."""
    refuse_while_owed(round_)
    refuse_unless_may_lay_off(game, round_, seat)
    meld = meld_on_table(round_, move.meld_id)
    rules = game.rules.swap
    if rules.whose == "none" or (rules.whose == "opponents" and meld.owner == seat):
        raise illegal("swap_not_allowed")
    left = hand_left(game.seats[seat].hand, [move.card])
    after = swap(meld, move.wild, move.as_, move.card, game.rules)
    to_hand = rules.whose != "move"
    owed = to_hand and rules.re_meld
    if not left and not to_hand and keeps_a_discard(game, seat):
        raise illegal("keep_a_discard")
    if owed and not places_for_wild(game, round_, left, move.wild, meld.meld_id):
        raise illegal("no_place_for_wild")
    return e.WildSwapped(
        seat, meld.meld_id, move.wild, as_=move.as_, card=move.card, meld=after.cards, to_hand=to_hand, owed=owed
    )


def places_for_wild(game: Game, round_: Round, hand: Hand, wild: Card, origin: str | None) -> tuple[LayOff, ...]:
    """Lists the lay-offs that bring an owed wild back to the table: alone, or else with the fewest cards of the hand.

    hand: without the wild. One card is enough for the limit on wilds and to part two of them; more are of use only
    up to the place of a card that is wild by its face. Nothing is listed that would not leave a card that must be
    left to discard.
    """
    others = [meld for meld in round_.melds if meld.meld_id != origin]
    most = len(hand) + (game.rules.going_out != "discard_required")
    for lay_offs in _WAYS:
        moves = (move for meld in others for move in lay_offs(meld, hand, wild, game.rules))
        if found := tuple(move for move in moves if len(move.cards) <= most):
            return found
    return ()


def _alone(meld: Meld, _: Hand, wild: Card, rules: Ruleset) -> Iterator[LayOff]:
    for place in lay_off_options(meld, (wild,), rules):
        yield LayOff(meld.meld_id, (place.card,), place.end)


def _with_one_card(meld: Meld, hand: Hand, wild: Card, rules: Ruleset) -> Iterator[LayOff]:
    for card in dict.fromkeys(hand):
        yield from _named(meld, Placed(wild), Placed(card), rules)


def _named(meld: Meld, wild: Placed, card: Placed, rules: Ruleset) -> Iterator[LayOff]:
    """Lays both; a wild that can stand for several cards is named as each of them."""
    try:
        laid = lay_off(meld, (wild, card), None, rules)
    except Refused as refused:
        readings = refused.broken.readings if isinstance(refused.broken, IllegalMove) else ()
        for role in readings if wild.as_ is None else ():
            yield from _named(meld, Placed(wild.card, role), card, rules)
    else:
        yield LayOff(meld.meld_id, added_cards(meld.cards, laid.cards))


def _up_to_its_own_place(meld: Meld, hand: Hand, wild: Card, rules: Ruleset) -> Iterator[LayOff]:
    """Lengthens a run by cards of the hand until the wild follows as the card that it is."""
    ends: tuple[End, ...] = ("low", "high") if meld.kind in RUNS else ()
    for end in ends:
        longer, row, rest = meld, [Placed(wild)], hand
        while (card := _next_natural(longer, rest, end, rules)) is not None:
            longer = lay_off(longer, (card,), end, rules)
            row.append(card)
            rest = without(rest, [card.card]) or ()
            if any(place.card.as_ is None for place in fits(wild, longer, rules)):
                yield LayOff(meld.meld_id, tuple(row))
                break


def _next_natural(run: Meld, hand: Iterable[Card], end: End, rules: Ruleset) -> Placed | None:
    places = (place for card in hand for place in fits(card, run, rules))
    return next((place.card for place in places if place.end == end and place.card.as_ is None), None)


_WAYS: tuple[Callable[[Meld, Hand, Card, Ruleset], Iterator[LayOff]], ...] = (
    _alone,
    _with_one_card,
    _up_to_its_own_place,
)


def offer_swap(table: Unfolding, after: int) -> None:
    """Asks the next seat that is down whether it takes a wild; after the last one the player in turn goes on.

    Every seat that is down is asked, able or not: asking the able ones only would tell what they hold.
    """
    game, turn = table.game, table.round.turn
    seat = next_seat(game, after)
    while seat != turn:
        if game.seats[seat].down:
            table.add(e.SwapOffered(seat))
            return
        seat = next_seat(game, seat)


def answer_offer(table: Unfolding, seat: int, move: SwapWild | Pass) -> None:
    """Takes a wild that was offered, or lets it lie; then the next seat is asked."""
    if isinstance(move, SwapWild):
        swap_wild(table, seat, move)
    elif move.rest_of_round:
        raise illegal("pass_not_allowed")
    else:
        table.add(e.SwapDeclined(seat))
    offer_swap(table, seat)
