"""The options of a decision are the legal moves: each one is accepted, and what is not listed is refused."""

from random import Random

import pytest

from domain import events as e
from domain.commands import LayDown, LayOff
from domain.decisions import Decision, open_decisions
from domain.options import options_for
from domain.presets import preset, preset_names
from domain.state import Game
from tests.domain.games import at_random, whole_game
from tests.domain.knobs import any_ruleset
from tests.domain.universe import finite_moves, outcome

JUDGED = 0.1  # of a game's decisions: one has hundreds of moves to judge


def assert_only_options_are_legal(game: Game, decision: Decision) -> None:
    listed = [move for move in options_for(game, decision) if not isinstance(move, LayDown)]
    expected = {
        outcome(move, game, decision) for move in listed if not isinstance(move, LayOff) or len(move.cards) == 1
    }
    assert None not in expected, "a listed option was refused"
    legal = {outcome(move, game, decision) for move in finite_moves(game, decision)}
    assert legal - {None, e.FalseCalled} == expected


@pytest.mark.parametrize("name", preset_names())
def test_what_is_not_listed_is_refused_in_every_game(name: str) -> None:
    players = min(4, preset(name).players.max)
    random = Random(players)
    for game, _ in whole_game(name, players, players, at_random(random, share=0.2), rounds=3):
        for decision in open_decisions(game):
            if random.random() < JUDGED:
                assert_only_options_are_legal(game, decision)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_listed_is_refused_under_any_rules(seed: int) -> None:
    random = Random(seed)
    rules = any_ruleset(random)
    players = random.randint(rules.players.min, rules.players.max)
    for game, _ in whole_game(rules, players, seed, at_random(random, share=0.3), rounds=2):
        for decision in open_decisions(game):
            if random.random() < JUDGED:
                assert_only_options_are_legal(game, decision)
