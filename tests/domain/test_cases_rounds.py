"""From round to round: dealing, contracts, points, and who has won."""

from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.bots import choose
from domain.commands import Answer, DealRound, DrawStock, ScoreRound
from domain.dealing import max_rounds
from domain.decide import decide
from domain.decisions import open_decisions
from domain.presets import Json, preset, ruleset_with
from domain.refusals import GameFinished, GameNotStarted, Outdated, Refused
from domain.view import view_for
from tests.domain.begun import deal, sitting
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table, cards, table


def end_round(t: Table, went_out: int | None, *, down: Sequence[int] = ()) -> list[e.Event]:
    """Ends the round with these seats down and has it counted."""
    seats = tuple(
        replace(seat, down=number in down, hand=() if number == went_out else seat.hand)
        for number, seat in enumerate(t.game.seats)
    )
    t.game = replace(t.game, seats=seats)
    t.happens(e.RoundEnded(went_out, "out" if went_out is not None else "exhausted", (), t.round.secret))
    return t.carry_out(ScoreRound(t.round.number))


def winners(t: Table) -> tuple[int, ...]:
    last = t.events[-1]
    assert isinstance(last, e.GameFinished)
    return last.winners


def with_scores(t: Table, *scores: int) -> None:
    seats = tuple(replace(seat, score=score) for seat, score in zip(t.game.seats, scores, strict=True))
    t.game = replace(t.game, seats=seats)


@pytest.mark.parametrize(
    ("preset_name", "players", "numbers"),
    [
        ("davis", 4, {1: 11, 7: 11}),
        ("contract-rummy", 4, {1: 10, 4: 10, 5: 12, 7: 12}),
        ("liverpool", 4, {1: 10, 2: 11, 3: 11, 4: 12, 7: 12}),
        ("onze", 4, {1: 11, 6: 11, 7: 13}),
    ],
)
def test_the_number_of_cards_dealt_may_go_by_the_round(preset_name: str, players: int, numbers: dict[int, int]) -> None:
    t = sitting(preset_name, players=players)
    for number in range(1, 8):
        deal(t, number)
        if number in numbers:
            assert {len(seat.hand) for seat in t.game.seats} == {numbers[number]}
        end_round(t, ANNA)


def test_each_round_has_the_next_contract_for_all_down_or_not() -> None:
    t = sitting("davis")
    for number in range(1, 8):
        deal(t, number)
        assert set(t.round.contracts) == {t.game.rules.contracts[number - 1]}
        end_round(t, ANNA, down=[ANNA])
    assert t.game.status == "finished"


def test_without_an_upcard_the_first_player_draws_from_the_stock_and_nobody_is_asked() -> None:
    t = sitting("joker-rummy")
    deal(t, 1)
    forehand = t.round.turn
    assert t.pile == ()
    assert t.asked() == {forehand: "draw"}
    assert t.options(forehand) == (DrawStock(),)


def test_the_first_upcard_is_asked_of_everybody_also_of_two() -> None:
    for players in (2, 4):
        t = sitting("davis", players=players)
        deal(t, 1)
        forehand = t.round.turn
        assert t.asked() == {seat: "draw" if seat == forehand else "claim" for seat in range(players)}


def test_counter_clockwise_everything_goes_the_other_way() -> None:
    t = sitting("carioca")
    deal(t, 1)
    first = t.round.dealer
    assert t.round.turn == (first - 1) % 4
    end_round(t, ANNA)
    deal(t, 2)
    assert t.round.dealer == (first - 1) % 4


def test_counter_clockwise_the_cards_are_dealt_from_forehand_the_other_way() -> None:
    t, mirrored = sitting("carioca"), sitting("carioca", overrides={"direction": "clockwise"})
    deal(t, 1)
    deal(mirrored, 1)
    dealer = t.round.dealer
    assert [t.hand((dealer - step) % 4) for step in range(4)] == [
        mirrored.hand((dealer + step) % 4) for step in range(4)
    ]


