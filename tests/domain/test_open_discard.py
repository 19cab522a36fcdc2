"""The open discard: taking, buying, calling Shanghai, declaring, and how its window closes."""

from msgspec.structs import replace

from domain import events as e
from domain.commands import Buy, CallShanghai, Discard, DrawStock, Pass, TakeDiscard
from domain.refusals import DecisionClosed, IllegalMove, NotYourTurn
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, lay_down, meld, open_discard, table

FOUR = ["KC KD", "QC QD", "JC JD", "TC TD"]


def test_the_nearest_seat_after_the_player_in_turn_gets_the_card() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(DAVID, Buy("7H"))
    t.answer(CLARA, Buy("7H"))
    t.answer(BORIS, DrawStock())
    assert t.hand(CLARA) == ("3C", "JC", "3D", "JD", "7H")
    assert t.hand(DAVID) == ("TC", "TD")
    assert [seat.buys for seat in t.game.seats] == [0, 0, 1, 0]


def test_with_first_call_the_first_accepted_buy_gets_the_card() -> None:
    t = open_discard("davis", FOUR, "7H", overrides={"buy": {"priority": "first_call"}})
    t.answer(DAVID, Buy("7H"))
    t.answer(CLARA, Buy("7H"))
    t.answer(BORIS, DrawStock())
    assert "7H" in t.hand(DAVID)
    assert t.game.seats[CLARA].buys == 0


def test_a_take_waits_for_nobody_and_pending_buys_lapse_uncounted() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(CLARA, Buy("7H"))
    t.answer(DAVID, Buy("7H"))
    t.answer(BORIS, TakeDiscard())
    assert "7H" in t.hand(BORIS)
    assert [seat.buys for seat in t.game.seats] == [0, 0, 0, 0]
    assert t.asked() == {BORIS: "play"}


def test_a_buy_for_a_card_that_is_no_longer_on_top_is_refused() -> None:
    t = open_discard("davis", FOUR, "KC")
    assert t.refusal(DAVID, Buy("7H")) == IllegalMove("stale_discard")


def test_the_discarder_is_not_asked_about_his_own_discard() -> None:
    t = open_discard("davis", FOUR, "7H", by=ANNA)
    assert ANNA not in t.asked()
    assert isinstance(t.refusal(ANNA, Buy("7H")), DecisionClosed)


def test_the_first_upcard_may_be_bought_by_everybody_but_the_player_in_turn() -> None:
    t = open_discard("davis", FOUR, "7H", by=None, below=())
    assert t.asked() == {BORIS: "draw", CLARA: "claim", DAVID: "claim", ANNA: "claim"}
    assert t.refusal(BORIS, Buy("7H")) == IllegalMove("must_draw")


def test_a_third_buy_in_a_round_is_not_offered() -> None:
    t = open_discard("davis", FOUR, "7H")
    seats = t.game.seats
    t.game = replace(t.game, seats=(*seats[:DAVID], replace(seats[DAVID], buys=2)))
    assert Buy("7H") not in t.options(DAVID)
    assert t.refusal(DAVID, Buy("7H")) == IllegalMove("buy_limit_reached")


def test_the_window_closes_when_all_with_a_right_have_passed_and_the_draw_follows_by_itself() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(BORIS, DrawStock())
    assert t.hand(BORIS) == ("QC", "QD")
    t.answer(CLARA, Pass())
    events = t.answer(DAVID, Pass())
    assert [type(event) for event in events] == [e.Passed, e.ClaimsClosed, e.CardDrawn]
    assert t.hand(BORIS) == ("3C", "QC", "QD")


def test_a_kept_decline_is_carried_out_when_the_time_is_over() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(BORIS, DrawStock())
    events = t.time_is_over()
    assert [type(event) for event in events] == [e.ClaimsClosed, e.CardDrawn]
    assert t.asked() == {BORIS: "play"}


def test_a_decline_is_final() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(BORIS, DrawStock())
    assert isinstance(t.refusal(BORIS, TakeDiscard()), DecisionClosed)


def test_time_takes_nobodys_right_before_the_player_in_turn_has_declined() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(CLARA, Pass())
    t.answer(DAVID, Buy("7H"))
    assert t.asked() == {BORIS: "draw"}
    t.answer(BORIS, DrawStock())
    assert "7H" in t.hand(DAVID)


