"""Two games that differ in one seat's hand only tell everybody else the same story, move after move."""

from collections.abc import Iterator
from random import Random

import pytest
from msgspec.structs import replace

from domain.cards import in_deck_order
from domain.commands import Answer, CallShanghai, Move
from domain.decide import decide
from domain.decisions import Decision, open_decisions
from domain.events import Event, RoundEnded
from domain.options import options_for
from domain.presets import preset, preset_names
from domain.state import Game
from domain.visible import kind_of, seat_of, visible_data
from tests.domain.games import at_random, whole_game

GAMES = [pytest.param(name, min(4, preset(name).players.max), id=name) for name in preset_names()]
SHARE = 0.5  # of the moments of a game that are looked at


@pytest.mark.parametrize(("name", "players"), GAMES)
def test_a_move_looks_the_same_to_all_others_whatever_a_seat_holds(name: str, players: int) -> None:
    random, looked_at = Random(name), 0
    for game, _ in whole_game(name, players, 7, at_random(random, share=0.1), rounds=3):
        if random.random() < SHARE and game.round is not None and game.round.now.owed is None:
            seat = random.randrange(players)
            other = with_another_hand(game, seat, random)
            for decision in open_decisions(game):
                for move in moves_in_both(game, other, seat, decision, random):
                    assert story(game, decision, move, seat) == story(other, decision, move, seat)
                    looked_at += 1
    assert looked_at > 20


def with_another_hand(game: Game, seat: int, random: Random) -> Game:
    """Changes some of the seat's cards for those at the bottom of the stock, which nobody draws next.

    A wild that is owed would have to stay in its hand: such moments are left out.
    """
    assert game.round is not None
    hand, stock = list(game.seats[seat].hand), list(game.round.stock)
    for place in range(1, min(len(stock) // 2, len(hand)) + 1):  # none of an empty hand or stock
        at = random.randrange(len(hand))
        hand[at], stock[-place] = stock[-place], hand[at]
    seats = list(game.seats)
    seats[seat] = replace(seats[seat], hand=in_deck_order(hand))
    return replace(game, seats=tuple(seats), round=replace(game.round, stock=tuple(stock)))


def moves_in_both(game: Game, other: Game, seat: int, decision: Decision, random: Random) -> Iterator[Move]:
    """Picks moves that are possible in both games; to the other seats exactly the same moves are offered in both."""
    offered, offered_there = options_for(game, decision), options_for(other, decision)
    if decision.seat != seat:
        assert offered == offered_there
    common = [move for move in offered if move in offered_there]
    yield from random.sample(common, min(2, len(common)))


def story(game: Game, decision: Decision, move: Move, seat: int) -> list[object]:
    """Tells what all viewers but that seat see of a move, up to the moment when all hands are opened."""
    concerned = {seat}
    if isinstance(move, CallShanghai) and decision.seat == seat:  # its penalty card is its discarder's business too
        concerned.add(-1 if game.round is None or game.round.pile[-1].by is None else game.round.pile[-1].by)
    viewers = [viewer for viewer in (None, *range(len(game.seats))) if viewer not in concerned]
    events = list(closed(decide(Answer(decision.seat, decision.decision_id, move), game)))
    return [
        (kind_of(event), seat_of(event, viewer), visible_data(event, viewer)) for viewer in viewers for event in events
    ]


def closed(events: list[Event]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, RoundEnded):
            return
        yield event
