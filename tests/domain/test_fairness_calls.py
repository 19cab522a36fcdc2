"""Calls of Shanghai in the check of a game: who draws the penalty card, and which one, follows from rules and luck."""

from typing import Any

import pytest
from msgspec.structs import replace

from domain import shown as v
from domain.cards import in_deck_order
from domain.fairness_deal import Luck, Setting
from domain.fairness_report import Code
from domain.fairness_round import Differs, RoundAgain
from domain.luck import below, link
from domain.meld import Meld, Placed
from domain.presets import ruleset_with

ANNA, BORIS, CLARA = 0, 1, 2
SEED = bytes(range(32))
NONCES = (None, "00112233445566778899aabbccddeeff", None, None)


def table(call: str, **more: Any) -> RoundAgain:
    """Anna, who is forehand, has laid three cards and discarded one; it is Boris's turn, and Clara may call."""
    rules = ruleset_with("davis", {"shanghai": {"call": call}, **more})
    round_ = RoundAgain(Luck(Setting("gam_test", rules, 4, NONCES), 1, link(SEED, 1)))
    round_.follow(ANNA, turn())
    round_.follow(ANNA, v.CardDrawnData("stock", len(round_.stock) - 1))
    laid = tuple(map(Placed, round_.hands[ANNA][:3]))
    round_.follow(ANNA, v.MeldsLaidData((Meld("m1", ANNA, "set", laid),)))
    round_.follow(ANNA, v.CardDiscardedData(round_.hands[ANNA][0], declared=False, skip=None))
    round_.follow(BORIS, turn())
    return round_


def turn() -> v.TurnBeganData:
    return v.TurnBeganData("draw", discard_open=True, waiting=1, skipped=())


def called(round_: RoundAgain, **shown: Any) -> v.ShanghaiCalledData:
    """The event of a call of the pile's top, as it must be shown with the call of the rules."""
    card, stock, call = round_.pile[-1].card, len(round_.stock), round_.rules.shanghai.call
    lies = (*round_.melds["m1"], Placed(card))
    data = v.ShanghaiCalledData("m1", card, None, None, CLARA, 1, stock - 1, lies, taken_back=False)
    if call == "culprit_draws":
        data = replace(data, from_seat=CLARA, to_seat=round_.pile[-1].by, stock_count=stock)
    elif call == "taken_back":
        data = replace(data, to_seat=round_.pile[-1].by, meld=round_.melds["m1"], taken_back=True)
    return replace(data, **shown)


def test_the_caller_draws_from_the_stock() -> None:
    round_ = table("caller_draws")
    penalty = round_.stock[0]
    round_.follow(CLARA, called(round_, penalty_card=penalty))
    assert (len(round_.hands[CLARA]), round_.hands[CLARA][-1]) == (12, penalty)
    assert round_.pile[-1].by is None


def test_the_discarder_draws_from_the_callers_hand() -> None:
    round_ = table("culprit_draws")
    hand = in_deck_order(round_.hands[CLARA])
    picked = hand[below(round_.luck("pick/1"), 11)]
    round_.follow(CLARA, called(round_, penalty_card=picked))
    assert (len(round_.hands[CLARA]), round_.hands[ANNA][-1]) == (10, picked)


def test_the_discarder_takes_the_card_back() -> None:
    round_ = table("taken_back")
    card, penalty = round_.pile[-1].card, round_.stock[0]
    round_.follow(CLARA, called(round_))
    assert round_.hands[ANNA][-2:] == [card, penalty]


def test_nobody_draws_from_the_caller_of_a_card_that_nobody_has_discarded() -> None:
    round_ = table("culprit_draws")
    round_.follow(CLARA, called(round_))
    assert round_.pile[-1].by is None
    with pytest.raises(Differs):
        round_.follow(CLARA, called(round_, from_seat=CLARA, to_seat=BORIS))
    before = list(round_.hands[CLARA])
    round_.follow(CLARA, called(round_, from_seat=None, to_seat=None, penalty_count=0))
    assert round_.hands[CLARA] == before


def test_nobody_draws_for_a_discarder_who_has_left() -> None:
    round_ = table("culprit_draws")
    round_.follow(ANNA, v.SeatChangedData(None, None, "open", None, "out"))
    round_.follow(CLARA, called(round_, from_seat=None, to_seat=None, penalty_count=0))
    assert len(round_.hands[CLARA]) == 11


