"""The game of ten phases: skip cards, and a pack that no other game has."""

from collections import Counter

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.cards import deck_list
from domain.commands import (
    ActForSeat,
    DealRound,
    Discard,
    DrawStock,
    Move,
    OpenGame,
    Pace,
    SeatPlan,
    StartGame,
    TakeDiscard,
)
from domain.decide import decide
from domain.evolve import fold
from domain.luck import link, shuffled, words
from domain.presets import preset
from domain.refusals import IllegalMove
from domain.state import Game
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, open_discard, table

FOUR = ["X 1R 2R 3R", "X 1Y 2Y 3Y", "X 1G 2G 3G", "X X 1B 2B"]
STOCK = "4R 5R 6R 7R 8R 9R 10R 11R"


def phases(*hands: str, turn: int = ANNA) -> Table:
    return table("ten-phases", hands or FOUR, turn=turn, stock=STOCK, pile=((DAVID, "12R"),))


def skips(t: Table, seat: int) -> set[int | None]:
    return {move.skip for move in t.options(seat) if isinstance(move, Discard) and move.card == "X"}


def turn_of(t: Table, seat: int, move: Move) -> None:
    t.answer(seat, DrawStock())
    t.answer(seat, move)


def test_a_skip_card_names_another_player_who_misses_the_next_turn() -> None:
    t = phases()
    assert skips(t, ANNA) == {BORIS, CLARA, DAVID}
    t.answer(ANNA, Discard("X", skip=BORIS))
    assert t.round.turn == CLARA
    began = t.events[-1]
    assert isinstance(began, e.TurnBegan)
    assert began.skipped == (BORIS,)


@pytest.mark.parametrize("skip", [ANNA, 4, -1, None])
def test_a_skip_card_needs_a_target_that_is_another_player(skip: int | None) -> None:
    assert phases().refusal(ANNA, Discard("X", skip=skip)) == IllegalMove("skip_target")


def test_no_other_card_skips_anybody() -> None:
    assert phases().refusal(ANNA, Discard("1R", skip=BORIS)) == IllegalMove("skip_target")


def test_who_will_miss_a_turn_or_has_missed_one_is_safe_until_it_has_played_one() -> None:
    t = phases()
    t.answer(ANNA, Discard("X", skip=CLARA))
    t.answer(BORIS, DrawStock())
    assert skips(t, BORIS) == {ANNA, DAVID}
    t.answer(BORIS, Discard("1Y"))
    assert t.round.turn == DAVID
    t.answer(DAVID, DrawStock())
    assert skips(t, DAVID) == {ANNA, BORIS}
    t.answer(DAVID, Discard("X", skip=BORIS))
    turn_of(t, ANNA, Discard("1R"))
    assert t.round.turn == CLARA
    turn_of(t, CLARA, Discard("1G"))
    t.answer(DAVID, DrawStock())
    assert t.game.seats[CLARA].skip == "free"
    assert skips(t, DAVID) == {ANNA, CLARA}


def test_where_nobody_can_be_chosen_the_skip_card_does_nothing() -> None:
    t = phases("X X 1R 2R", "1Y 2Y 3Y 4Y")
    t.answer(ANNA, Discard("X", skip=BORIS))
    assert t.round.turn == ANNA
    t.answer(ANNA, DrawStock())
    assert skips(t, ANNA) == {None}
    t.answer(ANNA, Discard("X"))
    assert t.round.turn == BORIS


def test_a_skip_card_that_goes_out_needs_no_target() -> None:
    t = table("ten-phases", ["X", "1Y 2Y", "1G 2G"], stock=STOCK, pile=((CLARA, "12R"),), down=[ANNA])
    assert t.options(ANNA) == (Discard("X"),)
    t.answer(ANNA, Discard("X"))
    assert isinstance(t.events[-1], e.RoundEnded)


def test_a_skip_card_on_top_is_taken_by_nobody() -> None:
    t = phases()
    t.answer(ANNA, Discard("X", skip=BORIS))
    assert t.asked() == {CLARA: "draw"}
    assert t.options(CLARA) == (DrawStock(),)
    assert t.refusal(CLARA, TakeDiscard()) == IllegalMove("discard_not_open")


def test_a_skip_card_uncovered_by_a_buy_is_not_open_either() -> None:
    t = open_discard(
        "ten-phases", FOUR, "12B", stock=STOCK, below=((DAVID, "X"),),
        overrides={"buy": {"allowed": True}, "uncovered": "reopens"},
    )  # fmt: skip
    t.answer(BORIS, DrawStock())
    options = t.options(CLARA)
    t.answer(CLARA, options[0])
    assert t.pile == ("X",)
    assert t.asked() == {BORIS: "play"}


def test_the_timer_skips_the_next_player() -> None:
    t = phases("X", "1Y 2Y", "1G 2G")
    t.game = replace(t.game, round=replace(t.round, step="draw"))
    t.game = replace(t.game, round=replace(t.round, stock=("X", "4R")))
    for _ in range(2):
        decision = t.decision(ANNA)
        assert decision is not None
        t.carry_out(ActForSeat(ANNA, decision.decision_id))
    assert t.events[-2] == e.CardDiscarded(ANNA, "X", declared=False, skip=BORIS)
    assert t.round.turn == CLARA


def test_a_skip_as_the_first_upcard_makes_forehand_miss_the_first_turn() -> None:
    seed = next(number for number in range(1, 400) if _first_upcard(number) == "X")
    seats = tuple(SeatPlan("bot", None, "normal") for _ in range(4))
    secret = seed.to_bytes(32, "big")
    opened = OpenGame("gam_x", preset("ten-phases"), Pace(), seats, link(secret, 0).hex())
    game = fold(decide(opened, fold([])))
    assert isinstance(game, Game)
    t = Table(game)
    t.carry_out(StartGame())
    t.carry_out(DealRound(1, link(secret, 1).hex()))
    forehand, second = (t.round.dealer + 1) % 4, (t.round.dealer + 2) % 4
    assert t.pile == ("X",)
    assert t.round.turn == second
    assert t.options(second) == (DrawStock(),)
    assert t.game.seats[forehand].skip == "has_missed"


def _first_upcard(seed: int) -> str:
    stream = words(link(seed.to_bytes(32, "big"), 1), "gam_x", 1, (None,) * 4, "deal")
    return shuffled(deck_list("ten-phases", 1, 0), stream)[40]


def test_a_seat_to_be_skipped_is_free_again_in_the_next_round() -> None:
    t = phases()
    t.answer(ANNA, Discard("X", skip=DAVID))
    hands = tuple(seat.hand for seat in t.game.seats)
    t.happens(e.RoundDealt(2, t.round.contracts, BORIS, "00" * 32, hands, "1R", ("2R",)))
    assert t.game.seats[DAVID].skip == "free"


def test_the_pack_has_each_number_twice_in_four_colours_and_eight_wilds_and_four_skips() -> None:
    deck = Counter(deck_list("ten-phases", 1, 0))
    assert sum(deck.values()) == 108
    assert (deck["W"], deck["X"]) == (8, 4)
    assert {deck[f"{number}{colour}"] for number in range(1, 13) for colour in "RYGB"} == {2}


def test_the_ten_phases_in_their_order() -> None:
    short = {"set": "S", "run_any_suit": "R", "colour": "C"}
    written = [
        " ".join(f"{short[part.kind]}{part.size}" for part in contract) for contract in preset("ten-phases").contracts
    ]
    assert written == ["S3 S3", "S3 R4", "S4 R4", "R7", "R8", "R9", "S4 S4", "C7", "S5 S2", "S5 S3"]
