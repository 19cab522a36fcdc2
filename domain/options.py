"""Every legal answer to a decision. Each option is a complete move that `decide` accepts as it stands.

All are listed where they are finite; for laying down, the best candidates.
"""

from collections.abc import Iterator

from domain.cards import DECK_ORDER, without
from domain.claims import fits_somewhere, may_buy, may_call
from domain.commands import (
    Buy,
    CallShanghai,
    Discard,
    DrawStock,
    LayDown,
    LayOff,
    Move,
    Pass,
    SwapWild,
    TakeDiscard,
)
from domain.decisions import Decision
from domain.lay_down import LEAST_EXTRA
from domain.lay_off import swap_options
from domain.meld import NewMeld
from domain.refusals import Refused
from domain.rights import (
    discardable,
    keeps_a_discard,
    may_end_without_discard,
    may_lay_off,
    most_left_after_lay_down,
    skip_targets,
)
from domain.ruleset import Contract, Part
from domain.solver import lay_down_candidates
from domain.state import Game, Round
from domain.swapping import places_for_wild, swapped_by
from domain.welcome import fits, fitting_cards, lay_off_options

# A move is a value: the plain discards, by far the most of all options, are made once for each face.
_DISCARDS = {card: Discard(card) for card in DECK_ORDER}


def options_for(game: Game, decision: Decision) -> tuple[Move, ...]:
    """Lists the legal answers to an open decision, at least one."""
    assert game.round is not None
    match decision.kind:
        case "draw":
            return tuple(_draw_options(game, game.round, decision.seat))
        case "claim":
            if game.round.now.offered == decision.seat:
                return (*_swaps(game, game.round, decision.seat), Pass())
            return tuple(_claim_options(game, game.round, decision.seat))
        case "play":
            return tuple(_play_options(game, game.round, decision.seat))


def _draw_options(game: Game, round_: Round, seat: int) -> list[Move]:
    options: list[Move] = [DrawStock()]
    if round_.discard_open:
        if not game.seats[seat].down or game.rules.down_may_take:
            options.append(TakeDiscard())
        options += _calls(game, round_, seat)
    return options


def _claim_options(game: Game, round_: Round, seat: int) -> Iterator[Move]:
    top = round_.pile[-1]
    if may_buy(game, round_, seat, top):
        yield Buy(top.card)
    yield from _calls(game, round_, seat)
    yield Pass()
    yield Pass(rest_of_round=True)


def _calls(game: Game, round_: Round, seat: int) -> Iterator[Move]:
    top = round_.pile[-1]
    if not may_call(game, seat, top) or not fits_somewhere(game, round_, top.card):
        return
    for meld in round_.melds:
        for place in fits(top.card, meld, game.rules):
            yield CallShanghai(meld.meld_id, place.end, place.card.as_)


def _play_options(game: Game, round_: Round, seat: int) -> list[Move]:
    options: list[Move] = []
    if round_.now.owed is None:
        options += _lay_downs(game, round_, seat)
    if may_lay_off(game, round_, seat):
        options += _lay_offs(game, round_, seat)
        options += _swaps(game, round_, seat)
    options += _discards(game, round_, seat)
    if may_end_without_discard(game, round_, seat):
        options.append(Pass())
    return options


def _lay_downs(game: Game, round_: Round, seat: int) -> Iterator[Move]:
    if round_.now.discard_only or (game.seats[seat].down and not game.rules.extra_melds):
        return
    hand, most = game.seats[seat].hand, most_left_after_lay_down(game, seat)
    for contract in _contracts(game, round_, seat):
        for found in lay_down_candidates(hand, contract, game.rules, must_empty=most):
            if found.rest or not keeps_a_discard(game, seat):
                yield LayDown(tuple(NewMeld(kind, cards) for kind, cards in found.melds))


def _contracts(game: Game, round_: Round, seat: int) -> tuple[Contract, ...]:
    """Gives what to look for: the seat's contract, or once it is down a new meld of any kind."""
    if not game.seats[seat].down:
        return (round_.contracts[seat],)
    kinds = dict.fromkeys(part.kind for contract in game.rules.contracts for part in contract)
    return tuple((Part(kind, LEAST_EXTRA[kind]),) for kind in kinds)


def _lay_offs(game: Game, round_: Round, seat: int) -> Iterator[Move]:
    hand, owed = game.seats[seat].hand, round_.now.owed
    if owed is not None:
        left = without(hand, [owed]) or ()
        yield from places_for_wild(game, round_, left, owed, round_.now.owed_from)
    elif fitting_cards(round_.melds, game.rules).isdisjoint(hand):
        return
    elif len(hand) > 1 or not keeps_a_discard(game, seat):
        for meld in round_.melds:
            for place in lay_off_options(meld, hand, game.rules):
                yield LayOff(meld.meld_id, (place.card,), place.end)


def _swaps(game: Game, round_: Round, seat: int) -> Iterator[Move]:
    if game.rules.swap.whose == "none" or round_.now.owed is not None:
        return
    for meld in round_.melds:
        for found in swap_options(meld, game.seats[seat].hand, game.rules):
            move = SwapWild(meld.meld_id, found.wild, as_=found.as_, card=found.card)
            try:
                swapped_by(game, round_, seat, move)
            except Refused:
                continue
            yield move


def _discards(game: Game, round_: Round, seat: int) -> list[Discard]:
    cards, rules = discardable(game, round_, seat), game.rules
    declarable = fitting_cards(round_.melds, rules) if rules.shanghai.declare else frozenset()
    if not rules.skip_cards and declarable.isdisjoint(cards):
        return list(map(_DISCARDS.__getitem__, cards))
    return [
        Discard(card, declare, skip)
        for card in cards
        for declare in ((False, True) if card in declarable else (False,))
        for skip in skip_targets(game, seat, card)
    ]
