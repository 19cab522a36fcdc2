"""What a hand can lay down, found by the solver and held against brute force."""

import random
from itertools import pairwise

import pytest
from msgspec.structs import replace

from domain import solver
from domain.cards import Hand, in_deck_order
from domain.lay_down import read_lay_down
from domain.meld import NewMeld
from domain.presets import preset, ruleset_with
from domain.ruleset import Contract, MaxWilds, Part, Ruleset
from domain.scoring import hand_points, points_of
from domain.solver import LayDown, best_lay_down, lay_down_candidates
from domain.solver_run_plan import run_plan
from domain.solver_runs import run_graph
from tests.domain.solver_compared import compare, compared_rules, contracts, difference, random_hand

DAVIS, BLACK_TWOS, JOKERS = preset("davis"), preset("black-twos"), preset("jokers")
FREE = ruleset_with("jokers", {"max_wilds": {"kind": "unlimited"}})
TWO_SETS, SET_AND_RUN, TWO_RUNS, THREE_SETS, _, SET_AND_TWO_RUNS, THREE_RUNS = JOKERS.contracts


def hand_of(text: str) -> Hand:
    return in_deck_order(text.split())


def best(text: str, contract: Contract, rules: Ruleset) -> LayDown:
    found = best_lay_down(hand_of(text), contract, rules)
    assert found is not None
    return found


def written(lay_down: LayDown) -> list[str]:
    return [" ".join(f"{p.card}({p.as_})" if p.as_ else p.card for p in cards) for _, cards in lay_down.melds]


def test_each_wild_is_laid_once() -> None:
    found = best("7D 7S 9S 9C JK JK KH 4D 3C 6H TD", TWO_SETS, JOKERS)
    assert sorted(written(found)) == ["7D 7S JK(7)", "9C 9S JK(9)"]
    assert best_lay_down(hand_of("7D 7S 9S 9C JK KH 4D 3C 6H TD"), TWO_SETS, JOKERS) is None


def test_what_cannot_be_laid_is_none() -> None:
    assert best_lay_down(hand_of("3C 4C 9C QC 5D 6D JD 2H 7H 8S TS"), TWO_SETS, JOKERS) is None
    assert best_lay_down((), TWO_SETS, JOKERS) is None


def test_the_lay_down_leaves_the_fewest_points() -> None:
    found = best("KC KD KH 5C 5D 5H 5S 6S 7S 8S 9S 3D", SET_AND_RUN, JOKERS)
    assert (written(found), found.rest, found.points) == (
        ["KC KD KH", "5S 6S 7S 8S 9S"],
        ("5C", "3D", "5D", "5H"),
        20,
    )


def test_among_equal_points_fewer_cards_are_left() -> None:
    found = best("QC QD QH 2C 2D 2H 8C 8D 8H TS", TWO_SETS, JOKERS)
    assert found.points == 5 * 3 + 10
    jokers_for_points = replace(JOKERS, points=replace(JOKERS.points, cards={"Q": 20, "4": 5, "6": 10, "9": 0}))
    found = best("4C 4D 4H 4S 6C 6D 9C 9D 9H QC QD QH", TWO_SETS, jokers_for_points)
    assert found.rest == ("6C", "9C", "6D", "9D", "9H")


def test_equal_hands_give_equal_answers() -> None:
    text = "5H 5D 5C 5H 5D 5C 6H 7H 8H 9H JK"
    shuffled = text.split()
    random.Random(1).shuffle(shuffled)
    assert best(text, SET_AND_RUN, JOKERS) == best(" ".join(shuffled), SET_AND_RUN, JOKERS)


def test_what_was_laid_before_changes_no_answer() -> None:
    half, rng = compared_rules()["half"], random.Random(4)
    contracts_of_runs = (TWO_RUNS, SET_AND_TWO_RUNS, THREE_RUNS)
    asked = [(random_hand(rng, contract, half), contract) for _ in range(60) for contract in contracts_of_runs]
    answers = []
    for order in (asked, asked[::-1]):
        for memo in (solver.plan_for, run_plan, run_graph):
            memo.cache_clear()
        rules = replace(half)  # plans are kept for each ruleset object
        answers.append({one: lay_down_candidates(*one, rules) for one in order})
    assert answers[0] == answers[1]