def test_each_player_stays_on_a_contract_until_it_is_laid_whoever_goes_out() -> None:
    t = sitting("ship-captain-crew", players=3)
    deal(t, 1)
    end_round(t, ANNA, down=[ANNA, CLARA])
    assert [seat.contract for seat in t.game.seats] == [1, 0, 1]
    deal(t, 2)
    contracts = t.game.rules.contracts
    assert t.round.contracts == (contracts[1], contracts[0], contracts[1])
    assert [view_for(t.game, seat).round.contract for seat in range(3)] == list(t.round.contracts)  # type: ignore[union-attr]


def test_who_laid_the_contract_advances_also_when_the_round_is_exhausted() -> None:
    t = sitting("ship-captain-crew", players=3)
    deal(t, 1)
    end_round(t, None, down=[BORIS])
    assert [seat.contract for seat in t.game.seats] == [0, 1, 0]


def test_the_first_one_through_all_contracts_wins_whatever_the_points() -> None:
    t = table("ship-captain-crew", ["KC", "QC", ""], number=7)
    with_scores(t, 0, 0, 900)
    end_round(t, CLARA, down=[CLARA])
    assert winners(t) == (CLARA,)


def test_of_several_through_in_one_round_the_lowest_total_wins_and_equals_share() -> None:
    t = table("ship-captain-crew", ["KC", "QC", "", "2C"], number=7)
    with_scores(t, 0, 300, 310, 0)
    end_round(t, CLARA, down=[ANNA, BORIS, CLARA])
    assert winners(t) == (ANNA,)
    t = table("ship-captain-crew", ["KC", "QC", "", "2C"], number=7)
    with_scores(t, 310, 300, 310, 0)
    end_round(t, CLARA, down=[BORIS, CLARA])
    assert winners(t) == (BORIS, CLARA)


def test_a_game_of_individual_contracts_goes_on_until_somebody_is_through() -> None:
    t = table("ship-captain-crew", ["KC", "QC", ""], number=7)
    end_round(t, CLARA)
    assert t.game.status == "playing"


@pytest.mark.parametrize("end", ["first_through", "lowest_total"])
def test_at_the_last_round_most_contracts_come_first_then_the_lowest_total_and_equals_share(end: str) -> None:
    t = table("ship-captain-crew", ["KC", "QC", "2C", ""], number=3, overrides={"max_rounds": 3, "end": end})
    seats = t.game.seats
    t.game = replace(t.game, seats=(replace(seats[ANNA], contract=1), *seats[1:]))
    with_scores(t, 0, 500, 505, 900)
    end_round(t, DAVID, down=[BORIS, CLARA])
    assert winners(t) == (BORIS, CLARA)


def test_where_the_lowest_total_counts_being_through_only_ends_the_game() -> None:
    rules: dict[str, Json] = {"progression": "individual", "end": "lowest_total"}
    t = table("davis", ["KC", "QC", ""], number=7, overrides=rules)
    with_scores(t, 0, 50, 900)
    end_round(t, CLARA, down=[CLARA])
    assert winners(t) == (ANNA,)


def test_a_game_may_end_before_its_last_contract() -> None:
    t = table("davis", ["", "QC", "KC"], number=2, overrides={"max_rounds": 2})
    end_round(t, ANNA, down=[ANNA])
    assert winners(t) == (ANNA,)
    assert view_for(t.game, None).round.of == 2  # type: ignore[union-attr]


def test_the_most_rounds_of_a_game_follow_from_its_contracts() -> None:
    assert max_rounds(preset("davis"), 4) == 7
    assert max_rounds(preset("ship-captain-crew"), 4) == 2 * (6 * 4 + 1)
    assert max_rounds(preset("ten-phases"), 6) == 2 * (9 * 6 + 1)
    assert max_rounds(ruleset_with("ten-phases", {"max_rounds": 128}), 6) == 128
    many: Json = [[{"kind": "set", "size": 3}]] * 12
    assert max_rounds(ruleset_with("ship-captain-crew", {"contracts": many}), 6) == 128


@pytest.mark.parametrize("players", [2, 3, 4, 6])
@pytest.mark.parametrize("luck", range(5))
def test_if_somebody_goes_out_in_every_round_somebody_is_through_in_time(players: int, luck: int) -> None:
    """With luck 0 it is always the one farthest behind who goes out, and alone is down: the longest game there is."""
    t, random, enough = sitting("ship-captain-crew", players=players), Random(luck), (7 - 1) * players + 1
    rounds = 0
    while t.game.status == "playing":
        rounds += 1
        deal(t, rounds)
        behind = min(range(players), key=lambda seat: t.game.seats[seat].contract)
        out = behind if luck == 0 else random.randrange(players)
        end_round(t, out, down=[out, *(seat for seat in range(players) if random.random() < luck / 10)])
    assert rounds == enough if luck == 0 else rounds <= enough
    assert len(winners(t)) >= 1


