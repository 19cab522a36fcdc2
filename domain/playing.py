"""A turn after the draw: laying down, laying off, swapping a wild, and the discard that ends it."""

from collections.abc import Iterable, Iterator
from itertools import combinations

from domain import events as e
from domain.cards import SKIP, Card, Hand, without
from domain.claims import fits_somewhere
from domain.commands import Discard, LayDown, LayOff, Pass, SwapWild
from domain.lay_down import read_lay_down
from domain.lay_off import lay_off as laid_off
from domain.lay_off import lay_off_options, swap
from domain.meld import Meld, Placed, added_cards
from domain.refusals import Refused, illegal
from domain.ruleset import Contract
from domain.seating import seats_after
from domain.state import Game, Round
from domain.turns import turn_over
from domain.unfolding import Unfolding


def plays_last_contract(game: Game, seat: int) -> bool:
    """Tells whether the seat's contract is the last, for which `last_round` holds."""
    return game.seats[seat].contract == len(game.rules.contracts) - 1


def most_left_after_lay_down(game: Game, seat: int) -> int | None:
    """Gives how many cards a lay-down may leave in a special last round, or None where that is free."""
    if game.rules.last_round == "normal" or not plays_last_contract(game, seat):
        return None
    return 1 if game.rules.last_round == "empty_hand" else 0


def keeps_a_discard(game: Game, seat: int) -> bool:
    """Tells whether the last card must leave as a discard, so that laying must keep one."""
    return game.rules.going_out == "discard_required" and most_left_after_lay_down(game, seat) is None


def contract_of(game: Game, round_: Round, seat: int) -> Contract:
    """Gives what a lay-down must hold: the seat's contract, or nothing in particular once it is down."""
    return () if game.seats[seat].down else round_.contracts[seat]


def lay_down(table: Unfolding, seat: int, move: LayDown) -> None:
    """Lays the contract, all or nothing; a hand emptied by it ends the round."""
    game, round_ = table.game, table.round
    _refuse_while_owed(round_)
    down = game.seats[seat].down
    if down and not game.rules.extra_melds:
        raise illegal("no_new_melds")
    if round_.now.discard_only:
        raise illegal("no_melds_first_turn")
    left = _left(game.seats[seat].hand, [placed.card for meld in move.melds for placed in meld.cards])
    read = read_lay_down(move.melds, contract_of(game, round_, seat), game.rules)
    most = most_left_after_lay_down(game, seat)
    if most is not None and len(left) > most:
        raise illegal("must_empty_hand")
    if not left and keeps_a_discard(game, seat):
        raise illegal("keep_a_discard")
    first = len(round_.melds) + 1
    melds = tuple(Meld(f"m{number}", seat, kind, cards) for number, (kind, cards) in enumerate(read, start=first))
    table.add(e.MeldsLaid(seat, melds))
    _go_on_after_laying(table, seat, tuple(meld.cards for meld in melds))


def lay_off(table: Unfolding, seat: int, move: LayOff) -> None:
    """Adds cards to a meld; several are judged as a whole."""
    game, round_ = table.game, table.round
    _refuse_unless_may_lay_off(game, round_, seat)
    meld = meld_on_table(round_, move.meld_id)
    cards = [placed.card for placed in move.cards]
    if round_.now.owed is not None and (round_.now.owed not in cards or meld.meld_id == round_.now.owed_from):
        raise illegal("wild_must_be_melded")
    left = _left(game.seats[seat].hand, cards)
    laid = laid_off(meld, move.cards, move.end, game.rules)
    if not left and keeps_a_discard(game, seat):
        raise illegal("keep_a_discard")
    added = added_cards(meld.cards, laid.cards)
    table.add(e.CardsLaidOff(seat, meld.meld_id, added, move.end, laid.cards))
    _go_on_after_laying(table, seat, (laid.cards,))


def may_lay_off(game: Game, round_: Round, seat: int) -> bool:
    """Tells whether the player in turn may lay off or swap now."""
    try:
        _refuse_unless_may_lay_off(game, round_, seat)
    except Refused:
        return False
    return True


def _refuse_unless_may_lay_off(game: Game, round_: Round, seat: int) -> None:
    if not game.seats[seat].down:
        raise illegal("not_down")
    if round_.now.laid_down and seat == round_.turn and game.rules.lay_off == "later_turn":
        raise illegal("later_turn")
    if most_left_after_lay_down(game, seat) is not None:
        raise illegal("must_empty_hand")


def swap_wild(table: Unfolding, seat: int, move: SwapWild) -> None:
    """Takes a wild for the natural card it stands for; where it must be laid again, a place for it must exist."""
    game, round_ = table.game, table.round
    _refuse_while_owed(round_)
    _refuse_unless_may_lay_off(game, round_, seat)
    meld = meld_on_table(round_, move.meld_id)
    rules = game.rules.swap
    if rules.whose == "none" or (rules.whose == "opponents" and meld.owner == seat):
        raise illegal("swap_not_allowed")
    left = _left(game.seats[seat].hand, [move.card])
    after = swap(meld, move.wild, move.as_, move.card, game.rules)
    to_hand = rules.whose != "move"
    owed = to_hand and rules.re_meld
    if owed and not any(places_for_wild(game, round_, left, move.wild, meld.meld_id)):
        raise illegal("no_place_for_wild")
    table.add(
        e.WildSwapped(
            seat,
            meld.meld_id,
            move.wild,
            as_=move.as_,
            card=move.card,
            meld=after.cards,
            to_hand=to_hand,
            owed=owed,
        )
    )


