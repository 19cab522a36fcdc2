"""What a meld may hold: sets, runs, wilds and their roles, and a whole lay-down against its contract."""

from collections.abc import Mapping

import pytest

from domain.commands import Discard, LayDown, LayOff
from domain.presets import Json
from domain.refusals import IllegalMove, Refused
from domain.ruleset import MeldKind
from tests.domain.table import ANNA, BORIS, Table, lay_down, meld, new_meld, placed, reason_of, table

FREE: dict[str, Json] = {"max_wilds": {"kind": "unlimited"}}
CORNER: dict[str, Json] = {"ace": "corner"}
SIZES: dict[MeldKind, int] = {"set": 3, "run": 4, "run_any_suit": 4, "colour": 7}


def lying(preset: str, kind: MeldKind, text: str, overrides: Mapping[str, Json] | None = None) -> str:
    """Lays one meld of this kind as a whole contract; gives how it lies then, or the reason why not."""
    part: Json = {"kind": kind, "size": SIZES[kind]}
    rest = "KC KD" if "R" not in text and "B" not in text else "1R 2R"
    hand = " ".join(word.partition("(")[0] for word in text.split())
    one: dict[str, Json] = {"contracts": [[part], [part]], **(overrides or {})}
    t = table(preset, [f"{hand} {rest}", "QC", "JC"], overrides=one, pile=())
    try:
        t.answer(ANNA, lay_down((kind, text)))
    except Refused as refused:
        return reason_of(refused)
    return t.lies("m1")


def readings_of(preset: str, kind: MeldKind, text: str, overrides: Mapping[str, Json] | None = None) -> tuple[str, ...]:
    part: Json = {"kind": kind, "size": SIZES[kind]}
    hand = " ".join(word.partition("(")[0] for word in text.split())
    one: dict[str, Json] = {"contracts": [[part], [part]], **(overrides or {})}
    refused = table(preset, [f"{hand} KC KD", "QC", "JC"], overrides=one).refusal(ANNA, lay_down((kind, text)))
    assert isinstance(refused, IllegalMove)
    assert refused.reason == "ambiguous_wild"
    return refused.readings


def going_down(preset: str, hand: str, move: LayDown, *, number: int = 1, overrides: dict[str, Json]) -> Table | str:
    t = table(preset, [hand, "QC", "JC"], number=number, overrides=overrides)
    try:
        t.answer(ANNA, move)
    except Refused as refused:
        return reason_of(refused)
    return t


def test_the_cards_of_a_set_have_one_rank() -> None:
    assert lying("davis", "set", "7H 7D 7S") == "7H 7D 7S"
    assert lying("davis", "set", "7H 7D 8S") == "set_mixed_ranks"


def test_a_set_may_hold_a_card_twice_unless_its_suits_must_differ() -> None:
    assert lying("jokers", "set", "7H 7H 7S") == "7H 7H 7S"
    assert lying("jokers", "set", "7H 7H 7S", {"distinct_set_suits": True}) == "set_same_suit"
    assert lying("jokers", "set", "7H 7S JK", {"distinct_set_suits": True}) == "7H 7S JK(7)"


def test_a_lay_off_may_bring_a_suit_twice_into_a_set() -> None:
    t = table(
        "jokers", ["7H KC", "QC", "JC"], melds=[meld(BORIS, "set", "7H 7D 7S")], down=[ANNA, BORIS],
        overrides={"distinct_set_suits": True},
    )  # fmt: skip
    t.answer(ANNA, LayOff("m1", placed("7H")))
    assert t.lies("m1") == "7H 7D 7S 7H"


def test_the_cards_of_a_run_have_one_suit_and_follow_each_other() -> None:
    assert lying("davis", "run", "8H 5H 7H 6H") == "5H 6H 7H 8H"
    assert lying("davis", "run", "5H 6D 7H 8H") == "run_mixed_suits"
    assert lying("davis", "run", "5H 6H 7H 9H") == "run_not_consecutive"


def test_a_wild_fills_one_gap_and_no_more() -> None:
    assert lying("davis", "run", "2H 3H JK 6H 7H") == "run_not_consecutive"
    assert lying("davis", "run", "2H 3H JK 5H 6H") == "2H 3H JK(4H) 5H 6H"


@pytest.mark.parametrize("preset", ["davis", "black-twos", "jokers"])
def test_a_run_may_end_with_the_ace(preset: str) -> None:
    assert lying(preset, "run", "9S TS JS QS KS AS") == "9S TS JS QS KS AS"


