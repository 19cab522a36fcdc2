"""Games as their players download them, to be checked as they are or tampered with."""

from functools import cache
from hashlib import sha256
from random import Random
from typing import Any

from domain.commands import OpenGame, Pace, RevealNonce, SeatPlan, StartGame, TakeSeat
from domain.events import Event
from domain.fairness import check
from domain.fairness_report import Report
from domain.luck import link
from domain.presets import preset
from tests.domain.exports import Json, as_shown, exported
from tests.domain.games import at_random, like_a_bot, next_command, whole_game
from tests.domain.table import ANNA, BORIS, CLARA, Table

SEED = bytes(range(32))
NONCE = "00112233445566778899aabbccddeeff"


@cache
def events_of(name: str, seed: int = 1, share: float = 0.1, rounds: int | None = 3) -> tuple[str, tuple[Event, ...]]:
    """Plays a mixed game with the most usual number of players."""
    players = min(4, preset(name).players.max)
    told = list(whole_game(name, players, seed, at_random(Random(seed), share), rounds=rounds))
    return told[-1][0].game_id, tuple(event for _, events in told for event in events)


def download(name: str = "davis", viewer: int | None = ANNA, **how: Any) -> list[Json]:
    """Gives a game as one viewer downloads it, a copy of its own."""
    return exported(*events_of(name, **how), viewer)


def verified(export: list[Json]) -> Report:
    """Checks a download as `shanghai verify` does."""
    return check(as_shown(export))


def game_with_nonces() -> list[Event]:
    """Anna and Boris each add a nonce, Clara none; two rounds are played."""
    seats = tuple(SeatPlan("open") for _ in range(3))
    table = Table.opened(OpenGame("gam_nonces", preset("davis"), Pace(), seats, link(SEED, 0).hex()))
    table.carry_out(TakeSeat(ANNA, "ply_anna", commitment_to(NONCE)))
    table.carry_out(TakeSeat(BORIS, "ply_boris", commitment_to(NONCE[::-1])))
    table.carry_out(TakeSeat(CLARA, "ply_clara"))
    table.carry_out(StartGame())
    table.carry_out(RevealNonce(BORIS, NONCE[::-1]))
    table.carry_out(RevealNonce(ANNA, NONCE))
    while (command := next_command(table.game, SEED, Random(1), like_a_bot, rounds=2)) is not None:
        table.carry_out(command)
    return table.events


def commitment_to(nonce: str) -> str:
    """Gives what a player sends first who will reveal this nonce."""
    return sha256(bytes.fromhex(nonce)).hexdigest()


def first(export: list[Json], kind: str, **having: Any) -> Json:
    """Finds the first event of a kind whose data has these values."""
    for event in export:
        if event["kind"] == kind and having.items() <= event["data"].items():
            return event
    raise AssertionError(f"no {kind} with {having}")


def another(card: str) -> str:
    """Gives a card that is not this one."""
    return "7H" if card != "7H" else "8C"


def renumber(export: list[Json]) -> None:
    """Hides that events are missing or stand elsewhere."""
    for version, event in enumerate(export, start=1):
        event["version"] = version
