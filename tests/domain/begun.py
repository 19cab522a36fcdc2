"""Games that have begun with nobody's cards dealt yet; rounds are dealt from one seed."""

from domain.commands import DealRound, OpenGame, Pace, SeatPlan, StartGame
from domain.decide import decide
from domain.evolve import fold
from domain.luck import link
from domain.presets import Json, ruleset_with
from domain.state import Game
from tests.domain.table import Table

SEED = bytes(range(32))


def sitting(preset: str = "davis", overrides: dict[str, Json] | None = None, players: int = 4) -> Table:
    """Seats people at a game that begins; no round is dealt yet."""
    seats = tuple(SeatPlan("human", f"ply_{seat}") for seat in range(players))
    rules = ruleset_with(preset, dict(overrides or {}))
    game = fold(decide(OpenGame("gam_x", rules, Pace(), seats, link(SEED, 0).hex()), fold([])))
    assert isinstance(game, Game)
    t = Table(game)
    t.carry_out(StartGame())
    return t


def deal(t: Table, number: int) -> None:
    """Deals a round."""
    t.carry_out(DealRound(number, link(SEED, number).hex()))
