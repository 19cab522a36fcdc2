"""`shanghai simulate`: bots play whole games in memory; a table tells how the games of a ruleset go."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from pathlib import Path
from statistics import fmean
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from domain.commands import Level
from domain.faults import FaultyRuleset
from domain.presets import Json, preset_names, ruleset_with
from domain.ruleset import Contract, Ruleset
from domain.simulation import GameFacts, RoundFacts, simulate


class CannotSimulate(Exception):
    """The games asked for cannot be played; the text says why, a line for each reason."""


def rules_for(name: str, overrides: Path | None, players: int) -> Ruleset:
    """Gives a preset with the overrides of a JSON file. Errors: CannotSimulate with every fault."""
    if name not in preset_names():
        raise CannotSimulate(f"there is no ruleset {name}; known are {', '.join(preset_names())}")
    try:
        rules = ruleset_with(name, {} if overrides is None else _read(overrides))
    except FaultyRuleset as error:
        lines = (f"{overrides}: {fault.path or '/'}: {fault.code}: {fault.detail}" for fault in error.faults)
        raise CannotSimulate("\n".join(lines)) from None
    if not rules.players.min <= players <= rules.players.max:
        raise CannotSimulate(f"{name} is for {rules.players.min} to {rules.players.max} players, not {players}")
    return rules


def _read(file: Path) -> dict[str, Json]:
    try:
        written = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CannotSimulate(f"{file} cannot be read: {error}") from None
    if not isinstance(written, dict):
        raise CannotSimulate(f"{file} must hold one JSON object")
    return written


def run(rules: Ruleset, players: int, games: int, level: Level, seed: int) -> None:
    """Plays the games, with a progress bar on a terminal, and prints the table."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    begun = perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        played = [
            simulate(rules, [level] * players, number)
            for number in bar.track(range(seed, seed + games), description=f"{rules.name}, {players} players")
        ]
    seconds = perf_counter() - begun
    console.print(f"{rules.name}: {games} games of {players} bots of level {level}, seeds {seed} to {seed + games - 1}")
    console.print(_games_table(played))
    console.print(_rounds_table(rules, played))
    moves = sum(game.moves for game in played)
    console.print(f"{moves:,} moves in {seconds:.1f} s: {moves / seconds:,.0f} moves/s")


def _games_table(played: Sequence[GameFacts]) -> Table:
    table = Table("a game", box=None, pad_edge=False)
    for title in ("mean", "least", "p95", "most"):
        table.add_column(title, justify="right")
    rows: list[tuple[str, Iterable[int]]] = [
        ("rounds", (len(game.rounds) for game in played)),
        ("moves", (game.moves for game in played)),
        ("events", (game.events for game in played)),
        ("points of the winner", (min(game.totals[seat] for seat in game.winners) for game in played)),
        ("points of a seat", (total for game in played for total in game.totals)),
        ("winners", (len(game.winners) for game in played)),
    ]
    for title, values in rows:
        numbers = sorted(values)
        p95 = numbers[ceil(0.95 * len(numbers)) - 1]
        table.add_row(title, f"{fmean(numbers):,.1f}", f"{numbers[0]:,}", f"{p95:,}", f"{numbers[-1]:,}")
    return table


Measure = Callable[[RoundFacts], float]

_MEASURES: dict[str, Measure] = {
    "out %": lambda facts: 100 * (facts.end == "out"),
    "exhausted %": lambda facts: 100 * (facts.end == "exhausted"),
    "turns": lambda facts: facts.kinds.get("turn_began", 0),
    "moves": lambda facts: facts.moves,
    "points": lambda facts: fmean(facts.points),
    "lay-downs": lambda facts: facts.kinds.get("melds_laid", 0),
    "lay-offs": lambda facts: facts.kinds.get("cards_laid_off", 0),
    "swaps": lambda facts: facts.kinds.get("wild_swapped", 0),
    "buys asked": lambda facts: facts.kinds.get("buy_requested", 0),
    "buys": lambda facts: facts.kinds.get("card_bought", 0),
    "calls": lambda facts: facts.kinds.get("shanghai_called", 0),
    "false calls": lambda facts: facts.kinds.get("false_called", 0),
    "renewals": lambda facts: facts.kinds.get("stock_renewed", 0),
}


def _rounds_table(rules: Ruleset, played: Sequence[GameFacts]) -> Table:
    """Shows means over the rounds: by number where all play one contract at a time, and over all of them."""
    rounds = [facts for game in played for facts in game.rounds]
    columns = {"all": rounds}
    if rules.progression == "together":
        by_number = {number: [facts for facts in rounds if facts.number == number] for number in _numbers(rounds)}
        columns = {str(number): those for number, those in by_number.items()} | columns
    table = Table(Column("a round", no_wrap=True), box=None, pad_edge=False)
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    contracts = [_contract(rules.contracts[int(title) - 1]) for title in columns if title != "all"]
    if contracts:
        table.add_row("contract", *contracts)
    for title, measure in _MEASURES.items():
        table.add_row(title, *(_short(fmean(map(measure, those))) for those in columns.values()))
    return table


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.1f}"


def _numbers(rounds: Sequence[RoundFacts]) -> Sequence[int]:
    return sorted({facts.number for facts in rounds})


_LETTERS = {"set": "S", "run": "R", "run_any_suit": "r", "colour": "C"}


def _contract(contract: Contract) -> str:
    """Writes a contract as players do: 2S+R."""
    counted = Counter(_LETTERS[part.kind] for part in contract)
    return "+".join(f"{count if count > 1 else ''}{letter}" for letter, count in counted.items())