def places_for_wild(game: Game, round_: Round, hand: Hand, wild: Card, origin: str | None) -> Iterator[LayOff]:
    """Lists the lay-offs that bring an owed wild back to the table: alone, or else with one or two cards of the hand.

    hand: without the wild. Two cards are enough: one for the limit on wilds, one to part two wilds. Nothing is listed
    that would leave no card where one must be left to discard.
    """
    others = [meld for meld in round_.melds if meld.meld_id != origin]
    found = False
    for company in range(3):
        if found or company > len(hand):
            return
        if company == len(hand) and game.rules.going_out == "discard_required":
            return
        for meld in others:
            for move in _lay_offs_of_wild(game, meld, hand, wild, company):
                found = True
                yield move


def _lay_offs_of_wild(game: Game, meld: Meld, hand: Hand, wild: Card, company: int) -> Iterator[LayOff]:
    if company == 0:
        for place in lay_off_options(meld, (wild,), game.rules):
            yield LayOff(meld.meld_id, (place.card,), place.end)
        return
    for cards in dict.fromkeys(combinations(hand, company)):
        try:
            laid = laid_off(meld, (Placed(wild), *map(Placed, cards)), None, game.rules)
        except Refused:
            continue
        yield LayOff(meld.meld_id, added_cards(meld.cards, laid.cards))


def discard(table: Unfolding, seat: int, move: Discard) -> None:
    """Ends the turn with a card on the pile; a hand emptied by it ends the round."""
    refuse_discard(table.game, table.round, seat, move)
    table.add(e.CardDiscarded(seat, move.card, move.declare, move.skip))
    turn_over(table)


def refuse_discard(game: Game, round_: Round, seat: int, move: Discard) -> None:
    """Raises the reason why this discard is not allowed, if there is one."""
    hand = game.seats[seat].hand
    if move.card not in hand:
        raise illegal("card_not_in_hand")
    if round_.now.owed is not None:
        raise illegal("wild_must_be_melded")
    if move.skip not in skip_targets(game, seat, move.card):
        raise illegal("skip_target")
    if len(hand) == 1 and not game.seats[seat].down:
        raise illegal("not_down")
    if len(hand) == 1 and must_lay_last_card(game, seat):
        raise illegal("lay_the_last_card")
    if game.rules.no_return and round_.now.taken and move.card == round_.now.drawn and set(hand) != {move.card}:
        raise illegal("no_return")
    if move.declare and not game.rules.shanghai.declare:
        raise illegal("declare_not_allowed")
    if move.declare and not fits_somewhere(game, round_, move.card):
        raise illegal("declared_fits_nothing")


def skip_targets(game: Game, seat: int, card: Card) -> tuple[int | None, ...]:
    """Lists who may be made to miss a turn by this discard; only None where it is no skip, or nobody can be chosen."""
    if not game.rules.skip_cards or card != SKIP or len(game.seats[seat].hand) == 1:
        return (None,)
    return tuple(other for other in seats_after(game, seat) if game.seats[other].skip == "free") or (None,)


def must_lay_last_card(game: Game, seat: int) -> bool:
    """Tells whether the last card may not leave as a discard."""
    return game.rules.going_out == "no_discard" and most_left_after_lay_down(game, seat) is None


def end_without_discard(table: Unfolding, seat: int) -> None:
    """Ends a turn by passing, which the rules allow only to a last card that may not be discarded."""
    if not may_end_without_discard(table.game, table.round, seat):
        raise illegal("pass_not_allowed")
    table.add(e.TurnEnded(seat))
    turn_over(table)


def may_end_without_discard(game: Game, round_: Round, seat: int) -> bool:
    """Tells whether the turn may end by a pass."""
    one_card = len(game.seats[seat].hand) == 1 and round_.now.owed is None
    return one_card and (not game.seats[seat].down or must_lay_last_card(game, seat))


def meld_on_table(round_: Round, meld_id: str) -> Meld:
    """Finds a meld of this round by its id."""
    for meld in round_.melds:
        if meld.meld_id == meld_id:
            return meld
    raise illegal("meld_not_found")


def _refuse_while_owed(round_: Round) -> None:
    if round_.now.owed is not None:
        raise illegal("wild_must_be_melded")


def _left(hand: Hand, cards: list[Card]) -> Hand:
    left = without(hand, cards)
    if left is None:
        raise illegal("card_not_in_hand")
    return left


def _go_on_after_laying(table: Unfolding, seat: int, laid: Iterable[tuple[Placed, ...]]) -> None:
    """Ends the round where the hand is empty; else new wilds may be offered round the table."""
    if not table.game.seats[seat].hand:
        turn_over(table)
    elif table.game.rules.swap.offer == "rotation" and any(placed.as_ for cards in laid for placed in cards):
        offer_swap(table, seat)


def offer_swap(table: Unfolding, after: int) -> None:
    """Asks the next seat that is down whether it takes a wild; after the last one the player in turn goes on.

    Every seat that is down is asked, able or not: asking the able ones only would tell what they hold.
    """
    order = seats_after(table.game, table.round.turn)
    following = order if after == table.round.turn else order[order.index(after) + 1 :]
    for seat in following:
        if table.game.seats[seat].down:
            table.add(e.SwapOffered(seat))
            return


def answer_offer(table: Unfolding, seat: int, move: SwapWild | Pass) -> None:
    """Takes a wild that was offered, or lets it lie; then the next seat is asked."""
    if isinstance(move, Pass):
        table.add(e.SwapDeclined(seat))
    else:
        swap_wild(table, seat, move)
    offer_swap(table, seat)
