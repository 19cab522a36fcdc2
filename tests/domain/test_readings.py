"""What the cards of a meld stand for, read card by card."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.meld import NewMeld
from domain.meld_rules import meld_rules
from domain.presets import preset, ruleset_with
from domain.readings import lowest_place, naturals
from domain.refusals import IllegalMove, Reason, Refused
from domain.ruleset import MaxWilds, MeldKind, Ruleset
from tests.domain.table import new_meld, placed, read_meld, written

DAVIS, BLACK_TWOS, JOKERS = preset("davis"), preset("black-twos"), preset("jokers")
FREE = ruleset_with("jokers", {"max_wilds": {"kind": "unlimited"}, "swap": {"whose": "any"}})
CORNER = replace(FREE, ace="corner")
PHASES = preset("ten-phases")


def read(kind: MeldKind, text: str, rules: Ruleset) -> str:
    return written(NewMeld(kind, read_meld(new_meld(kind, text), rules)))


def refusal(kind: MeldKind, text: str, rules: Ruleset) -> IllegalMove:
    with pytest.raises(Refused) as refused:
        read_meld(new_meld(kind, text), rules)
    assert isinstance(refused.value.broken, IllegalMove)
    return refused.value.broken


def test_a_run_is_laid_from_low_to_high_whatever_order_it_is_sent_in() -> None:
    assert read("run", "8S JS 9S TS", DAVIS) == "8S 9S TS JS"


def test_a_set_stays_in_the_order_sent() -> None:
    assert read("set", "7S JK 7D 7S", DAVIS) == "7S JK(7) 7D 7S"


def test_a_wild_that_would_fit_both_ends_needs_its_role() -> None:
    assert refusal("run", "JD QD KD JK", DAVIS) == IllegalMove("ambiguous_wild", ("TD", "AD"))
    assert read("run", "JD QD KD JK(AD)", DAVIS) == "JD QD KD JK(AD)"


def test_the_readings_of_an_ambiguous_wild_go_from_low_to_high() -> None:
    assert refusal("run", "9D TD JD JK", DAVIS) == IllegalMove("ambiguous_wild", ("8D", "QD"))
    assert read("run", "9D TD JD JK(8D)", DAVIS) == "JK(8D) 9D TD JD"


def test_a_wild_in_the_only_gap_needs_no_role() -> None:
    assert read("run", "2H 3H JK 5H 6H", DAVIS) == "2H 3H JK(4H) 5H 6H"


def test_one_wild_does_not_fill_two_gaps() -> None:
    assert refusal("run", "2H 3H JK 6H 7H", DAVIS).reason == "run_not_consecutive"


@pytest.mark.parametrize("rules", [DAVIS, BLACK_TWOS, FREE], ids=["davis", "black-twos", "free"])
def test_the_ace_is_high_above_the_king(rules: Ruleset) -> None:
    assert read("run", "9S TS JS QS KS AS", rules) == "9S TS JS QS KS AS"
    assert read("run", "JC QC KC AC", rules) == "JC QC KC AC"


def test_the_ace_is_low_only_where_the_rules_have_it_so() -> None:
    assert read("run", "AH 2H 3H 4H", BLACK_TWOS) == "AH 2H 3H 4H"
    assert refusal("run", "AH 2H 3H 4H", DAVIS).reason == "ace_low"
    assert refusal("run", "JK(AH) 2H 3H 4H", DAVIS).reason == "ace_low"
    assert refusal("run", "JC QC KC AC", replace(FREE, ace="low")).reason == "run_not_consecutive"


@pytest.mark.parametrize("rules", [DAVIS, BLACK_TWOS, FREE], ids=["davis", "black-twos", "free"])
def test_a_run_does_not_go_round_the_corner(rules: Ruleset) -> None:
    assert refusal("run", "QH KH AH 2H", rules).reason == "run_not_consecutive"


def test_a_run_goes_round_the_corner_where_the_rules_have_it_so() -> None:
    assert read("run", "2H AH KH QH", CORNER) == "QH KH AH 2H"
    assert read("run", "3H AH KH JK", CORNER) == "KH AH JK(2H) 3H"


def test_a_run_round_the_corner_has_each_rank_once() -> None:
    all_ranks = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    assert read("run", all_ranks, CORNER) == all_ranks
    assert refusal("run", f"{all_ranks} AH", CORNER).reason == "run_too_long"


def test_a_run_of_fourteen_has_an_ace_at_both_ends() -> None:
    longest = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH"
    assert read("run", longest, FREE) == longest
    assert refusal("run", longest, DAVIS).reason == "run_too_long"


def test_an_ace_on_either_end_of_thirteen_makes_one_table() -> None:
    up_to_king = "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    assert read("run", f"{up_to_king} JK", FREE) == f"JK(AH) {up_to_king}"


def test_a_run_is_of_one_suit() -> None:
    assert refusal("run", "5H 6D 7H 8H", FREE).reason == "run_mixed_suits"


def test_a_run_holds_no_card_twice() -> None:
    assert refusal("run", "5H 5H 6H 7H", FREE).reason == "run_not_consecutive"


def test_a_set_is_of_one_rank() -> None:
    assert refusal("set", "7H 7D 8S", FREE).reason == "set_mixed_ranks"


def test_two_copies_of_a_card_are_two_cards_of_a_set() -> None:
    assert read("set", "7H 7H 7D", DAVIS) == "7H 7H 7D"
    assert refusal("set", "7H 7H 7D", replace(DAVIS, distinct_set_suits=True)).reason == "set_same_suit"


def test_a_two_that_can_be_itself_is_no_wild() -> None:
    assert read("run", "AS 2S 3S 4S", BLACK_TWOS) == "AS 2S 3S 4S"
    assert read("set", "2H 2D 2S", BLACK_TWOS) == "2H 2D 2S"
    assert read("run", "3S 4S 5S 2S", BLACK_TWOS) == "2S 3S 4S 5S"
    assert read("run", "AS 2S(2S) 3S 4S", BLACK_TWOS) == "AS 2S 3S 4S"


def test_a_two_is_a_wild_where_its_role_says_so() -> None:
    assert read("run", "3S 4S 5S 2S(6S)", BLACK_TWOS) == "3S 4S 5S 2S(6S)"
    assert read("run", "3S 2C(2S) 4S 5S", BLACK_TWOS) == "2C(2S) 3S 4S 5S"


def test_of_two_twos_one_is_itself_and_the_other_wild() -> None:
    assert read("run", "2S 2S 4S 5S", BLACK_TWOS) == "2S 2S(3S) 4S 5S"


def test_natural_twos_do_not_count_as_wilds() -> None:
    one_wild = replace(BLACK_TWOS, max_wilds=MaxWilds("per_meld", 1))
    assert read("run", "2S 3S 2C(4S) 5S", one_wild) == "2S 3S 2C(4S) 5S"
    assert read("set", "2S 2S 2C", BLACK_TWOS) == "2S 2S 2C"


def test_wilds_of_different_faces_in_two_gaps_are_ambiguous() -> None:
    assert refusal("run", "4H 2C 2S 7H", BLACK_TWOS) == IllegalMove("ambiguous_wild", ("5H", "6H"))
    assert read("run", "4H 2C 2S(5H) 7H", BLACK_TWOS) == "4H 2S(5H) 2C(6H) 7H"
    assert read("run", "4H 2C 2C 7H", BLACK_TWOS) == "4H 2C(5H) 2C(6H) 7H"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("run", "5H 6H 7H JK(8)"),
        ("run", "5H 6H 7H JK(9H)"),
        ("run", "5H 6H 7H JK(8D)"),
        ("set", "7H 7D JK(7S)"),
        ("set", "7H 7D JK(8)"),
        ("set", "7H 7D 7S(8)"),
        ("set", "JK(7) JK(8) JK"),
        ("run", "5H 6H 7H JK(1H)"),
    ],
)
def test_a_role_that_cannot_be_is_refused(kind: MeldKind, text: str) -> None:
    assert refusal(kind, text, FREE).reason == "role_not_possible"


@pytest.mark.parametrize(
    ("limit", "text", "reason"),
    [
        (MaxWilds("per_meld", 1), "JK(5H) 6H JK(7H) 8H", "too_many_wilds"),
        (MaxWilds("at_most_half"), "JK(5H) 6H JK(7H) JK(8H)", "too_many_wilds"),
        (MaxWilds("not_more_than_naturals"), "JK(5H) 6H JK(7H) JK(8H)", "too_many_wilds"),
        (MaxWilds("min_naturals", 2), "JK(5H) 6H JK(7H) JK(8H)", "too_many_wilds"),
        (MaxWilds(), "JK(5H) JK(6H) JK(7H) JK(8H)", "all_wild"),
    ],
)
def test_wilds_are_limited_as_the_rules_say(limit: MaxWilds, text: str, reason: Reason) -> None:
    assert refusal("run", text, replace(FREE, max_wilds=limit)).reason == reason


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (MaxWilds("at_most_half"), "JK(5H) 6H JK(7H) 8H"),
        (MaxWilds("min_naturals", 2), "JK(5H) 6H JK(7H) 8H JK(9H)"),
        (MaxWilds(), "JK(5H) JK(6H) JK(7H) 8H"),
    ],
)
def test_wilds_up_to_the_limit_are_laid(limit: MaxWilds, text: str) -> None:
    assert read("run", text, replace(FREE, max_wilds=limit)) == text


def test_a_limit_for_the_first_laying_is_not_asked_later() -> None:
    rules = replace(FREE, max_wilds=MaxWilds("per_meld", 1, "first_laying"))
    assert refusal("set", "7H JK JK", rules).reason == "too_many_wilds"
    assert read_meld(new_meld("set", "7H JK JK"), rules, first_laying=False) == placed("7H JK(7) JK(7)")


def test_wilds_may_not_touch_where_the_rules_forbid_it() -> None:
    apart = replace(FREE, wilds_adjacent=False)
    assert refusal("run", "5H JK(6H) JK(7H) 8H", apart).reason == "wilds_adjacent"
    assert read("run", "5H JK 7H JK 9H", apart) == "5H JK(6H) 7H JK(8H) 9H"
    assert read("set", "5H JK JK", apart) == "5H JK(5) JK(5)"


def test_a_reading_that_the_limits_forbid_does_not_make_a_wild_ambiguous() -> None:
    apart = replace(FREE, wilds_adjacent=False)
    assert read("run", "JK(5H) 6H 7H JK(8H) 9H JK", apart) == "JK(5H) 6H 7H JK(8H) 9H JK(TH)"


def test_a_meld_of_wilds_alone_needs_a_rule_and_a_role() -> None:
    rules = replace(FREE, all_wild_melds=True)
    assert refusal("set", "JK JK JK", rules).readings == tuple("A23456789TJQK")
    assert read("set", "JK JK(8) JK", rules) == "JK(8) JK(8) JK(8)"
    assert read("run", "JK(5H) JK(6H) JK(7H) JK(8H)", rules) == "JK(5H) JK(6H) JK(7H) JK(8H)"


def test_ten_phases_runs_mix_their_colours() -> None:
    assert read("run_any_suit", "9R 10B W 12Y", PHASES) == "9R 10B W(11) 12Y"
    assert refusal("run_any_suit", "12Y 1B 2R 3R", PHASES).reason == "run_not_consecutive"
    assert refusal("run_any_suit", "5R 6R 7R W", PHASES) == IllegalMove("ambiguous_wild", ("4", "8"))


def test_a_colour_meld_is_of_one_colour() -> None:
    assert read("colour", "1R 1R 4R W 9R 10R 12R", PHASES) == "1R 1R 4R W(R) 9R 10R 12R"
    assert refusal("colour", "1R 1R 4B", PHASES).reason == "colour_mixed"


def test_a_skip_is_never_melded() -> None:
    assert refusal("set", "X X X", PHASES).reason == "role_not_possible"
    assert refusal("colour", "1R 2R X", PHASES).reason == "role_not_possible"


def test_the_places_of_a_run_count_the_ace_below_or_above() -> None:
    assert lowest_place(placed("AH 2H 3H"), meld_rules(FREE)) == 1
    assert lowest_place(placed("QH KH JK(AH)"), meld_rules(FREE)) == 12
    assert lowest_place(placed("QH KH AH 2H"), meld_rules(CORNER)) == 12
    assert lowest_place(placed("9R W(10) 11B"), meld_rules(PHASES)) == 9


def test_naturals_are_those_that_stand_for_themselves() -> None:
    assert naturals(placed("2S JK(3S) 4S")) == 2


@given(st.permutations(["4S", "2S", "2C", "7S", "8S"]))
def test_the_order_of_the_cards_in_a_command_means_nothing(order: list[str]) -> None:
    roles = {"2C": "2C(5S)"}
    text = " ".join(roles.get(card, card) for card in order)
    assert read("run", text, BLACK_TWOS) == "4S 2C(5S) 2S(6S) 7S 8S"


@given(first=st.integers(2, 8), size=st.integers(3, 6), wilds=st.sets(st.integers(0, 5), max_size=2))
def test_a_run_sent_as_it_lies_is_read_as_it_lies(first: int, size: int, wilds: set[int]) -> None:
    ranks = "23456789TJQKA"[first - 2 : first - 2 + size]
    text = " ".join(f"JK({rank}D)" if place in wilds else rank + "D" for place, rank in enumerate(ranks))
    if len(wilds & set(range(size))) < size:
        assert read("run", text, FREE) == text
