"""The stock and its renewal, rounds that end, scores, dealers and winners."""

from collections import Counter

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.cards import deck_list
from domain.commands import DealRound, Discard, DrawStock, OpenGame, Pace, ScoreRound, SeatPlan, StartGame
from domain.decide import decide
from domain.evolve import fold
from domain.luck import link
from domain.presets import preset, ruleset_with
from domain.refusals import Outdated, Refused
from domain.scoring import hand_points
from domain.state import Game
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, cards, table

PILE = ((ANNA, "3C"), (BORIS, "4D"), (CLARA, "5H"))


def test_the_pile_without_its_top_becomes_the_stock() -> None:
    t = table("jokers", ["KC", "QC QD", "JC"], step="draw", turn=BORIS, stock="", pile=PILE)
    events = t.answer(BORIS, DrawStock())
    renewed = events[0]
    assert isinstance(renewed, e.StockRenewed)
    assert sorted(renewed.stock) == ["3C", "4D"]
    assert t.pile == ("5H",)
    assert len(t.round.stock) == 1


def test_davis_turns_the_pile_over_and_draws_the_oldest_first() -> None:
    t = table("davis", ["KC", "QC QD", "JC"], step="draw", turn=BORIS, stock="", pile=PILE)
    t.answer(BORIS, DrawStock())
    assert "3C" in t.hand(BORIS)
    assert t.round.stock == ("4D",)


def test_with_stock_and_pile_empty_the_draw_is_skipped_or_the_round_ends() -> None:
    for both_empty, last in (("skip_draw", e.DrawSkipped), ("end_round", e.RoundEnded)):
        t = table(
            "davis", ["KC", "QC QD", "JC"], step="draw", turn=BORIS, stock="", pile=PILE[-1:],
            overrides={"stock_out": {"both_empty": both_empty}},
        )  # fmt: skip
        assert isinstance(t.answer(BORIS, DrawStock())[-1], last)


def test_a_shortage_after_the_last_renewal_ends_the_round_and_everybody_is_counted() -> None:
    t = table("davis", ["KC", "QC QD", "JC"], step="draw", turn=BORIS, stock="", pile=PILE)
    t.game = replace(t.game, round=replace(t.round, renewals=3))
    ended = t.answer(BORIS, DrawStock())[-1]
    assert isinstance(ended, e.RoundEnded)
    assert (ended.seat, ended.reason) == (None, "exhausted")
    scored = t.carry_out(ScoreRound(1))[0]
    assert isinstance(scored, e.RoundScored)
    assert scored.points == (10, 20, 10)


def test_a_round_in_which_nobody_can_draw_for_two_laps_ends() -> None:
    t = table("davis", ["KC KD KH KS", "QC QD QH QS"], step="draw", stock="", pile=())
    for turn in range(4):
        seat = turn % 2
        t.answer(seat, DrawStock())
        t.answer(seat, Discard(t.hand(seat)[0]))
        if turn < 3:
            t.game = replace(t.game, round=replace(t.round, pile=(), discard_open=False, window=None))
    assert isinstance(t.events[-1], e.RoundEnded)


@pytest.mark.parametrize(
    ("preset_name", "hand", "points"),
    [
        ("davis", "2H 7D 8C KS AH JK", 100),
        ("black-twos", "2H 2S KD AH", 2 + 25 + 10 + 15),
        ("jokers", "5D", 5),
    ],
)
def test_cards_left_in_hand_cost_their_points(preset_name: str, hand: str, points: int) -> None:
    assert hand_points(cards(hand), preset(preset_name)) == points


@pytest.mark.parametrize(
    ("alternative", "hand", "points"),
    [("faces_11_13", "JH QH KH", 36), ("ace_14", "AH", 14), ("wild_two_20", "2H 2S", 22), ("wild_two_50", "2C", 50)],
)
def test_the_named_alternatives_of_the_finnish_scoring(alternative: str, hand: str, points: int) -> None:
    rules = ruleset_with("black-twos", {"points": {"use": [alternative]}})
    assert hand_points(cards(hand), rules) == points


def started(preset_name: str = "davis", players: int = 4) -> Table:
    opened = OpenGame("gam_x", preset(preset_name), Pace(), (SeatPlan("bot", None, "easy"),) * players, SEED_COMMITMENT)
    events = decide(opened, fold([]))
    game = fold(events)
    assert isinstance(game, Game)
    t = Table(game)
    t.carry_out(StartGame())
    return t


SEED = bytes(range(32))
SEED_COMMITMENT = link(SEED, 0).hex()


def deal(t: Table, number: int) -> None:
    t.carry_out(DealRound(number, link(SEED, number).hex()))


def go_out(t: Table, seat: int) -> None:
    t.happens(e.RoundEnded(seat, "out", tuple(other.hand for other in t.game.seats), t.round.secret))


@pytest.mark.parametrize("preset_name", ["davis", "jokers", "black-twos"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_card_of_the_deck_is_dealt_once(preset_name: str, players: int) -> None:
    t = started(preset_name, players)
    deal(t, 1)
    rules, size = t.game.rules, t.game.rules.deck.sizes[players]
    hands = [card for seat in t.game.seats for card in seat.hand]
    assert Counter([*hands, *t.pile, *t.round.stock]) == Counter(deck_list("french", size.packs, size.jokers))
    each, extra = rules.deal.cards[0], rules.deal.forehand_extra
    forehand = (t.round.dealer + 1) % players
    assert [len(seat.hand) for seat in t.game.seats] == [each + (extra and seat == forehand) for seat in range(players)]
    assert t.round.turn == forehand


def test_the_deal_passes_one_seat_each_round_whoever_won() -> None:
    t = started()
    dealers = []
    for number in range(1, 6):
        deal(t, number)
        dealers.append(t.round.dealer)
        go_out(t, DAVID)
        t.carry_out(ScoreRound(number))
    first = dealers[0]
    assert dealers == [(first + passed) % 4 for passed in range(5)]


def test_a_deal_or_a_count_that_comes_twice_changes_nothing() -> None:
    t = started()
    deal(t, 1)
    with pytest.raises(Refused) as again:
        deal(t, 1)
    assert again.value.broken == Outdated()
    go_out(t, ANNA)
    t.carry_out(ScoreRound(1))
    with pytest.raises(Refused):
        t.carry_out(ScoreRound(1))


def test_the_lowest_total_wins_and_equal_totals_share() -> None:
    t = table("davis", ["", "2C", "2D", "KC"], number=7)
    seats = t.game.seats
    t.game = replace(t.game, seats=(replace(seats[ANNA], score=100), *seats[1:]))
    go_out(t, ANNA)
    finished = t.carry_out(ScoreRound(7))[-1]
    assert finished == e.GameFinished((BORIS, CLARA), (100, 5, 5, 10))


def test_the_player_who_goes_out_scores_nothing_and_cards_on_the_table_never_count() -> None:
    t = table("jokers", ["", "5D", "KC"])
    go_out(t, ANNA)
    scored = t.carry_out(ScoreRound(1))[0]
    assert isinstance(scored, e.RoundScored)
    assert scored.points == (0, 5, 10)
