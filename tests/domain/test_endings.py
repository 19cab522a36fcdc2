"""Every game ends, however it is played: by its rounds and its idle laps if by nothing else."""

from random import Random

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.commands import Discard, LayDown, Move, Pass, ScoreRound, TakeDiscard
from domain.dealing import LAST_ROUND_FROM, max_rounds
from domain.decide import decide
from domain.decisions import Decision
from domain.options import options_for
from domain.presets import preset, preset_names, ruleset_with
from domain.simulation import as_bot, play
from domain.state import Game
from tests.domain.games import MOVES_AT_MOST, Player, at_random, told_game, whole_game
from tests.domain.knobs import any_ruleset

TABLES = [
    pytest.param(name, players, id=f"{name}-{players}")
    for name in preset_names()
    for players in sorted({preset(name).players.min, preset(name).players.max})
]


def never_down(random: Random) -> Player:
    """Sends any option but a lay-down."""

    def player(game: Game, decision: Decision) -> Move:
        return random.choice([move for move in options_for(game, decision) if not isinstance(move, LayDown)])

    return player


def to_and_fro(game: Game, decision: Decision) -> Move:
    """Takes every discard, buys none, and throws the first card that may go: no card leaves the stock if it can be."""
    options = options_for(game, decision)
    if TakeDiscard() in options:
        return TakeDiscard()
    wanted = (Pass,) if decision.kind == "claim" else (Discard,)
    return next((move for move in options if isinstance(move, wanted)), options[0])


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_round_in_which_nobody_lays_down_ends(name: str, players: int) -> None:
    *_, (game, _) = whole_game(name, players, 7, never_down(Random(7)), rounds=1)
    assert game.round is not None
    assert game.round.scored
    assert not any(seat.down for seat in game.seats)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_round_in_which_everybody_takes_every_discard_ends(name: str, players: int) -> None:
    told = list(told_game(name, players, 8, to_and_fro, rounds=1))
    ended = next(event for _, events, _ in told for event in events if isinstance(event, e.RoundEnded))
    assert ended.reason == "exhausted"
    assert len(told) < MOVES_AT_MOST


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_game_in_which_nobody_ever_lays_down_ends_with_its_last_round(name: str, players: int) -> None:
    short = ruleset_with(name, {"stock_out": {"max_renewals": 0}, "idle_laps": {"no_draw": 1, "no_progress": 1}})
    *_, (game, _) = whole_game(short, players, 9, to_and_fro)
    assert game.status == "finished"
    assert game.round is not None
    assert game.round.number == max_rounds(short, players)


def test_a_game_of_so_many_events_ends_with_its_round() -> None:
    """Contracts that nobody can meet would otherwise have bots play millions of moves."""
    game = next(
        step.game
        for step in play(preset("davis"), ["normal"] * 3, 10, as_bot)
        if step.game.round is not None and step.game.round.step == "scoring" and not step.game.round.scored
    )
    [scored] = decide(ScoreRound(1), replace(game, version=LAST_ROUND_FROM - 1))
    assert isinstance(scored, e.RoundScored)
    [scored, finished] = decide(ScoreRound(1), replace(game, version=LAST_ROUND_FROM))
    assert isinstance(scored, e.RoundScored)
    assert isinstance(finished, e.GameFinished)
    assert finished.totals == scored.totals


@pytest.mark.parametrize("seed", range(10))
def test_games_under_any_rules_come_to_an_end(seed: int) -> None:
    random = Random(seed)
    rules = any_ruleset(random)
    players = random.randint(rules.players.min, rules.players.max)
    *_, (game, _) = whole_game(rules, players, seed, at_random(random, share=0.3), rounds=7)
    assert game.round is not None
    assert game.round.scored