def test_the_ace_is_low_high_or_both_as_the_game_has_it() -> None:
    assert lying("black-twos", "run", "JC QC KC AC") == "JC QC KC AC"
    assert lying("black-twos", "run", "AH 2H 3H 4H") == "AH 2H 3H 4H"
    assert lying("davis", "run", "JC QC KC AC") == "JC QC KC AC"
    assert lying("davis", "run", "AH 2H 3H 4H") == "ace_low"
    assert lying("davis", "run", "AH 2H 3H 4H", {"ace": "low"}) == "AH 2H 3H 4H"
    assert lying("davis", "run", "JC QC KC AC", {"ace": "low"}) == "run_not_consecutive"


@pytest.mark.parametrize("preset", ["davis", "black-twos", "jokers"])
def test_a_run_goes_round_the_corner_only_where_the_game_has_it_so(preset: str) -> None:
    assert lying(preset, "run", "QH KH AH 2H") == "run_not_consecutive"
    assert lying("jokers", "run", "QH KH AH 2H", CORNER) == "QH KH AH 2H"


def test_a_run_has_thirteen_cards_at_most_or_fourteen_between_two_aces() -> None:
    from_two = "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    assert lying("davis", "run", f"{from_two} AH") == f"{from_two} AH"
    assert lying("davis", "run", f"{from_two} AH AH") == "run_too_long"
    assert lying("jokers", "run", f"{from_two} AH AH") == f"AH {from_two} AH"
    assert lying("jokers", "run", f"{from_two} AH AH", CORNER) == "run_too_long"
    assert lying("jokers", "run", f"{from_two} AH JK JK", FREE) == "run_too_long"


def test_in_a_corner_run_each_rank_comes_once() -> None:
    assert lying("jokers", "run", "QH KH AH 2H QH", CORNER) == "run_not_consecutive"


def test_a_wild_with_several_readings_is_named() -> None:
    assert readings_of("davis", "run", "JD QD KD JK") == ("TD", "AD")
    assert lying("davis", "run", "JD QD KD JK(AD)") == "JD QD KD JK(AD)"
    assert readings_of("davis", "run", "9D TD JD JK") == ("8D", "QD")


def test_a_named_wild_keeps_its_role_and_the_run_grows_beyond_it() -> None:
    run: Json = {"kind": "run", "size": 4}
    t = table("davis", ["9D TD JD JK QD 2C", "QC", "JC"], overrides={"contracts": [[run], [run]]})
    t.answer(ANNA, lay_down(("run", "9D TD JD JK(8D)")))
    assert t.lies("m1") == "JK(8D) 9D TD JD"
    t.answer(ANNA, LayOff("m1", placed("QD")))
    assert t.lies("m1") == "JK(8D) 9D TD JD QD"


def test_a_role_that_is_no_card_or_another_cards_place_is_refused() -> None:
    for text in ("9D TD JD JK(KD)", "9D TD JD JK(8H)", "9D TD JD JK(X)", "9D TD JD JK()X", "9D(8D) TD JD JK"):
        assert lying("davis", "run", text) == "role_not_possible"
    assert lying("davis", "set", "9D 9H JK(8)") == "role_not_possible"
    assert lying("davis", "set", "9D 9H JK(9S)") == "role_not_possible"


def test_a_card_wild_by_its_face_is_natural_in_its_own_place() -> None:
    assert lying("black-twos", "run", "AS 2S 3S 4S") == "AS 2S 3S 4S"
    assert lying("black-twos", "set", "2H 2D 2S") == "2H 2D 2S"
    assert lying("black-twos", "run", "3S 4S 5S 2S") == "2S 3S 4S 5S"
    assert lying("black-twos", "run", "3S 4S 5S 2S(6S)") == "3S 4S 5S 2S(6S)"


def test_a_natural_two_counts_as_natural_in_every_limit() -> None:
    one_each: dict[str, Json] = {"max_wilds": {"kind": "per_meld", "n": 1}}
    assert lying("black-twos", "run", "AS 2S 3S 2C(4S)", one_each) == "AS 2S 3S 2C(4S)"
    assert lying("black-twos", "run", "AH 2S(2H) 3H 2C(4H)", one_each) == "too_many_wilds"


