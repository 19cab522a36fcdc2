"""Simulated games are whole games, the same for the same seed."""

from collections import Counter

import pytest

from domain import simulation
from domain.commands import Answer, Level
from domain.faults import FaultyRuleset
from domain.presets import preset, preset_names
from domain.simulation import EndlessGame, Step, as_bot, play, simulate
from domain.visible import kind_of

ANYBODY: tuple[Level, ...] = ("normal", "easy", "normal", "normal")


@pytest.mark.parametrize("name", ["davis", "ten-phases"])
def test_the_facts_are_those_of_the_game(name: str) -> None:
    steps = list(play(preset(name), ANYBODY, 3, as_bot))
    facts = simulate(preset(name), ANYBODY, 3)
    result = steps[-1].game.result
    assert result is not None
    assert (facts.totals, facts.winners) == (result.totals, result.winners)
    assert facts.totals == tuple(map(sum, zip(*(round_.points for round_ in facts.rounds), strict=True)))
    assert facts.events == sum(len(step.events) for step in steps) == steps[-1].game.version
    assert facts.moves == sum(isinstance(step.command, Answer) for step in steps)
    assert sum((Counter(round_.kinds) for round_ in facts.rounds), Counter()) == kinds_of(steps)
    assert [round_.number for round_ in facts.rounds] == list(range(1, len(facts.rounds) + 1))


def kinds_of(steps: list[Step]) -> Counter[str]:
    return Counter(kind_of(event) for step in steps for event in step.events)


def test_equal_seeds_give_equal_games_and_others_do_not() -> None:
    rules = preset("king-rummy")
    assert simulate(rules, ANYBODY, 1) == simulate(rules, ANYBODY, 1)
    assert simulate(rules, ANYBODY, 1) != simulate(rules, ANYBODY, 2)


@pytest.mark.parametrize("name", preset_names())
def test_too_many_players_are_refused(name: str) -> None:
    with pytest.raises(FaultyRuleset):
        simulate(preset(name), ["normal"] * (preset(name).players.max + 1), 1)


def test_a_game_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "MOVES_AT_MOST", 10)
    with pytest.raises(EndlessGame):
        simulate(preset("davis"), ANYBODY, 1)
