"""Time is over: the table answers for a seat that is silent."""

from domain import events as e
from domain.commands import ActForSeat
from tests.domain.table import ANNA, BORIS, kinds, open_discard, table


def test_the_timer_plays_for_a_silent_seat_the_card_drawn_or_else_the_dearest() -> None:
    t = open_discard("davis", ["KC KD", "2C AD 7S", "JC JD"], "7H", overrides={"buy": {"allowed": False}})
    for kind in ("draw", "play"):
        decision = t.decision(BORIS)
        assert decision is not None
        assert decision.kind == kind
        t.carry_out(ActForSeat(BORIS, decision.decision_id))
    assert t.pile[-1] == "3C"
    dearest = table("davis", ["2C AD 7S", "QC", "JC"])
    decision = dearest.decision(ANNA)
    assert decision is not None
    dearest.carry_out(ActForSeat(ANNA, decision.decision_id))
    assert dearest.pile[-1] == "AD"


def test_the_timer_passes_where_a_turn_ends_without_a_discard() -> None:
    t = table("davis", ["KC", "QC QD", "JC"])
    decision = t.decision(ANNA)
    assert decision is not None
    assert kinds(t.carry_out(ActForSeat(ANNA, decision.decision_id))) == ["TurnEnded", "TurnBegan"]
    assert t.hand(ANNA) == ("KC",)


def test_the_timer_discards_the_extra_card_of_the_forehand() -> None:
    t = table("black-twos", ["2H AD 7S", "QC QD", "JC"], pile=())
    t.happens(e.TurnBegan(ANNA, "discard", discard_open=False, claimants=()))
    decision = t.decision(ANNA)
    assert decision is not None
    t.carry_out(ActForSeat(ANNA, decision.decision_id))
    assert t.pile == ("AD",)
