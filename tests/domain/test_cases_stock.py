"""A stock that runs out: when it is renewed, with which cards, and when a round is stuck."""

from collections import Counter
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.commands import Buy, Discard, DrawStock, LeaveForGood, ScoreRound, TakeDiscard
from domain.presets import Json
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, cards, kinds, meld, open_discard, table

PILE = ((ANNA, "3C"), (BORIS, "4D"), (CLARA, "5H"))
NO_BUYS: Json = {"allowed": False}


def short(
    preset: str = "davis", *, stock: str = "", pile: Sequence[tuple[int | None, str]] = PILE, **knobs: Json
) -> Table:
    """Boris is in turn; the stock is as good as empty."""
    return table(
        preset, ["KC KD", "QC QD", "JC JD", "TC TD"], step="draw", turn=BORIS, stock=stock, pile=pile, overrides=knobs
    )


def all_cards(t: Table) -> Counter[str]:
    in_hands = [card for seat in t.game.seats for card in seat.hand]
    return Counter([*in_hands, *t.round.stock, *t.pile])


@pytest.mark.parametrize("how", ["shuffle", "turn_over"])
def test_the_stock_is_renewed_when_a_card_is_needed_and_no_earlier(how: str) -> None:
    t = short(stock="6C", stock_out={"how": how}, buy=NO_BUYS)
    before = all_cards(t)
    assert kinds(t.answer(BORIS, DrawStock())) == ["CardDrawn"]
    assert (t.round.stock, len(t.pile)) == ((), 3)
    t.answer(BORIS, Discard("QC"))
    assert kinds(t.answer(CLARA, DrawStock())) == ["StockRenewed", "CardDrawn"]
    assert all_cards(t) == before


def test_turned_over_the_oldest_discard_is_drawn_first_and_the_top_stays() -> None:
    t = short()
    t.answer(BORIS, DrawStock())
    assert "3C" in t.hand(BORIS)
    assert (t.round.stock, t.pile) == (("4D",), ("5H",))


def test_a_shuffled_renewal_is_the_same_again_for_the_same_secret_and_another_for_the_next() -> None:
    many = tuple((ANNA, card) for card in cards("3C 4C 5C 6C 7C 8C 9C TC 3H 4H 5H 6H 7H 8H"))
    t = short("jokers", pile=many)
    t.game = replace(t.game, game_id="gam_one")
    again, second = Table(t.game), Table(replace(t.game, round=replace(t.round, renewals=1)))
    orders = []
    for each in (t, again, second):
        renewed = each.answer(BORIS, DrawStock())[0]
        assert isinstance(renewed, e.StockRenewed)
        orders.append(renewed.stock)
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_a_buyers_missing_penalty_card_renews_the_stock_without_the_bought_card() -> None:
    t = open_discard(
        "davis", ["KC KD", "QC QD", "JC JD", "TC TD"], "7H", stock="6C", below=((CLARA, "3C"), (DAVID, "4D")),
        overrides={"uncovered": "closed"},
    )  # fmt: skip
    t.answer(BORIS, DrawStock())
    assert kinds(t.answer(CLARA, Buy("7H")))[:4] == ["BuyRequested", "ClaimsClosed", "StockRenewed", "CardBought"]
    assert sorted(t.hand(CLARA)) == ["3C", "6C", "7H", "JC", "JD"]
    assert t.pile == ("4D",)


def test_what_is_missing_after_the_renewal_is_not_drawn_and_is_no_shortage() -> None:
    t = open_discard(
        "davis", ["KC KD", "QC QD", "JC JD", "TC TD"], "7H", stock="6C", below=((DAVID, "4D"),),
    )  # fmt: skip
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert sorted(t.hand(CLARA)) == ["6C", "7H", "JC", "JD"]
    assert t.round.step == "draw"


def test_after_the_last_stock_card_went_as_a_penalty_the_next_draw_still_works() -> None:
    t = open_discard(
        "jokers", ["KC KD", "QC QD", "JC JD", "TC TD"], "7H", stock="6C", below=((CLARA, "3C"), (DAVID, "4D")),
    )  # fmt: skip
    t.answer(BORIS, DrawStock())
    events = t.answer(CLARA, Buy("7H"))
    assert kinds(events) == ["BuyRequested", "ClaimsClosed", "CardBought", "StockRenewed", "CardDrawn"]
    assert "3C" in t.hand(BORIS)
    assert t.round.stock == ()