@pytest.mark.parametrize(("number", "bonus"), [(1, 5), (2, 10), (7, 35)])
def test_who_goes_out_may_earn_points_by_the_round(number: int, bonus: int) -> None:
    t = table("onze", ["", "QC", "2C"], number=number)
    scored = end_round(t, ANNA)[0]
    assert isinstance(scored, e.RoundScored)
    assert scored.points == (-bonus, 10, 20)


def test_nobody_earns_for_going_out_in_an_exhausted_round() -> None:
    t = table("onze", ["3C", "QC", "2C"])
    scored = end_round(t, None)[0]
    assert isinstance(scored, e.RoundScored)
    assert scored.points == (5, 10, 20)


@pytest.mark.parametrize(
    ("preset_name", "hand", "points"),
    [
        ("ship-captain-crew", "2H 7D 8C KS AH JK", 100),
        ("poker-packs", "2S 2H TD JK", 2 + 2 + 10 + 25),
        ("contract-rummy", "2S TD KD AH JK", 2 + 10 + 10 + 15 + 15),
        ("ten-phases", "1R 9B 10Y 12G X W", 5 + 5 + 10 + 10 + 15 + 25),
        ("may-i", "7H KD AH JK", 7 + 10 + 15 + 25),
        ("carioca", "7H KD AH JK", 7 + 10 + 20 + 30),
        ("black-twos", "2S 2C 2H 9D JD AH", 25 + 25 + 2 + 9 + 10 + 15),
    ],
)
def test_each_game_has_its_points(preset_name: str, hand: str, points: int) -> None:
    t = table(preset_name, ["", hand, *["3C" if preset_name != "ten-phases" else "3R"] * 2])
    scored = end_round(t, ANNA)[0]
    assert isinstance(scored, e.RoundScored)
    assert scored.points[BORIS] == points


def test_the_hands_are_open_at_the_end_of_a_round_and_the_next_ones_are_not() -> None:
    t = sitting("davis")
    deal(t, 1)
    secret = t.round.secret
    while t.round.step != "scoring":
        seat, decision_id = next((one.seat, one.decision_id) for one in open_decisions(t.game))
        view = view_for(t.game, seat)
        t.carry_out(Answer(seat, decision_id, choose(view, decision_id, t.game.rules, "normal")))
    ended = t.events[-1]
    assert isinstance(ended, e.RoundEnded)
    assert ended.hands == tuple(seat.hand for seat in t.game.seats)
    assert ended.revealed == secret
    t.carry_out(ScoreRound(1))
    deal(t, 2)
    view = view_for(t.game, ANNA)
    assert view.you is not None
    assert view.you.hand == t.hand(ANNA)


def test_a_round_is_dealt_or_counted_only_when_it_is_its_time() -> None:
    t = sitting("davis")
    for command in (DealRound(2, "00" * 32), ScoreRound(1)):
        with pytest.raises(Refused) as refused:
            decide(command, t.game)
        assert refused.value.broken == Outdated()
    waiting = replace(t.game, status="waiting")
    with pytest.raises(Refused) as early:
        decide(DealRound(1, "00" * 32), waiting)
    assert early.value.broken == GameNotStarted()


def test_nothing_happens_in_a_game_that_is_over() -> None:
    t = table("davis", ["", "QC", "KC"], number=7)
    end_round(t, ANNA)
    assert open_decisions(t.game) == ()
    for command in (DealRound(8, "00" * 32), Answer(ANNA, "draw-1-0", DrawStock())):
        with pytest.raises(Refused) as refused:
            decide(command, t.game)
        assert refused.value.broken == GameFinished()


def test_the_faces_of_a_hand_are_named_by_rank_and_suit() -> None:
    t = sitting("davis")
    deal(t, 1)
    assert set(t.hand(ANNA)) <= {*(rank + suit for rank in "23456789TJQKA" for suit in "CDHS"), *cards("JK")}
