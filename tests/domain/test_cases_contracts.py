"""A whole lay-down against its contract: how many melds, how large, and what they may not have in common."""

import pytest

from domain.commands import Discard, LayDown, LayOff
from domain.presets import Json
from domain.refusals import IllegalMove, Refused
from tests.domain.table import ANNA, Table, lay_down, new_meld, placed, reason_of, table


def going_down(preset: str, hand: str, move: LayDown, *, number: int = 1, overrides: dict[str, Json]) -> Table | str:
    t = table(preset, [hand, "QC", "JC"], number=number, overrides=overrides)
    try:
        t.answer(ANNA, move)
    except Refused as refused:
        return reason_of(refused)
    return t


def test_the_contract_is_met_by_assignment_not_by_order() -> None:
    run, nines = new_meld("run", "8H JK(9H) JK(TH) JK(JH)"), new_meld("set", "9C 9D 9S 9H")
    hand = "8H JK JK JK 9C 9D 9S 9H KC"
    for melds in ((run, nines), (nines, run)):
        t = going_down("jokers", hand, LayDown(melds), number=2, overrides={"max_wilds": {"kind": "unlimited"}})
        assert isinstance(t, Table)
        assert {t.lies("m1"), t.lies("m2")} == {"8H JK(9H) JK(TH) JK(JH)", "9C 9D 9S 9H"}


def test_a_larger_meld_may_stand_for_a_smaller_part() -> None:
    parts: Json = [{"kind": "set", "size": 3}, {"kind": "set", "size": 4}]
    move = lay_down(("set", "7H 7D 7S 7C"), ("set", "9H 9D 9S"))
    hand = "7H 7D 7S 7C 9H 9D 9S KC KD"
    assert isinstance(going_down("jokers", hand, move, overrides={"contracts": [parts, parts]}), Table)
    both_four: Json = [{"kind": "set", "size": 4}, {"kind": "set", "size": 4}]
    assert going_down("jokers", hand, move, overrides={"contracts": [both_four, both_four]}) == "contract_not_met"


def test_a_lay_down_has_exactly_the_melds_of_the_contract() -> None:
    hand = "7H 7D 7S 9H 9D 9S KC KD KS QC"
    three = lay_down(("set", "7H 7D 7S"), ("set", "9H 9D 9S"), ("set", "KC KD KS"))
    assert going_down("jokers", hand, three, overrides={}) == "wrong_meld_count"
    assert going_down("jokers", hand, lay_down(("set", "7H 7D 7S")), overrides={}) == "contract_not_met"
    more = going_down("jokers", hand, three, overrides={"extra_melds": True})
    assert isinstance(more, Table)
    assert more.hand(ANNA) == ("QC",)


def test_with_extra_melds_new_ones_may_be_laid_later_too() -> None:
    t = table("king-rummy", ["7H 7D 7S 9H 9D KC", "QC", "JC", "TC"], down=[ANNA])
    assert t.refusal(ANNA, lay_down(("set", "9H 9D"))) == IllegalMove("contract_not_met")
    assert t.refusal(ANNA, lay_down()) == IllegalMove("contract_not_met")
    assert any(isinstance(move, LayDown) for move in t.options(ANNA))
    t.answer(ANNA, lay_down(("set", "7H 7D 7S")))
    assert t.hand(ANNA) == ("KC", "9D", "9H")


def test_first_laying_may_want_the_exact_sizes() -> None:
    exact: dict[str, Json] = {"exact_sizes": True}
    hand = "7H 7D 7S 7C 9H 9D 9S KC KD"
    larger = lay_down(("set", "7H 7D 7S 7C"), ("set", "9H 9D 9S"))
    assert going_down("jokers", hand, larger, overrides=exact) == "size_not_exact"
    t = going_down("jokers", hand, lay_down(("set", "7H 7D 7S"), ("set", "9H 9D 9S")), overrides=exact)
    assert isinstance(t, Table)
    t.answer(ANNA, LayOff("m1", placed("7C")))
    assert t.lies("m1") == "7H 7D 7S 7C"