def test_a_shortage_skips_the_draw_and_the_turn_goes_on_with_a_discard() -> None:
    t = short(pile=PILE[-1:])
    assert kinds(t.answer(BORIS, DrawStock())) == ["DrawSkipped"]
    assert t.asked() == {BORIS: "play"}
    assert t.hand(BORIS) == ("QC", "QD")
    t.answer(BORIS, Discard("QC"))
    assert t.round.turn == CLARA


def test_the_open_discard_may_still_be_taken_when_nothing_can_be_drawn() -> None:
    t = open_discard("davis", ["KC KD", "QC QD", "JC JD"], "7H", stock="", below=())
    t.answer(BORIS, TakeDiscard())
    assert "7H" in t.hand(BORIS)


@pytest.mark.parametrize("both_empty", ["skip_draw", "end_round"])
def test_the_shortage_after_the_last_renewal_ends_the_round_for_everybody(both_empty: str) -> None:
    knob: dict[str, Json] = {"max_renewals": 2, "both_empty": both_empty}
    t = short(stock_out=knob)
    t.game = replace(t.game, round=replace(t.round, renewals=2))
    ended = t.answer(BORIS, DrawStock())[-1]
    assert isinstance(ended, e.RoundEnded)
    assert (ended.seat, ended.reason) == (None, "exhausted")
    scored = t.carry_out(ScoreRound(1))[0]
    assert isinstance(scored, e.RoundScored)
    assert all(points > 0 for points in scored.points)


def test_without_any_renewal_the_first_shortage_ends_the_round() -> None:
    t = short(stock_out={"max_renewals": 0})
    assert kinds(t.answer(BORIS, DrawStock())) == ["RoundEnded"]


def test_a_shortage_may_end_the_round_at_once() -> None:
    t = short(pile=PILE[-1:], stock_out={"both_empty": "end_round"})
    assert kinds(t.answer(BORIS, DrawStock())) == ["RoundEnded"]


@pytest.mark.parametrize("laps", [1, 2])
def test_a_round_ends_after_some_laps_in_which_nobody_draws_or_takes_a_card(laps: int) -> None:
    t = table(
        "davis", ["KC KD KH KS", "QC QD QH QS", "JC JD JH JS"], step="draw", stock="", pile=(),
        overrides={"idle_laps": {"no_draw": laps}, "buy": NO_BUYS},
    )  # fmt: skip
    turns = 0
    while t.round.step != "scoring":
        seat = t.round.turn
        t.answer(seat, DrawStock())
        t.answer(seat, Discard(t.hand(seat)[0]))
        t.game = replace(t.game, round=replace(t.round, pile=t.round.pile[-1:]))
        turns += 1
    assert turns == laps * 3


def test_a_lap_is_as_long_as_there_are_seats_that_still_play() -> None:
    t = table(
        "davis", ["KC KD", "QC QD", "JC JD", "TC TD"], step="draw", stock="", pile=(),
        overrides={"idle_laps": {"no_draw": 1}, "buy": NO_BUYS, "leaver": "out"},
    )  # fmt: skip
    t.carry_out(LeaveForGood(BORIS))
    for seat in (ANNA, CLARA, DAVID):
        assert t.round.turn == seat
        t.answer(seat, DrawStock())
        t.answer(seat, Discard(t.hand(seat)[0]))
        t.game = replace(t.game, round=replace(t.round, pile=t.round.pile[-1:]))
    assert isinstance(t.events[-1], e.RoundEnded)


@pytest.mark.parametrize("laps", [3, 10])
def test_a_round_ends_after_some_laps_in_which_no_card_leaves_the_stock_and_none_is_laid(laps: int) -> None:
    t = open_discard(
        "davis", ["KC KD", "QC QD"], "7H", turn=ANNA, by=BORIS, overrides={"idle_laps": {"no_progress": laps}}
    )
    turns = 0
    while t.round.step != "scoring":
        seat = t.round.turn
        t.answer(seat, TakeDiscard())
        t.answer(seat, Discard(t.hand(seat)[0]))
        turns += 1
    assert turns == laps * 2


def test_a_card_laid_is_progress() -> None:
    t = table("davis", ["4H KC KD", "QC QD"], melds=[meld(BORIS, "run", "5H 6H 7H 8H")], down=[ANNA, BORIS])
    t.game = replace(t.game, round=replace(t.round, stale_turns=19))
    laying = next(move for move in t.options(ANNA) if not isinstance(move, Discard))
    t.answer(ANNA, laying)
    assert t.round.stale_turns == 0
    t.answer(ANNA, Discard("KC"))
    assert t.round.step == "draw"
