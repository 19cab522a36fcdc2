"""Whole games in memory: every seat is played by whoever is handed in, and nothing but the domain is used.

Equal rulesets, players and seeds give equal games. Which of several open questions is answered first is drawn by lot,
as people too are faster or slower.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from domain import events as e
from domain.bots import choose
from domain.commands import (
    Answer,
    DealRound,
    Level,
    Move,
    OpenGame,
    Pace,
    ScoreRound,
    SeatPlan,
    StartGame,
    TableCommand,
)
from domain.dealing import next_round_number
from domain.decide import unfold
from domain.decisions import Decision, open_decisions
from domain.luck import below, link, words
from domain.ruleset import Ruleset
from domain.state import Game, State, Unopened
from domain.view import view_for
from domain.visible import kind_of

MOVES_AT_MOST = 50_000  # ten times the longest game of bots: one that needs more does not end

Player: TypeAlias = Callable[[Game, Decision], Move]
"""Chooses a move. It is handed the whole game: a player that is not to cheat looks at its seat's view only."""


class EndlessGame(Exception):
    """The game did not come to an end."""


class Step(Struct, frozen=True):
    """A command, what happened by it, and the game after it."""

    command: TableCommand
    events: tuple[e.Event, ...]
    game: Game


class RoundFacts(Struct, frozen=True):
    """A round that was played. kinds: how many events there were of each kind."""

    number: int
    end: e.RoundEnd
    moves: int
    kinds: dict[str, int]
    points: tuple[int, ...]


class GameFacts(Struct, frozen=True):
    """A game that was played to its end."""

    rounds: tuple[RoundFacts, ...]
    moves: int
    events: int
    totals: tuple[int, ...]
    winners: tuple[int, ...]


def simulate(rules: Ruleset, levels: Sequence[Level], seed: int) -> GameFacts:
    """Lets bots of these levels play a whole game. Errors: FaultyRuleset, EndlessGame."""
    rounds: list[RoundFacts] = []
    events, steps = 0, list[Step]()
    for step in play(rules, levels, seed, as_bot):
        events += len(step.events)
        steps.append(step)
        if isinstance(step.command, ScoreRound):
            rounds.append(_round_facts(steps))
            steps = []
    game = step.game
    assert game.result is not None
    moves = sum(facts.moves for facts in rounds)
    return GameFacts(tuple(rounds), moves, events, game.result.totals, game.result.winners)


def _round_facts(steps: Sequence[Step]) -> RoundFacts:
    """Sums up a round from its deal to its score."""
    events = [event for step in steps for event in step.events]
    ended = next(event for event in events if isinstance(event, e.RoundEnded))
    scored = next(event for event in events if isinstance(event, e.RoundScored))
    dealt = next(event for event in events if isinstance(event, e.RoundDealt))
    moves = sum(isinstance(step.command, Answer) for step in steps)
    return RoundFacts(dealt.number, ended.reason, moves, dict(Counter(map(kind_of, events))), scored.points)


def as_bot(game: Game, decision: Decision) -> Move:
    """Plays as the bot that sits on the seat."""
    level = game.seats[decision.seat].level or "normal"
    return choose(view_for(game, decision.seat), decision.decision_id, game.rules, level)


def play(rules: Ruleset, levels: Sequence[Level], seed: int, player: Player) -> Iterator[Step]:
    """Plays a game to its end, step by step. Errors: FaultyRuleset before the first step, EndlessGame."""
    secret, game_id = seed.to_bytes(32, "big"), f"gam_{seed:026d}"
    plans = tuple(SeatPlan("bot", level=level) for level in levels)
    order = words(secret, game_id, 0, (), "order of answers")
    state: State = Unopened()
    command: TableCommand = OpenGame(game_id, rules, Pace(), plans, link(secret, 0).hex())
    for _ in range(MOVES_AT_MOST):
        events, game = unfold(command, state)
        yield Step(command, tuple(events), game)
        following = _next_command(game, secret, order, player)
        if following is None:
            return
        state, command = game, following
    raise EndlessGame(f"after {MOVES_AT_MOST} moves")


def _next_command(game: Game, secret: bytes, order: Iterator[int], player: Player) -> TableCommand | None:
    if game.status == "waiting":
        return StartGame()
    if game.status != "playing":
        return None
    if (number := next_round_number(game)) is not None:
        return DealRound(number, link(secret, number).hex())
    if game.round is not None and game.round.step == "scoring":
        return ScoreRound(game.round.number)
    decisions = open_decisions(game)
    decision = decisions[below(order, len(decisions))]
    return Answer(decision.seat, decision.decision_id, player(game, decision))
