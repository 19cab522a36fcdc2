"""People leave, hand over and fall silent at any moment, under any rules: the table always knows what comes next."""

from collections.abc import Iterator
from random import Random

import msgspec
import pytest

from domain.commands import (
    ActForSeat,
    Answer,
    ChangeController,
    CloseClaims,
    DealRound,
    LeaveForGood,
    OpenGame,
    Pace,
    ScoreRound,
    SeatPlan,
    StartGame,
    TableCommand,
)
from domain.dealing import next_round_number
from domain.decide import unfold
from domain.decisions import open_decisions
from domain.events import Event
from domain.evolve import fold
from domain.luck import link
from domain.options import options_for
from domain.refusals import Refused
from domain.ruleset import Ruleset
from domain.state import Game, Unopened
from domain.view import view_for
from tests.domain.exports import shown
from tests.domain.games import cards_of, deck_of
from tests.domain.knobs import any_ruleset
from tests.replica import Replica

STEPS = 600  # some rounds
HAPPENS = 0.02  # how often somebody leaves or hands over


@pytest.mark.parametrize("seed", range(30))
def test_the_table_goes_on_whatever_people_do(seed: int) -> None:
    random = Random(seed)
    rules = any_ruleset(random)
    players = random.randint(rules.players.min, rules.players.max)
    replicas = [Replica(None), Replica(random.randrange(players))]
    told = fold([])
    for game, events in turmoil(rules, players, seed, random):
        for event in events:
            told = fold([event], told)
            assert isinstance(told, Game)
            assert told.round is None or cards_of(told) == deck_of(told)
            for replica in replicas:
                replica.record(shown(event, told.version, replica.seat))
        assert told == game
        for replica in replicas:
            replica.compare(msgspec.json.decode(msgspec.json.encode(view_for(game, replica.seat))))
        assert_somebody_can_act(game)


def assert_somebody_can_act(game: Game) -> None:
    round_ = game.round
    if game.status != "playing" or round_ is None or round_.step == "scoring":
        assert open_decisions(game) == ()
        return
    decisions = open_decisions(game)
    assert all(options_for(game, decision) for decision in decisions)
    assert all(not game.seats[decision.seat].out for decision in decisions)
    assert decisions or (round_.window is not None and round_.window.declined)


def turmoil(rules: Ruleset, players: int, seed: int, random: Random) -> Iterator[tuple[Game, list[Event]]]:
    """Plays with answers, silence and leaving in any order; yields the game after each command and its events."""
    secret = seed.to_bytes(32, "big")
    pace = Pace(claims=random.choice(("early", "full")))
    plans = (SeatPlan("bot", None, "normal"),) * players
    state: Unopened | Game = Unopened()
    command: TableCommand | None = OpenGame(f"gam_{seed:026d}", rules, pace, plans, link(secret, 0).hex())
    for _ in range(STEPS):
        if command is None:
            return
        try:
            events, state = unfold(command, state)
        except Refused:
            assert isinstance(command, LeaveForGood | ChangeController | CloseClaims)
            events = []
        assert isinstance(state, Game)
        yield state, events
        command = _next(state, secret, random)


def _next(game: Game, secret: bytes, random: Random) -> TableCommand | None:
    if game.status == "waiting":
        return StartGame()
    if game.status != "playing":
        return None
    if random.random() < HAPPENS:
        seat = random.randrange(len(game.seats))
        handed_over = ChangeController(seat, "human", f"ply_{game.version}", None, "handed_over")
        return random.choice((LeaveForGood(seat), handed_over))
    if (number := next_round_number(game)) is not None:
        return DealRound(number, link(secret, number).hex())
    assert game.round is not None
    if game.round.step == "scoring":
        return ScoreRound(game.round.number)
    decisions = open_decisions(game)
    if game.round.window is not None and (not decisions or random.random() < 0.2):
        return CloseClaims(game.round.window.opened_at)
    decision = random.choice(decisions)
    if random.random() < 0.1:
        return ActForSeat(decision.seat, decision.decision_id)
    return Answer(decision.seat, decision.decision_id, random.choice(options_for(game, decision)))
