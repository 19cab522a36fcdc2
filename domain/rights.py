"""What the player in turn may do after the draw, as the rules and the round have it."""

from domain.cards import DECK_ORDER, SKIP, Card, Hand, without
from domain.meld import Meld
from domain.refusals import Reason, illegal
from domain.ruleset import Contract
from domain.seating import seats_after
from domain.state import Game, Round


def contract_of(game: Game, round_: Round, seat: int) -> Contract:
    """Gives what a lay-down must hold: the seat's contract, or nothing in particular once it is down."""
    return () if game.seats[seat].down else round_.contracts[seat]


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


def must_lay_last_card(game: Game, seat: int) -> bool:
    """Tells whether the last card may not leave as a discard."""
    return game.rules.going_out == "no_discard" and most_left_after_lay_down(game, seat) is None


def may_end_without_discard(game: Game, round_: Round, seat: int) -> bool:
    """Tells whether the turn may end by a pass: with a last card that may not be discarded."""
    one_card = len(game.seats[seat].hand) == 1 and round_.now.owed is None
    return one_card and (not game.seats[seat].down or must_lay_last_card(game, seat))


def may_lay_off(game: Game, round_: Round, seat: int) -> bool:
    """Tells whether the player in turn may lay off or swap now."""
    return _why_no_lay_off(game, round_, seat) is None


def refuse_unless_may_lay_off(game: Game, round_: Round, seat: int) -> None:
    """Raises the reason why the seat may not add to melds or swap wilds now, if there is one."""
    if reason := _why_no_lay_off(game, round_, seat):
        raise illegal(reason)


def _why_no_lay_off(game: Game, round_: Round, seat: int) -> Reason | None:
    if not game.seats[seat].down:
        return "not_down"
    if round_.now.laid_down and seat == round_.turn and game.rules.lay_off == "later_turn":
        return "later_turn"
    return None if most_left_after_lay_down(game, seat) is None else "must_empty_hand"


def refuse_while_owed(round_: Round) -> None:
    """Refuses everything but laying the wild that was swapped."""
    if round_.now.owed is not None:
        raise illegal("wild_must_be_melded")


def discardable(game: Game, round_: Round, seat: int) -> list[Card]:
    """Lists the faces that may be discarded, each once, in the hand's order."""
    if round_.now.owed is not None or why_last_card_stays(game, seat):
        return []
    faces = dict.fromkeys(game.seats[seat].hand)
    faces.pop(must_not_return(game, round_, seat) or "", None)
    return list(faces)


def why_last_card_stays(game: Game, seat: int) -> Reason | None:
    """Gives why the card in hand, if it is the only one, may not be discarded."""
    if len(game.seats[seat].hand) != 1:
        return None
    if not game.seats[seat].down:
        return "not_down"
    return "lay_the_last_card" if must_lay_last_card(game, seat) else None


def must_not_return(game: Game, round_: Round, seat: int) -> Card | None:
    """Gives the card that was just taken from the pile, where it may not go back and another one could."""
    if not game.rules.no_return or not round_.now.taken or set(game.seats[seat].hand) == {round_.now.drawn}:
        return None
    return round_.now.drawn


def skip_targets(game: Game, seat: int, card: Card) -> tuple[int | None, ...]:
    """Lists who may be made to miss a turn by this discard; only None where it is no skip, or nobody can be chosen."""
    if not game.rules.skip_cards or card != SKIP or len(game.seats[seat].hand) == 1:
        return (None,)
    return tuple(other for other in seats_after(game, seat) if game.seats[other].skip == "free") or (None,)


def meld_on_table(round_: Round, meld_id: str) -> Meld:
    """Finds a meld of this round by its id. Errors: Refused with `meld_not_found`."""
    for meld in round_.melds:
        if meld.meld_id == meld_id:
            return meld
    raise illegal("meld_not_found")


def hand_left(hand: Hand, cards: list[Card]) -> Hand:
    """Takes cards out of a hand that must hold them all."""
    left = without(hand, cards)
    if left is None:
        raise illegal("card_not_in_hand" if all(card in DECK_ORDER for card in cards) else "unknown_card")
    return left
