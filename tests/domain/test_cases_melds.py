"""What a meld may hold: sets, runs, wilds and their roles."""

from collections.abc import Mapping

import pytest

from domain.commands import LayOff
from domain.presets import Json
from domain.refusals import IllegalMove, Refused
from domain.ruleset import MeldKind
from tests.domain.table import ANNA, BORIS, lay_down, meld, placed, reason_of, table

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
