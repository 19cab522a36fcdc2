"""The golden games: whole, seeded, and played so that most of what can happen at a table does."""

from collections.abc import Iterator
from hashlib import sha256
from random import Random

from domain.commands import (
    ActForSeat,
    ChangeController,
    CloseClaims,
    DropNonces,
    Move,
    OpenGame,
    Pace,
    RevealNonce,
    SeatPlan,
    StartGame,
    TableCommand,
    TakeSeat,
)
from domain.decide import decide
from domain.decisions import Decision, open_decisions
from domain.events import Event
from domain.evolve import fold
from domain.luck import link
from domain.options import options_for
from domain.presets import preset
from domain.state import Game, State, Unopened
from tests.domain.games import Player, like_a_bot, next_command

NONCE = "00112233445566778899aabbccddeeff"
COMMITMENT = sha256(bytes.fromhex(NONCE)).hexdigest()
CURIOUS = 0.12  # share of moves that try something instead of playing well


def golden_game(name: str) -> Iterator[Event]:
    """Plays the golden game of a preset: a person with a nonce among bots, who leaves for a while, and late answers."""
    rules, random = preset(name), Random(f"golden {name}")
    players = min(4, rules.players.max)
    secret = sha256(name.encode()).digest()
    seats = (SeatPlan("open"), *(SeatPlan("bot", level="normal") for _ in range(players - 1)))
    state: State = Unopened()
    beginning: list[TableCommand] = [
        OpenGame("gam_golden", rules, Pace(), seats, link(secret, 0).hex()),
        TakeSeat(0, "ply_anna", COMMITMENT),
        StartGame(),
        DropNonces(players + 3),
        TakeSeat(0, "ply_anna", COMMITMENT),
        StartGame(),
        RevealNonce(0, NONCE),
    ]
    for command in beginning:
        events = decide(command, state)
        yield from events
        state = fold(events, state)
    assert isinstance(state, Game)
    while (following := _next(state, secret, random)) is not None:
        events = decide(following, state)
        yield from events
        state = fold(events, state)
        assert isinstance(state, Game)


def _next(game: Game, secret: bytes, random: Random) -> TableCommand | None:
    """Now and then lets Anna leave or come back, or time pass; otherwise a seat answers."""
    dice = random.random()
    if game.status == "playing" and dice < 0.002:
        if game.seats[0].controller == "human":
            return ChangeController(0, "bot", "ply_anna", "easy", "abandoned")
        return ChangeController(0, "human", "ply_anna", None, "reclaimed")
    window = None if game.round is None else game.round.window
    if window is not None and window.declined and dice < 0.05:
        return CloseClaims(window.opened_at)
    decisions = open_decisions(game)
    if decisions and dice < 0.02:
        return ActForSeat(decisions[0].seat, decisions[0].decision_id)
    return next_command(game, secret, random, _curious(random), None)


def _curious(random: Random) -> Player:
    """Plays like a bot, but for some moves: then any kind of move is as likely as any other."""

    def player(game: Game, decision: Decision) -> Move:
        if random.random() >= CURIOUS:
            return like_a_bot(game, decision)
        options = options_for(game, decision)
        kind = random.choice(sorted({type(move).__name__ for move in options}))
        return random.choice([move for move in options if type(move).__name__ == kind])

    return player
