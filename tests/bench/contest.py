"""Programs that play random games, run one after the other again and again, so that all meet the same machine."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

RUNS = 5
SECONDS = 2.0  # of each run: enough for some thousand moves of the slowest
TOO_WIDE = 0.25  # a peer that varies more than this is no measure

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "tests/bench/peers"
INSTALLED = ROOT / ".bench-venv"


class Player(NamedTuple):
    """A program that takes a seed and seconds, and prints moves and CPU seconds. ratio: our goal beside it."""

    name: str
    command: tuple[str | Path, ...]
    arguments: tuple[str, ...] = ()
    ratio: float = 0


class Speed(NamedTuple):
    """How often a second in each run, of games: moves in a CPU second; why there are none, if there are none."""

    runs: tuple[float, ...]
    fault: str = ""

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.runs)

    @property
    def spread(self) -> float:
        """From the slowest to the fastest run, as a share of the median."""
        return (max(self.runs) - min(self.runs)) / self.median


OURS = (
    Player("davis", (sys.executable, "-m", "tests.bench.random_games"), ("davis",)),
    Player("black_twos", (sys.executable, "-m", "tests.bench.random_games"), ("black-twos",)),
)
THEIRS = (
    Player("rlcard", (INSTALLED / "bin/python", PEERS / "rlcard_gin.py"), ratio=3.5),
    Player("open_spiel", (INSTALLED / "bin/python", PEERS / "open_spiel_gin.py"), ratio=1),
    Player("python_chess", (INSTALLED / "bin/python", PEERS / "python_chess.py"), ratio=1.5),
    Player("boardgame_io", ("node", PEERS / "boardgame_io.cjs"), ratio=3.5),
)


def ratio(ours: Speed, theirs: Speed) -> float:
    """Gives how many times as fast we are in the middle run; each run compares what met the machine together."""
    return statistics.median(our / their for our, their in zip(ours.runs, theirs.runs, strict=True))


def speeds(players: Iterable[Player]) -> dict[str, Speed]:
    """Lets the players run in turn; who fails once is left out from then on. Each run has a seed of its own."""
    found = {player: Speed(()) for player in players}
    for run in range(1, RUNS + 1):
        for player, speed in found.items():
            if not speed.fault:
                found[player] = _one_more(player, speed, run)
    return {player.name: speed for player, speed in found.items()}


def _one_more(player: Player, speed: Speed, seed: int) -> Speed:
    command = [*player.command, str(seed), str(SECONDS), *player.arguments]
    environment = {**os.environ, "NODE_PATH": str(INSTALLED / "node_modules"), "NODE_ENV": "production"}
    try:
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        return Speed((), str(error))
    if ran.returncode:
        return Speed((), last_words(ran.stderr))
    moves, seconds = ran.stdout.split()[-2:]
    return Speed((*speed.runs, int(moves) / float(seconds)))


def last_words(stderr: str) -> str:
    """Gives the line that names the error: Python's is the last one, Node's comes before the stack."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    named = [line for line in lines if "Error:" in line]
    return (named or lines or ["no reason given"])[-1]