def test_two_sets_of_a_rank_in_one_lay_down_are_a_knob() -> None:
    kings, hand = lay_down(("set", "KH KD KS"), ("set", "KC KH KD")), "KH KD KS KC KH KD 9C 8C"
    assert going_down("davis", hand, kings, overrides={}) == "same_rank_sets"
    all_six = lay_down(("set", "KH KD KS KC KH KD"))
    assert going_down("davis", hand, all_six, overrides={}) == "contract_not_met"
    assert isinstance(going_down("davis", hand, kings, overrides={"distinct_set_ranks": False}), Table)


def test_a_wild_makes_a_set_of_the_same_rank_too() -> None:
    kings, hand = lay_down(("set", "KH KD JK(K)"), ("set", "KC KH KD")), "KH KD JK KC KH KD 9C 8C"
    assert going_down("davis", hand, kings, overrides={}) == "same_rank_sets"


@pytest.mark.parametrize(
    ("second", "davis"),
    [("6H 7H 8H 9H", "consecutive_runs"), ("5H 6H 7H 8H", None), ("7H 8H 9H TH", None), ("6S 7S 8S 9S", None)],
)
def test_two_runs_of_a_suit_that_join_are_a_knob(second: str, davis: str | None) -> None:
    move = lay_down(("run", "2H 3H 4H 5H"), ("run", second))
    hand = f"2H 3H 4H 5H {second} KC"
    judged = going_down("davis", hand, move, number=3, overrides={})
    assert judged == davis if davis else isinstance(judged, Table)
    assert isinstance(going_down("black-twos", hand, move, number=3, overrides={}), Table)


def test_lay_offs_may_join_two_runs_later() -> None:
    move = lay_down(("run", "2H 3H 4H 5H"), ("run", "7H 8H 9H TH"))
    t = going_down("davis", "2H 3H 4H 5H 7H 8H 9H TH 6H KC", move, number=3, overrides={})
    assert isinstance(t, Table)
    t.answer(ANNA, LayOff("m1", placed("6H")))
    assert t.lies("m1") == "2H 3H 4H 5H 6H"


def test_roles_decide_whether_runs_join() -> None:
    move = lay_down(("run", "2H 3H 4H JK"), ("run", "6H 7H 8H 9H"))
    hand = "2H 3H 4H JK 6H 7H 8H 9H KC"
    assert going_down("davis", hand, move, number=3, overrides={}) == "consecutive_runs"
    apart: dict[str, Json] = {"ace": "both"}
    t = going_down("davis", hand, move, number=3, overrides=apart)
    assert isinstance(t, Table)
    assert t.lies("m1") == "JK(AH) 2H 3H 4H"


def test_the_candidates_use_each_wild_once() -> None:
    t = table("jokers", ["7D 7S 9S 9C JK JK KH 4D 2C 5S TH QD", "QC", "JC"])
    candidates = [move for move in t.options(ANNA) if isinstance(move, LayDown)]
    assert candidates
    for move in candidates:
        assert sum(card.card == "JK" for new in move.melds for card in new.cards) == 2
    t.answer(ANNA, lay_down(("set", "7D 7S JK"), ("set", "9S 9C JK")))
    assert t.game.seats[ANNA].down
    one = table("jokers", ["7D 7S 9S 9C JK KH 4D 2C 5S TH QD QS", "QC", "JC"])
    again = lay_down(("set", "7D 7S JK"), ("set", "9S 9C JK"))
    assert one.refusal(ANNA, again) == IllegalMove("card_not_in_hand")


def test_a_refused_lay_down_changes_nothing() -> None:
    t = table("davis", ["7D 7S 7H 9S 9C 8D KH", "QC", "JC"])
    before = t.game
    t.refusal(ANNA, lay_down(("set", "7D 7S 7H"), ("set", "9S 9C 8D")))
    assert t.game == before
    t.answer(ANNA, Discard("KH"))


def test_an_empty_meld_is_no_meld() -> None:
    t = table("davis", ["7D 7S 7H 9S 9C 8D KH", "QC", "JC"])
    assert t.refusal(ANNA, lay_down(("set", "7D 7S 7H"), ("set", ""))) == IllegalMove("contract_not_met")
