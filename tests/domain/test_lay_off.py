"""Laying off on melds that lie, and taking wilds out of them."""

import random
from itertools import product

import pytest
from msgspec.structs import replace

from domain.cards import FACES, Card
from domain.lay_off import End, SwapOption, lay_off, swap, swap_options
from domain.meld import Meld, NewMeld, Placed
from domain.presets import preset, ruleset_with
from domain.refusals import IllegalMove, Reason, Refused
from domain.ruleset import MaxWilds, MeldKind, Ruleset, Swap
from domain.welcome import LayOffOption, fits, lay_off_options
from tests.domain.table import cards, placed, read_meld, written

DAVIS, BLACK_TWOS, JOKERS = preset("davis"), preset("black-twos"), preset("jokers")
FREE = ruleset_with("jokers", {"max_wilds": {"kind": "unlimited"}, "swap": {"whose": "any"}})
CORNER = replace(FREE, ace="corner")
PHASES = preset("ten-phases")


def on_table(kind: MeldKind, text: str) -> Meld:
    return Meld("m1", 0, kind, placed(text))


def laid(kind: MeldKind, text: str, more: str, rules: Ruleset, end: End | None = None) -> str:
    return written(lay_off(on_table(kind, text), placed(more), end, rules))


def refusal(kind: MeldKind, text: str, more: str, rules: Ruleset, end: End | None = None) -> IllegalMove:
    with pytest.raises(Refused) as refused:
        laid(kind, text, more, rules, end)
    assert isinstance(refused.value.broken, IllegalMove)
    return refused.value.broken


def test_cards_go_on_at_the_ends_of_a_run() -> None:
    assert refusal("run", "5H 6H 7H 8H", "3H", DAVIS).reason == "does_not_fit"
    assert laid("run", "5H 6H 7H 8H", "4H", DAVIS) == "4H 5H 6H 7H 8H"
    assert laid("run", "4H 5H 6H 7H 8H", "3H", DAVIS) == "3H 4H 5H 6H 7H 8H"


def test_several_cards_are_judged_as_a_whole() -> None:
    assert laid("run", "JK(7C) 8C 9C TC", "5C 6C", DAVIS) == "5C 6C JK(7C) 8C 9C TC"
    assert laid("run", "5H 6H 7H 8H", "9H 4H TH", DAVIS) == "4H 5H 6H 7H 8H 9H TH"
    assert refusal("run", "5H 6H 7H 8H", "9H JH", DAVIS).reason == "does_not_fit"


def test_a_wild_that_fits_both_ends_is_told_where_to_go() -> None:
    run = "TS JS QS KS"
    assert refusal("run", run, "JK", DAVIS) == IllegalMove("ambiguous_wild", ("9S", "AS"))
    assert laid("run", run, "JK", DAVIS, "low") == laid("run", run, "JK(9S)", DAVIS) == "JK(9S) TS JS QS KS"
    assert laid("run", run, "JK", DAVIS, "high") == "TS JS QS KS JK(AS)"
    assert laid("run", "JK(9S) TS JS QS KS", "8S", DAVIS) == "8S JK(9S) TS JS QS KS"
    assert laid("run", run, "JK 8S", DAVIS) == "8S JK(9S) TS JS QS KS"


def test_an_end_leads_what_would_fit_both_and_no_other_card() -> None:
    assert laid("run", "5C 6C 7C 8C", "4C JK", FREE, "high") == "4C 5C 6C 7C 8C JK(9C)"
    assert laid("run", "5C 6C 7C 8C", "4C JK", FREE, "low") == "JK(3C) 4C 5C 6C 7C 8C"
    assert refusal("run", "5C 6C 7C 8C", "4C", FREE, "high").reason == "does_not_fit"
    assert laid("set", "QS QH QC", "QD", FREE, "high") == "QS QH QC QD"


