"""Bots choose among a decision's options. They get what a person in their seat would get: a view and the rules.

Levels: `normal` keeps cards that go together; `easy` is the same with one discard in five at random.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256

from domain.cards import DECK_ORDER, Card, Hand, rank_of, suit_of
from domain.commands import (
    Buy,
    CallShanghai,
    Discard,
    DrawStock,
    LayDown,
    LayOff,
    Level,
    Move,
    Pass,
    SwapWild,
    TakeDiscard,
)
from domain.ruleset import Contract, MeldKind, Ruleset
from domain.scoring import points_of
from domain.view import DecisionView, View

NOISE = 0.2  # share of an easy bot's discards that are random
WORTH_TAKING = 4  # as useful as a third card of a rank
WORTH_BUYING = 6  # more than that, since penalty cards come with it
_WILD_USE = 100
_NEAR = ((-1, 2), (1, 2), (-2, 1), (2, 1))  # steps to a card of the same suit, and what it is of use


def choose(view: View, decision_id: str, rules: Ruleset, level: Level) -> Move:
    """Picks one of the decision's options; equal views give equal moves."""
    decision = next(decision for decision in view.decisions if decision.decision_id == decision_id)
    match decision.kind:
        case "draw":
            return _choose_draw(view, decision, rules)
        case "claim":
            return _choose_claim(view, decision, rules)
        case "play":
            return _choose_play(view, decision, rules, level)


def _choose_draw(view: View, decision: DecisionView, rules: Ruleset) -> Move:
    if call := _worthwhile_call(decision, rules):
        return call
    take = next((move for move in decision.options if isinstance(move, TakeDiscard)), None)
    if take and view.table and view.table.discard_top and _wants(view, view.table.discard_top, rules, WORTH_TAKING):
        return take
    return DrawStock()


def _choose_claim(view: View, decision: DecisionView, rules: Ruleset) -> Move:
    if call := _worthwhile_call(decision, rules):
        return call
    buy = next((move for move in decision.options if isinstance(move, Buy)), None)
    if buy and not _is_down(view) and not _must_empty_hand(view, rules) and _wants(view, buy.card, rules, WORTH_BUYING):
        return buy
    return Pass()


def _choose_play(view: View, decision: DecisionView, rules: Ruleset, level: Level) -> Move:
    for move in decision.options:
        if isinstance(move, LayDown | LayOff) or (isinstance(move, SwapWild) and rules.swap.re_meld):
            return move
    discards = [move for move in decision.options if isinstance(move, Discard)]
    if not discards:
        return decision.options[0]
    dice = _dice(view, decision.decision_id)
    if level == "easy" and dice < NOISE:
        return discards[int(dice / NOISE * len(discards))]
    return _best_discard(view, discards, rules)


def _best_discard(view: View, discards: list[Discard], rules: Ruleset) -> Discard:
    """Throws away what helps least, the dearest of equals; declares a card that fits the table if it may."""
    hand, contract = _hand(view), _contract(view)
    down = _is_down(view)

    def cost(move: Discard) -> tuple[int, int, bool]:
        use = 0 if down else usefulness(move.card, hand, contract, rules)
        return use, -points_of(move.card, rules), not move.declare

    return min(discards, key=cost)


def _worthwhile_call(decision: DecisionView, rules: Ruleset) -> Move | None:
    """A call pays where it costs the discarder, not the caller."""
    if rules.shanghai.call != "culprit_draws":
        return None
    return next((move for move in decision.options if isinstance(move, CallShanghai)), None)


def _wants(view: View, card: Card, rules: Ruleset, least: int) -> bool:
    """Tells whether a card is worth having: for the contract, or for a meld on the table once down."""
    if _is_down(view):
        return False
    return usefulness(card, (*_hand(view), card), _contract(view), rules) >= least


def usefulness(card: Card, hand: Hand, contract: Contract, rules: Ruleset) -> int:
    """Counts what a card of the hand has to go with, by the kinds of melds in the contract; a wild is worth most.

    set: two for each other card of the rank. run: two for each rank next to it and one for the rank after, in its suit
    or in any. colour: one for each other card of the colour.
    """
    if card in rules.deck.wilds:
        return _WILD_USE
    if not suit_of(card):
        return 0
    return sum(_USES[kind](card, hand) for kind in {part.kind for part in contract})


def _set_use(card: Card, hand: Hand) -> int:
    return 2 * ([rank_of(other) for other in hand].count(rank_of(card)) - 1)


def _run_use(card: Card, hand: Hand) -> int:
    suit = suit_of(card)
    return _neighbours(card, [other for other in hand if suit_of(other) == suit])


def _neighbours(card: Card, others: Iterable[Card]) -> int:
    at = DECK_ORDER[card]
    near = {DECK_ORDER[other] - at for other in others}
    return sum([points for step, points in _NEAR if step in near])


def _any_suit_use(card: Card, hand: Hand) -> int:
    """Moves every card to the suit of this one, since suits do not matter."""
    return _neighbours(card, (rank_of(other) + suit_of(card) for other in hand if suit_of(other)))


def _colour_use(card: Card, hand: Hand) -> int:
    return [suit_of(other) for other in hand].count(suit_of(card)) - 1


_USES: dict[MeldKind, Callable[[Card, Hand], int]] = {
    "set": _set_use,
    "run": _run_use,
    "run_any_suit": _any_suit_use,
    "colour": _colour_use,
}


def _must_empty_hand(view: View, rules: Ruleset) -> bool:
    return rules.last_round != "normal" and _contract_index(view) == len(rules.contracts) - 1


def _hand(view: View) -> Hand:
    assert view.you is not None
    return view.you.hand


def _is_down(view: View) -> bool:
    assert view.you is not None
    return view.seats[view.you.seat].down


def _contract(view: View) -> Contract:
    assert view.round is not None
    return view.round.contract


def _contract_index(view: View) -> int:
    assert view.you is not None
    return view.seats[view.you.seat].contract


def _dice(view: View, decision_id: str) -> float:
    """Throws a number from 0 to 1 that only this decision gives."""
    thrown = sha256(f"{view.game_id} {decision_id}".encode()).digest()
    return int.from_bytes(thrown[:4], "big") / 2**32
