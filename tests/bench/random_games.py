"""Plays whole games of random moves as fast as it goes, with every option listed for the seat that is to act.

Prints moves and CPU seconds. Arguments: seed, seconds, preset. Dealing and counting are on the clock but are no moves.
"""

import random
import sys
import time
from collections.abc import Sequence
from itertools import count
from typing import TypeVar

from domain.commands import Answer, DealRound, OpenGame, Pace, ScoreRound, SeatPlan, StartGame, TableCommand
from domain.dealing import next_round_number
from domain.decide import unfold
from domain.decisions import open_decisions
from domain.luck import link
from domain.options import options_for
from domain.presets import preset
from domain.ruleset import Ruleset
from domain.state import Game, Unopened

PLAYERS = 4

T = TypeVar("T")


def main(seed: int, seconds: float, preset_name: str) -> None:
    luck, rules = random.Random(seed), preset(preset_name)
    moves = 0
    began = time.process_time()
    until = began + seconds
    for number in count():
        moves += play(rules, f"gam_{number:026d}", luck, until)
        if time.process_time() >= until:
            break
    print(moves, time.process_time() - began)  # noqa: T201  this is the output


def play(rules: Ruleset, game_id: str, luck: random.Random, until: float) -> int:
    """Plays a game to its end, or to the round in which the time is over; gives the number of moves."""
    secret = luck.randbytes(32)
    seats = (SeatPlan("bot", None, "normal"),) * PLAYERS
    _, game = unfold(OpenGame(game_id, rules, Pace(), seats, link(secret, 0).hex()), Unopened())
    _, game = unfold(StartGame(), game)
    moves = 0
    while game.status == "playing" and time.process_time() < until:
        _, game = unfold(between_turns(game, secret), game)
        while decisions := open_decisions(game):
            decision = any_of(decisions, luck)
            move = any_of(options_for(game, decision), luck)
            _, game = unfold(Answer(decision.seat, decision.decision_id, move), game)
            moves += 1
    return moves


def any_of(choices: Sequence[T], luck: random.Random) -> T:
    """Picks one, in a third of the time that `choice` takes: luck is not what is measured."""
    return choices[int(luck.random() * len(choices))]


def between_turns(game: Game, secret: bytes) -> TableCommand:
    """Gives what the table itself has to do next: deal, or count."""
    number = next_round_number(game)
    if number is not None:
        return DealRound(number, link(secret, number).hex())
    assert game.round is not None
    return ScoreRound(game.round.number)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