def test_the_full_pace_waits_for_the_time_even_when_all_have_answered() -> None:
    t = open_discard("davis", FOUR, "7H", claims="full")
    for seat, move in ((BORIS, DrawStock()), (CLARA, Pass()), (DAVID, Pass())):
        t.answer(seat, move)
    assert t.asked() == {}
    t.time_is_over()
    assert t.asked() == {BORIS: "play"}


def test_the_window_closes_at_once_when_the_nearest_seat_buys_and_nobody_can_call() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert "7H" in t.hand(CLARA)


def test_two_players_are_asked_about_nothing_but_the_first_upcard() -> None:
    assert open_discard("davis", ["KC KD", "QC QD"], "7H").asked() == {BORIS: "draw"}
    assert open_discard("davis", ["KC KD", "QC QD"], "7H", by=None).asked() == {BORIS: "draw", ANNA: "claim"}


def test_the_buyer_stays_out_of_turn() -> None:
    t = open_discard("jokers", ["KC KD", "QC QD", "7D 7S 9C 9D 9H JC", "TC TD"], "7H")
    t.answer(CLARA, Buy("7H"))
    t.answer(DAVID, Pass())
    down = lay_down(("set", "7H 7D 7S"), ("set", "9C 9D 9H"))
    assert isinstance(t.refusal(CLARA, down), DecisionClosed)
    t.answer(BORIS, DrawStock())
    assert t.round.turn == BORIS


def test_playing_in_answer_to_a_claim_is_playing_out_of_turn() -> None:
    t = open_discard("davis", FOUR, "7H")
    assert t.refusal(CLARA, Discard("JC")) == NotYourTurn(CLARA, BORIS)


def test_a_card_uncovered_by_a_buy_is_open_again_and_the_player_in_turn_is_asked_anew() -> None:
    t = open_discard("davis", FOUR, "7H", below=((CLARA, "4S"),))
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert t.pile == ("4S",)
    assert t.asked() == {BORIS: "draw", DAVID: "claim", ANNA: "claim"}
    assert TakeDiscard() in t.options(BORIS)
    assert (t.round.idle_turns, t.round.stale_turns) == (0, 0)  # a card was taken, and some left the stock


def test_without_reopening_the_draw_follows_a_buy() -> None:
    t = open_discard("jokers", FOUR, "7H")
    t.answer(BORIS, DrawStock())
    t.answer(CLARA, Buy("7H"))
    assert t.asked() == {BORIS: "play"}


def test_a_pass_for_the_rest_of_the_round_is_not_asked_again() -> None:
    t = open_discard("davis", FOUR, "7H")
    t.answer(CLARA, Pass(rest_of_round=True))
    t.answer(DAVID, Pass())
    t.answer(BORIS, DrawStock())
    t.answer(BORIS, Discard("QC"))
    assert t.asked() == {CLARA: "draw", DAVID: "claim", ANNA: "claim"}
    t.answer(CLARA, DrawStock())
    t.answer(DAVID, Pass())
    t.answer(ANNA, Pass())
    t.answer(CLARA, Discard("JC"))
    t.answer(DAVID, DrawStock())
    t.answer(ANNA, Pass())
    t.answer(BORIS, Pass())
    t.answer(DAVID, Discard("TC"))
    assert t.asked() == {ANNA: "draw", BORIS: "claim"}


def test_a_caller_lays_the_card_and_the_culprit_draws_from_the_callers_hand() -> None:
    run = meld(ANNA, "run", "5S 6S 7S 8S")
    t = open_discard(
        "davis", ["KC", "QC QD", "JC JD", "2H 3H KD"], "4S", by=BORIS, turn=CLARA, melds=[run], down=[ANNA]
    )
    assert CallShanghai("m1", "low") in t.options(DAVID)
    events = t.answer(DAVID, CallShanghai("m1", "low"))
    called_ = next(event for event in events if isinstance(event, e.ShanghaiCalled))
    assert [placed.card for placed in t.round.melds[0].cards] == ["4S", "5S", "6S", "7S", "8S"]
    assert (called_.from_seat, called_.to_seat) == (DAVID, BORIS)
    assert len(t.hand(DAVID)) == 2
    assert called_.penalty_card in t.hand(BORIS)
    assert t.options(CLARA) == (DrawStock(),)