@pytest.mark.parametrize(
    ("limit", "allowed", "refused"),
    [
        ({"kind": "unlimited"}, "9D JK(TD) JK(JD) JK(QD) JK(KD)", None),
        ({"kind": "per_meld", "n": 1}, "9D TD JD JK(QD)", "9D TD JK(JD) JK(QD)"),
        ({"kind": "per_meld", "n": 0}, "9D TD JD QD", "9D TD JD JK(QD)"),
        ({"kind": "at_most_half"}, "9D TD JK(JD) JK(QD)", "9D TD JK(JD) JK(QD) JK(KD)"),
        ({"kind": "not_more_than_naturals"}, "9D TD JK(JD) JK(QD)", "9D TD JK(JD) JK(QD) JK(KD)"),
        ({"kind": "min_naturals", "n": 3}, "9D TD JD JK(QD) JK(KD)", "9D TD JK(JD) JK(QD)"),
    ],
)
def test_the_limit_on_wilds_is_a_knob(limit: dict[str, Json], allowed: str, refused: str | None) -> None:
    knob: dict[str, Json] = {"max_wilds": limit}
    assert lying("jokers", "run", allowed, knob) == allowed
    if refused is not None:
        assert lying("jokers", "run", refused, knob) == "too_many_wilds"


def test_a_limit_may_hold_for_the_first_laying_only() -> None:
    for at, more in (("always", IllegalMove("too_many_wilds")), ("first_laying", None)):
        t = table(
            "jokers", ["JK KC", "QC", "JC"], melds=[meld(BORIS, "run", "9D TD JD JK(QD)")], down=[ANNA, BORIS],
            overrides={"max_wilds": {"kind": "per_meld", "n": 1, "at": at}},
        )  # fmt: skip
        lay_off = LayOff("m1", placed("JK(KD)"))
        if more is None:
            t.answer(ANNA, lay_off)
            assert t.lies("m1") == "9D TD JD JK(QD) JK(KD)"
        else:
            assert t.refusal(ANNA, lay_off) == more
    first: dict[str, Json] = {"max_wilds": {"kind": "per_meld", "n": 1, "at": "first_laying"}}
    assert lying("jokers", "run", "9D TD JK(JD) JK(QD)", first) == "too_many_wilds"


def test_whether_two_wilds_may_touch_is_a_knob() -> None:
    apart: dict[str, Json] = {**FREE, "wilds_adjacent": False}
    assert lying("jokers", "run", "9D JK(TD) JK(JD) QD", FREE) == "9D JK(TD) JK(JD) QD"
    assert lying("jokers", "run", "9D JK(TD) JK(JD) QD", apart) == "wilds_adjacent"
    assert lying("jokers", "run", "9D JK(TD) JD JK(QD)", apart) == "9D JK(TD) JD JK(QD)"
    assert lying("jokers", "set", "9D JK JK", apart) == "9D JK(9) JK(9)"


def test_whether_a_meld_may_be_all_wild_is_a_knob() -> None:
    assert lying("jokers", "set", "JK(9) JK(9) JK(9)", FREE) == "all_wild"
    assert lying("jokers", "set", "JK(9) JK(9) JK(9)", {**FREE, "all_wild_melds": True}) == "JK(9) JK(9) JK(9)"


def test_a_set_of_wilds_only_has_every_rank_as_its_reading() -> None:
    readings = readings_of("jokers", "set", "JK JK JK", {**FREE, "all_wild_melds": True})
    assert readings == ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")


def test_a_run_in_any_suit_asks_for_the_ranks_alone() -> None:
    assert lying("jokers", "run_any_suit", "9D TC JK QS") == "9D TC JK(J) QS"
    assert lying("ten-phases", "run_any_suit", "9R 10B W 12Y") == "9R 10B W(11) 12Y"


def test_a_colour_meld_asks_for_the_colour_alone() -> None:
    assert lying("ten-phases", "colour", "1R 1R 5R 7R 9R 12R W") == "1R 1R 5R 7R 9R 12R W(R)"
    assert lying("ten-phases", "colour", "1R 1R 5R 7R 9R 12R 4B") == "colour_mixed"


def test_a_skip_is_in_no_meld() -> None:
    assert lying("ten-phases", "set", "9R 9B X") == "role_not_possible"


def test_the_contract_is_met_by_assignment_not_by_order() -> None:
    run, nines = new_meld("run", "8H JK(9H) JK(TH) JK(JH)"), new_meld("set", "9C 9D 9S 9H")
    hand = "8H JK JK JK 9C 9D 9S 9H KC"
    for melds in ((run, nines), (nines, run)):
        t = going_down("jokers", hand, LayDown(melds), number=2, overrides=FREE)
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