def test_a_last_contract_is_laid_with_the_whole_hand() -> None:
    lay_downs = lay_down_candidates(hand_of("2S 3S 4S 5S 7H 8H 9H TH 3D 4D 5D 6D"), THREE_RUNS, DAVIS, must_empty=0)
    assert [found.rest for found in lay_downs] == [()]
    thirteen = hand_of("2S 3S 4S 5S 7H 8H 9H TH 3D 4D 5D 6D KC")
    assert lay_down_candidates(thirteen, THREE_RUNS, DAVIS, must_empty=0) == ()
    assert [found.rest for found in lay_down_candidates(thirteen, THREE_RUNS, BLACK_TWOS, must_empty=1)] == [("KC",)]


def test_runs_that_would_join_are_laid_apart() -> None:
    found = best("2H 3H 4H 5H 6H 7H 8H 9H KC", TWO_RUNS, FREE)
    assert found.rest == ("KC",)
    assert best_lay_down(hand_of("2H 3H 4H 5H 6H 7H 8H 9H KC"), TWO_RUNS, DAVIS) is None
    assert best("2H 3H 4H 5H 5H 6H 7H 8H KC", TWO_RUNS, DAVIS).rest == ("KC",)


def test_three_runs_of_one_suit_share_copies_and_jokers() -> None:
    # The fives and sixes are wanted by three runs, and there are two of each.
    found = best("3S 4S 5S 5S 6S 6S 7S 8S 2S JK JK JK", THREE_RUNS, FREE)
    assert found.rest == ()
    assert difference(hand_of("3S 4S 5S 5S 6S 6S 7S 8S 2S JK JK JK"), THREE_RUNS, FREE) is None


def test_wilds_not_needed_are_laid_too() -> None:
    assert best("7C 7D 7H 9C 9D 9H JK JK", TWO_SETS, JOKERS).rest == ()
    assert best("7C 7D 7H 9C 9D 9H JK JK JK", TWO_SETS, JOKERS).rest == ("JK",)
    assert best("3C 4C 5C 6C 8H 9H TH JH JK JK JK", TWO_RUNS, FREE).rest == ()


def test_a_wild_without_room_takes_the_place_of_a_cheap_card() -> None:
    found = best("2H 3H 4H 5H 7H 8H 9H TH JH QH KH AH JK", TWO_RUNS, replace(DAVIS, ace="high"))
    assert len(found.rest) == 1
    assert found.points == 5, "a joker counts 50, so a cheap card is left instead"


def test_a_card_wanted_by_a_set_and_a_run_lies_where_no_wild_may() -> None:
    half = replace(FREE, max_wilds=MaxWilds("not_more_than_naturals"))
    found = best("5C 5H 4H 6H 7H JK JK", SET_AND_RUN, half)
    assert written(found) == ["5C 5H JK(5)", "4H JK(5H) 6H 7H"]


def test_twos_are_themselves_where_they_can_be() -> None:
    found = best("AS 2S 3S 4S 2H 2D 2C 9C", SET_AND_RUN, BLACK_TWOS)
    assert "AS 2S 3S 4S" in written(found)
    assert found.rest == ("9C",)
    alone = best("2C 2C 2S 2S KH KD KS", TWO_SETS, BLACK_TWOS)
    assert alone.rest == ()
    assert all(p.as_ is None for kind, cards in alone.melds for p in cards if cards[0].card.startswith("2"))


def test_candidates_differ_in_what_they_leave_and_begin_with_the_best() -> None:
    hand = hand_of("7C 7D 7H 8C 8D 8H 9C 9D 9H TC TD TH JK")
    found = lay_down_candidates(hand, TWO_SETS, JOKERS)
    assert len({one.rest for one in found}) == len(found) > 1
    assert found[0] == best_lay_down(hand, TWO_SETS, JOKERS)
    assert all(low.points <= high.points for low, high in pairwise(found[:-1]))


def test_candidates_include_the_one_with_the_fewest_cards_left() -> None:
    hand = hand_of("KC KD KH AC AD AH 3C 3D 3H 3S 4S 5S 6S")
    found = lay_down_candidates(hand, TWO_SETS, JOKERS)
    assert min(len(one.rest) for one in found) == len(hand) - 7
    assert found[0].points == 20 + 15


def test_a_discard_that_must_be_kept_is_kept() -> None:
    keeps = replace(JOKERS, going_out="discard_required")
    found = lay_down_candidates(hand_of("7C 7D 7H 7S 9C 9D 9H"), TWO_SETS, keeps)
    assert {one.rest for one in found} >= {(), ("7C",)}