def test_a_set_takes_any_card_of_its_rank() -> None:
    assert laid("set", "QS QH QC", "QD QS", DAVIS) == "QS QH QC QD QS"
    assert laid("set", "QS QH QC", "JK", DAVIS) == "QS QH QC JK(Q)"
    assert refusal("set", "QS QH QC", "KD", DAVIS).reason == "does_not_fit"
    assert refusal("set", "QS QH QC", "JK(K)", DAVIS).reason == "role_not_possible"
    assert laid("set", "JK(8) JK(8) 8S", "8S", FREE) == "JK(8) JK(8) 8S 8S"


def test_what_holds_for_one_lay_down_only_is_not_asked_of_lay_offs() -> None:
    assert laid("run", "2H 3H 4H 5H", "6H", DAVIS) == "2H 3H 4H 5H 6H"
    assert laid("set", "QS QH QC", "QS", replace(DAVIS, distinct_set_suits=True)) == "QS QH QC QS"


@pytest.mark.parametrize(
    ("rules", "text", "more", "reason"),
    [
        (DAVIS, "5H JK(6H) 7H 8H", "JK(9H)", "too_many_wilds"),
        (DAVIS, "2H 3H 4H 5H", "AH", "ace_low"),
        (DAVIS, "2H 3H 4H 5H", "JK(AH)", "ace_low"),
        (DAVIS, "JH QH KH AH", "2H", "does_not_fit"),
        (DAVIS, "2H 3H 4H 5H", "6D", "does_not_fit"),
        (DAVIS, "2H 3H 4H 5H", "JK(7H)", "role_not_possible"),
        (DAVIS, "2H 3H 4H 5H", "JK(6)", "role_not_possible"),
        (DAVIS, "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH", "JK", "meld_full"),
        (FREE, "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH", "AH", "meld_full"),
        (CORNER, "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH", "AH", "meld_full"),
        (replace(FREE, wilds_adjacent=False), "5H 6H 7H JK(8H)", "JK(9H)", "wilds_adjacent"),
        (replace(FREE, max_wilds=MaxWilds("at_most_half")), "5H JK(6H) 7H JK(8H)", "JK(9H)", "too_many_wilds"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(rules: Ruleset, text: str, more: str, reason: Reason) -> None:
    assert refusal("run", text, more, rules).reason == reason


def test_a_wild_that_may_lie_at_one_end_only_needs_no_role() -> None:
    apart = replace(FREE, wilds_adjacent=False)
    assert laid("run", "5H 6H 7H JK(8H)", "JK", apart) == "JK(4H) 5H 6H 7H JK(8H)"
    assert laid("run", "JH QH KH AH", "JK", FREE) == "JK(TH) JH QH KH AH"


def test_a_limit_for_the_first_laying_lets_later_wilds_on() -> None:
    first_laying = replace(FREE, max_wilds=MaxWilds("per_meld", 1, "first_laying"))
    assert laid("set", "QS QH JK(Q)", "JK JK", first_laying) == "QS QH JK(Q) JK(Q) JK(Q)"


def test_a_thirteenth_and_a_fourteenth_card_make_the_run_with_two_aces() -> None:
    up_to_king = "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    assert laid("run", up_to_king, "AH", FREE) == f"AH {up_to_king}"
    assert laid("run", up_to_king, "AH", FREE, "high") == f"{up_to_king} AH"
    assert laid("run", f"{up_to_king} AH", "AH", FREE) == f"AH {up_to_king} AH"
    assert laid("run", up_to_king, "AH JK", FREE) == f"AH {up_to_king} JK(AH)"


def test_a_run_goes_on_round_the_corner() -> None:
    assert laid("run", "QH KH AH", "2H JH", CORNER) == "JH QH KH AH 2H"
    assert laid("run", "AH 2H 3H 4H", "KH", CORNER) == "KH AH 2H 3H 4H"


def test_a_two_that_can_be_itself_is_laid_as_itself() -> None:
    assert laid("run", "3S 4S 5S 6S", "2S", BLACK_TWOS) == "2S 3S 4S 5S 6S"
    assert laid("run", "3S 4S 5S 6S", "2S", BLACK_TWOS, "high") == "3S 4S 5S 6S 2S(7S)"
    assert laid("set", "2H 2D 2H", "2C", BLACK_TWOS) == "2H 2D 2H 2C"
    assert laid("set", "9H 9D 9H", "2C", BLACK_TWOS) == "9H 9D 9H 2C(9)"


def test_ten_phases_melds_grow_too() -> None:
    assert laid("run_any_suit", "5R 6B 7Y 8G", "9R", PHASES) == "5R 6B 7Y 8G 9R"
    assert laid("colour", "1R 2R 3R 4R 5R 6R W(R)", "12R W", PHASES) == "1R 2R 3R 4R 5R 6R W(R) 12R W(R)"
    assert refusal("colour", "1R 2R 3R 4R 5R 6R 7R", "1B", PHASES).reason == "does_not_fit"
    assert refusal("set", "3R 3B 3Y", "X", PHASES).reason == "does_not_fit"


def test_the_options_of_a_hand_name_role_and_end() -> None:
    run = on_table("run", "TS JS QS KS")
    assert lay_off_options(run, cards("9S 9S KD JK"), FREE) == (
        LayOffOption(Placed("9S"), "low"),
        LayOffOption(Placed("JK", "9S"), "low"),
        LayOffOption(Placed("JK", "AS"), "high"),
    )
    assert fits("AS", run, FREE) == (LayOffOption(Placed("AS"), "high"),)
    assert fits("JK", on_table("set", "QS QH QC"), FREE) == (LayOffOption(Placed("JK", "Q"), None),)
    assert fits("JK", on_table("set", "QS QH JK(Q)"), DAVIS) == ()


SOME_MELDS: list[tuple[MeldKind, str]] = [
    ("run", "5H 6H 7H 8H"),
    ("run", "2H JK(3H) 4H 5H"),
    ("run", "AH 2H 3H 4H"),
    ("run", "3S 4S 5S 6S"),
    ("run", "TC JC JK(QC) KC"),
    ("run", "2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD"),
    ("run", "AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD"),
    ("set", "2H 2D 2H"),
    ("set", "9C 9D JK(9)"),
]


@pytest.mark.parametrize(("kind", "text"), SOME_MELDS)
@pytest.mark.parametrize(
    "rules",
    [DAVIS, JOKERS, FREE, BLACK_TWOS, CORNER, replace(FREE, wilds_adjacent=False)],
    ids=["davis", "jokers", "free", "black-twos", "corner", "apart"],
)
def test_every_option_is_accepted_and_nothing_else(kind: MeldKind, text: str, rules: Ruleset) -> None:
    meld = on_table(kind, text)
    try:
        read_meld(NewMeld(kind, meld.cards), rules)
    except Refused:
        return  # these rules never see this meld
    listed = {card: {(o.card, o.end) for o in fits(card, meld, rules)} for card in FACES["french"]}
    melds = {written(lay_off(meld, (card,), end, rules)) for found in listed.values() for card, end in found}
    assert len(melds) == sum(map(len, listed.values())), "two options make one table"
    ends: tuple[End | None, ...] = ("low", "high", None)
    roles = [None, *FACES["french"][:-1], *"A23456789TJQK"]
    for card, role, end in product(FACES["french"], roles, ends):
        if role is not None and card not in rules.deck.wilds:
            continue
        try:
            after = written(lay_off(meld, (Placed(card, role),), end, rules))
        except Refused:
            continue
        assert listed[card], f"{card} as {role} at the {end} end is accepted and not listed"
        assert kind == "set" or after in melds or meld.cards[0].card[0] == "2", f"{after} comes of no option"


def test_a_natural_takes_the_place_of_the_wild_that_stands_for_it() -> None:
    run = on_table("run", "2H 3H JK(4H) 5H")
    assert written(swap(run, "JK", "4H", "4H", FREE)) == "2H 3H 4H 5H"
    for as_, card in (("6H", "6H"), ("4H", "6H"), ("4H", "4D")):
        assert swap_refusal(run, as_, card, FREE) == "not_represented"


def swap_refusal(meld: Meld, as_: str, card: Card, rules: Ruleset, wild: Card = "JK") -> Reason:
    with pytest.raises(Refused) as refused:
        swap(meld, wild, as_, card, rules)
    assert isinstance(refused.value.broken, IllegalMove)
    return refused.value.broken.reason


def test_a_swap_leaves_the_other_wilds_where_they_are() -> None:
    first_laying = replace(FREE, max_wilds=MaxWilds("per_meld", 1, "first_laying"))
    run = on_table("run", "5C 6C JK(7C) JK(8C) JK(9C) JK(TC) JK(JC) JK(QC)")
    after = swap(run, "JK", "7C", "7C", first_laying)
    assert written(after) == "5C 6C 7C JK(8C) JK(9C) JK(TC) JK(JC) JK(QC)"


def test_wilds_leave_sets_only_where_the_rules_have_it_so() -> None:
    eights = on_table("set", "8H 8D JK(8)")
    assert swap_refusal(eights, "8", "8S", FREE) == "swap_not_allowed"
    in_sets = replace(FREE, swap=Swap("any", sets=True))
    assert written(swap(eights, "JK", "8", "8S", in_sets)) == "8H 8D 8S"
    assert swap_refusal(eights, "8", "9S", in_sets) == "not_represented"
    assert swap_refusal(eights, "8", "8S", DAVIS) == "swap_not_allowed"


def test_a_two_that_is_itself_cannot_be_swapped_out() -> None:
    run = on_table("run", "AS 2S 3S 4S")
    assert swap_refusal(run, "2S", "2S", BLACK_TWOS, wild="2S") == "not_represented"
    assert swap_options(run, cards("2S AS"), BLACK_TWOS) == ()


def test_a_two_comes_back_to_its_own_place() -> None:
    run = on_table("run", "AS 2C(2S) 3S 4S")
    assert written(swap(run, "2C", "2S", "2S", BLACK_TWOS)) == "AS 2S 3S 4S"


def test_a_moved_wild_goes_to_an_end_of_its_run() -> None:
    moving = replace(FREE, swap=Swap("move"))
    assert written(swap(on_table("run", "5H JK(6H) 7H 8H"), "JK", "6H", "6H", moving)) == "5H 6H 7H 8H JK(9H)"
    assert written(swap(on_table("run", "JH JK(QH) KH AH"), "JK", "QH", "QH", moving)) == "JK(TH) JH QH KH AH"
    full = "AH 2H 3H 4H 5H JK(6H) 7H 8H 9H TH JH QH KH AH"
    assert swap_refusal(on_table("run", full), "6H", "6H", moving) == "meld_full"


def test_a_moved_two_that_comes_home_is_itself() -> None:
    moving = replace(BLACK_TWOS, swap=Swap("move"), ace="high")
    run = on_table("run", "3S 4S 5S 6S 7S 8S 9S TS JS QS 2S(KS) AS")
    assert written(swap(run, "2S", "KS", "KS", moving)) == "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"


def test_the_swaps_of_a_hand_are_listed() -> None:
    run = on_table("run", "2S(4H) 5H 2C(6H) 7H")
    assert swap_options(run, cards("4H 4H 6H 9C"), BLACK_TWOS) == (
        SwapOption("2S", "4H", "4H"),
        SwapOption("2C", "6H", "6H"),
    )
    assert swap_options(on_table("set", "8H 8D 2S(8)"), cards("8C 8S"), BLACK_TWOS) == (
        SwapOption("2S", "8", "8C"),
        SwapOption("2S", "8", "8S"),
    )
    assert swap_options(run, cards("4H"), replace(BLACK_TWOS, swap=Swap())) == ()


def test_cards_laid_one_by_one_or_together_make_one_run() -> None:
    rng = random.Random(7)
    line = "23456789TJQKA"
    for _ in range(200):
        first, last = sorted(rng.sample(range(14), 2))
        run = on_table("run", " ".join(rank + "D" for rank in line[first:last]))
        below, above = line[rng.randint(0, first) : first], line[last : rng.randint(last, 13)]
        more = [rank + "D" for rank in below + above]
        if not more:
            continue
        rng.shuffle(more)
        together = lay_off(run, tuple(map(Placed, more)), None, DAVIS)
        one_by_one = run
        for card in [rank + "D" for rank in below[::-1] + above]:
            one_by_one = lay_off(one_by_one, (Placed(card),), None, DAVIS)
        assert one_by_one == together