def test_a_call_voids_pending_buys_uncounted() -> None:
    run = meld(ANNA, "run", "5S 6S 7S 8S")
    t = open_discard("jokers", ["KC", "QC QD", "JC JD", "2H 3H"], "4S", by=BORIS, turn=CLARA, melds=[run], down=[ANNA])
    t.answer(DAVID, Buy("4S"))
    t.answer(ANNA, CallShanghai("m1", "low"))
    assert t.hand(ANNA) == ("3C", "KC")
    assert t.game.seats[DAVID].buys == 0
    assert t.asked() == {CLARA: "draw"}


def test_a_caller_left_without_cards_has_gone_out_though_not_down() -> None:
    run = meld(ANNA, "run", "5S 6S 7S 8S")
    t = open_discard("davis", ["KC", "QC QD", "JC JD", "KD"], "4S", by=BORIS, turn=CLARA, melds=[run], down=[ANNA])
    events = t.answer(DAVID, CallShanghai("m1", "low"))
    ended = events[-1]
    assert isinstance(ended, e.RoundEnded)
    assert (ended.seat, ended.reason) == (DAVID, "out")


def test_a_call_for_a_card_that_fits_nothing_is_refused() -> None:
    run = meld(ANNA, "run", "5S 6S 7S 8S")
    t = open_discard("davis", FOUR, "KH", melds=[run], down=[ANNA])
    assert t.refusal(CLARA, CallShanghai("m1")) == IllegalMove("false_call")
    assert t.refusal(CLARA, CallShanghai("m7")) == IllegalMove("meld_not_found")


def test_a_declared_card_may_be_neither_taken_nor_bought_nor_called() -> None:
    run = meld(DAVID, "run", "5S 6S 7S 8S")
    t = table("davis", ["KC KD", "4S QC QD", "JC JD", "TC TD"], turn=BORIS, melds=[run], down=[DAVID])
    t.answer(BORIS, Discard("4S", declare=True))
    assert t.asked() == {CLARA: "draw"}
    assert t.refusal(CLARA, TakeDiscard()) == IllegalMove("protected_discard")
    assert t.refusal(CLARA, CallShanghai("m1", "low")) == IllegalMove("protected_discard")


def test_a_declared_card_covered_and_uncovered_again_is_open_to_all_but_its_discarder() -> None:
    run = meld(DAVID, "run", "5S 6S 7S 8S")
    t = table("davis", ["JH JD", "4S QC QD", "KC KD", "TC TD"], turn=BORIS, melds=[run], down=[DAVID])
    t.answer(BORIS, Discard("4S", declare=True))
    t.answer(CLARA, DrawStock())
    t.answer(CLARA, Discard("KC"))
    t.answer(DAVID, DrawStock())
    t.answer(ANNA, Buy("KC"))
    assert t.pile[-1] == "4S"
    assert t.asked() == {DAVID: "draw", ANNA: "claim", CLARA: "claim"}
    assert TakeDiscard() in t.options(DAVID)


def test_a_card_that_fits_nothing_cannot_be_declared() -> None:
    t = table("davis", ["KC KD", "QC", "JC", "TC"])
    assert t.refusal(ANNA, Discard("KC", declare=True)) == IllegalMove("declared_fits_nothing")


def test_declaring_is_a_rule_of_davis_alone() -> None:
    run = meld(DAVID, "run", "5S 6S 7S 8S")
    t = table("jokers", ["9S KD", "QC", "JC", "TC"], melds=[run], down=[DAVID])
    assert t.refusal(ANNA, Discard("9S", declare=True)) == IllegalMove("declare_not_allowed")


def test_a_seat_that_is_down_may_be_kept_from_taking() -> None:
    free = open_discard("davis", FOUR, "7H", down=[BORIS])
    assert TakeDiscard() in free.options(BORIS)
    barred = open_discard("davis", FOUR, "7H", down=[BORIS], overrides={"down_may_take": False})
    assert TakeDiscard() not in barred.options(BORIS)
    assert barred.refusal(BORIS, TakeDiscard()) == IllegalMove("down_may_not_take")