def test_a_big_contract_is_laid_with_a_long_run() -> None:
    big = (Part("set", 3), Part("run", 10))
    found = best("3C 4C 5C 6C 7C 8C 9C JC QC KC 3D 3H JK", big, FREE)
    assert found.rest == ("KC",) or found.points <= 10


def test_ten_phases_contracts_are_laid() -> None:
    phases = preset("ten-phases")
    found = best("1R 2B 3Y 4G 5R 6R W 9B 9R X", phases.contracts[3], phases)
    assert found.rest == ("9R", "9B", "X") or found.points <= 25
    colour = best("1R 2R 5R 5R 9R 12R W 3B X", phases.contracts[7], phases)
    assert colour.rest == ("3B", "X")


def test_melds_beyond_the_contract_are_laid_where_the_rules_have_it_so() -> None:
    king_rummy = preset("king-rummy")
    found = best("9C 9D 9S 2H 3H 4H 5H KC KD KS 8D", king_rummy.contracts[0], king_rummy)
    assert found.rest == ("8D",)
    assert len(found.melds) == 3


def test_beyond_the_budget_the_best_so_far_is_given_and_said_to_be_that() -> None:
    five_runs = (Part("run", 4),) * 5
    wilds = replace(FREE, deck=replace(FREE.deck, wilds=("JK", "2C", "2D", "2H", "2S")))
    spades = [f"{rank}S" for rank in "3456789TJQKA"]
    found = best_lay_down(
        in_deck_order([*spades, *spades, *["JK"] * 8, *["2C", "2D", "2H", "2S"] * 2]), five_runs, wilds
    )
    assert found is not None
    assert not found.exact
    read_lay_down(tuple(NewMeld(kind, cards) for kind, cards in found.melds), five_runs, wilds)


def test_points_go_by_face_before_rank_and_by_the_tables_in_use() -> None:
    assert hand_points(hand_of("2H 7D 8C KS AH JK"), DAVIS) == 5 + 5 + 10 + 10 + 20 + 50
    assert hand_points(hand_of("2H 2S"), BLACK_TWOS) == 2 + 25
    tables = replace(BLACK_TWOS, points=replace(BLACK_TWOS.points, use=("wild_two_20", "ace_14", "faces_11_13")))
    assert [points_of(card, tables) for card in ("2S", "2H", "AC", "QD", "TD")] == [20, 2, 14, 12, 10]


@pytest.mark.parametrize(
    ("name", "contract", "hand"),
    [
        # Two copies are wanted by three runs.
        ("no-limit", "R4 R4 R4", "3S 4S 5S 5S 6S 6S 7S 8S 2S JK JK JK"),
        # A nine leaves its run for the set, and a joker takes its place.
        ("half", "S3 R4", "9C QC 7D 8D 9D TD JD 4H JK JK"),
        ("naturals-2", "S3 S3 R4", "7D 7D 8D 9D 9D TD 7H 7S JK JK"),
        # No joker fits on, but one fits in.
        ("half-separate-no-touch", "R4 R4", "2H 3H 3H 4H 4H AH AH JK JK JK JK"),
        # Three sets of one rank have a joker each.
        ("jokers", "S3 S3 S3", "TC TD TD TH TH TS JK JK JK"),
        ("two-a-meld", "S3 S3 S3", "2C 2D 2D 2S 2S JK JK JK JK"),
        # The last joker must join nothing.
        ("no-limit-high-separate", "R4 R4", "3S 4S 7S 8S 9S JS AS AS JK JK JK JK"),
        ("black-twos-separate", "R4 R4 R4", "2C 2C 3D 4D 6D 9D TD JD QD 5H 6H 7H 8H 2S"),
        # A two is never wild among twos, so it goes to the run.
        ("black-twos-distinct-suits", "S3 S3 R4", "2C 2C 3C 3D 2H 2H 3H 4H 5H 2S 2S 3S"),
        ("black-twos-distinct-suits", "S3 R4", "2C 2C 2D 2D 7H 8H 9H TH JH 2S 2S"),
    ],
)
def test_hands_that_misled_a_solver_are_laid_right(name: str, contract: str, hand: str) -> None:
    assert difference(hand_of(hand), contracts(contract)[0], compared_rules()[name]) is None


@pytest.mark.parametrize("name", compared_rules())
def test_the_solver_finds_what_brute_force_finds(name: str) -> None:
    assert compare(name, compared_rules()[name], hands=5 if name == "odd" else 14, seed=1) == []