@pytest.mark.parametrize("call", ["caller_draws", "culprit_draws", "taken_back"])
@pytest.mark.parametrize(
    ("shown", "codes"),
    [
        ({"from_seat": BORIS}, ("penalty_differs",)),
        ({"to_seat": BORIS}, ("penalty_differs",)),
        ({"to_seat": None}, ("penalty_differs",)),
        ({"penalty_count": 0}, ("penalty_differs", "card_count_differs")),
        ({"penalty_card": "ZZ"}, ("card_differs",)),
        ({"card": "ZZ"}, ("card_differs",)),
        ({"stock_count": 3}, ("stock_count_differs",)),
        ({"meld": ()}, ("meld_differs",)),
        ({"meld_id": "m2"}, ("meld_differs",)),
    ],
)
def test_a_call_that_is_shown_otherwise_is_found(call: str, shown: dict[str, Any], codes: tuple[Code, ...]) -> None:
    round_ = table(call)
    with pytest.raises(Differs) as found:
        round_.follow(CLARA, called(round_, **shown))
    assert found.value.code in codes


@pytest.mark.parametrize("call", ["caller_draws", "culprit_draws", "taken_back"])
def test_a_card_taken_back_against_the_rules_is_found(call: str) -> None:
    round_ = table(call)
    lies = round_.melds["m1"] if call != "taken_back" else (*round_.melds["m1"], Placed(round_.pile[-1].card))
    with pytest.raises(Differs):
        round_.follow(CLARA, called(round_, taken_back=call != "taken_back", meld=lies))


def test_a_false_caller_draws_from_the_stock() -> None:
    round_ = table("caller_draws")
    card, penalty, stock = round_.pile[-1].card, round_.stock[0], len(round_.stock)
    round_.follow(CLARA, v.FalseCalledData("m1", card, 1, stock - 1, (penalty,)))
    assert round_.hands[CLARA][-1] == penalty


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        ({"penalty_cards": ("ZZ",)}, "card_differs"),
        ({"card": "ZZ"}, "card_differs"),
        ({"penalty_count": 0}, "card_count_differs"),
        ({"stock_count": 3}, "stock_count_differs"),
    ],
)
def test_a_false_call_that_is_shown_otherwise_is_found(shown: dict[str, Any], code: Code) -> None:
    round_ = table("caller_draws")
    right = v.FalseCalledData("m1", round_.pile[-1].card, 1, len(round_.stock) - 1)
    with pytest.raises(Differs) as found:
        round_.follow(CLARA, replace(right, **shown))
    assert found.value.code == code


def test_a_meld_of_somebody_else_is_found() -> None:
    round_ = table("caller_draws")
    round_.follow(BORIS, v.CardDrawnData("stock", len(round_.stock) - 1))
    laid = tuple(map(Placed, round_.hands[BORIS][:3]))
    for meld in (Meld("m2", CLARA, "set", laid), Meld("m1", BORIS, "set", laid)):
        with pytest.raises(Differs) as found:
            round_.follow(BORIS, v.MeldsLaidData((meld,)))
        assert found.value.code == "meld_differs"
        round_.hands[BORIS][:0] = [placed.card for placed in laid]


def test_nobody_but_forehand_begins() -> None:
    round_ = RoundAgain(table("caller_draws").luck)
    with pytest.raises(Differs) as found:
        round_.follow(BORIS, turn())
    assert found.value.code == "not_in_turn"
    round_.follow(BORIS, replace(turn(), skipped=(ANNA,)))


def test_nothing_is_taken_from_a_pile_that_is_not_there() -> None:
    round_ = table("caller_draws")
    round_.pile.clear()
    with pytest.raises(Differs) as found:
        round_.follow(BORIS, v.CardDrawnData("discard", len(round_.stock)))
    assert found.value.code == "card_differs"


@pytest.mark.parametrize("shown", [{"how": "turn_over"}, {"stock_count": 2}, {"discard_count": 3}])
def test_a_renewal_that_is_shown_otherwise_is_found(shown: dict[str, Any]) -> None:
    round_ = table("caller_draws", stock_out={"how": "shuffle"})
    round_.stock.clear()
    with pytest.raises(Differs) as found:
        round_.follow(None, replace(v.StockRenewedData("shuffle", 1, 1), **shown))
    assert found.value.code == "renewal_differs"


@pytest.mark.parametrize(("stock", "kept"), [(1, 1), (0, 2)], ids=["too-early", "two-kept"])
def test_a_renewal_that_the_draw_does_not_need_is_found(stock: int, kept: int) -> None:
    round_ = table("caller_draws", stock_out={"how": "shuffle"})
    round_.pile *= 2
    del round_.stock[stock:]
    round_.follow(None, v.StockRenewedData("shuffle", stock + 4 - kept, kept))
    with pytest.raises(Differs) as found:
        round_.follow(BORIS, v.CardDrawnData("stock", len(round_.stock) - 1))
    assert found.value.code == "renewal_differs"


def test_a_renewal_too_many_is_found() -> None:
    round_ = table("caller_draws", stock_out={"max_renewals": 0, "how": "shuffle"})
    with pytest.raises(Differs) as found:
        round_.follow(None, v.StockRenewedData("shuffle", len(round_.stock) + 1, 1))
    assert found.value.code == "renewal_differs"
