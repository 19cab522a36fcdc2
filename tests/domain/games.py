"""Whole games in memory, move by move, with players who choose as a test wants them to."""

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from domain.bots import choose
from domain.cards import deck_list
from domain.commands import Answer, DealRound, Move, OpenGame, Pace, ScoreRound, SeatPlan, StartGame, TableCommand
from domain.dealing import next_round_number
from domain.decide import unfold
from domain.decisions import Decision, open_decisions
from domain.events import Event
from domain.luck import link
from domain.options import options_for
from domain.presets import preset
from domain.ruleset import Ruleset
from domain.state import Game, Unopened
from domain.view import view_for

MOVES_AT_MOST = 10_000  # a game that needs more does not end

Player = Callable[[Game, Decision], Move]


def like_a_bot(game: Game, decision: Decision) -> Move:
    """Plays as the bot of level normal."""
    return choose(view_for(game, decision.seat), decision.decision_id, game.rules, "normal")


def at_random(random: Random, share: float = 1.0) -> Player:
    """Sends any listed option, or with a share below one now and then what a bot would."""

    def player(game: Game, decision: Decision) -> Move:
        if random.random() < share:
            return random.choice(options_for(game, decision))
        return like_a_bot(game, decision)

    return player


def whole_game(
    rules: str | Ruleset, players: int, seed: int, player: Player, *, rounds: int | None = None
) -> Iterator[tuple[Game, list[Event]]]:
    """Plays a game to its end, or for some rounds; yields the game after each command and the command's events.

    rules: a preset's name, or any ruleset.
    """
    return ((game, events) for _, events, game in told_game(rules, players, seed, player, rounds=rounds))


def told_game(
    rules: str | Ruleset, players: int, seed: int, player: Player, *, rounds: int | None = None
) -> Iterator[tuple[TableCommand, list[Event], Game]]:
    """Plays as `whole_game` does and yields the commands too."""
    secret = seed.to_bytes(32, "big")
    random = Random(seed)
    state: Unopened | Game = Unopened()
    plans = tuple(SeatPlan("bot", None, "normal") for _ in range(players))
    rules = preset(rules) if isinstance(rules, str) else rules
    command: TableCommand | None = OpenGame(f"gam_{seed:026d}", rules, Pace(), plans, link(secret, 0).hex())
    moves = 0
    while command is not None:
        events, game = unfold(command, state)
        yield command, events, game
        state, moves = game, moves + 1
        assert moves < MOVES_AT_MOST
        command = next_command(game, secret, random, player, rounds)


def next_command(game: Game, secret: bytes, random: Random, player: Player, rounds: int | None) -> TableCommand | None:
    """Gives what the table does next, or a seat's answer; None when the game or the last wanted round is over."""
    if game.status == "waiting":
        return StartGame()
    if game.status != "playing":
        return None
    if (number := next_round_number(game)) is not None:
        return None if rounds is not None and number > rounds else DealRound(number, link(secret, number).hex())
    if game.round is not None and game.round.step == "scoring":
        return ScoreRound(game.round.number)
    decision = random.choice(open_decisions(game))
    return Answer(decision.seat, decision.decision_id, player(game, decision))


def cards_of(game: Game) -> Counter[str]:
    """Counts the cards on the table, in hands, stock and pile."""
    assert game.round is not None
    on_table = [placed.card for meld in game.round.melds for placed in meld.cards]
    in_hands = [card for seat in game.seats for card in seat.hand]
    return Counter([*on_table, *in_hands, *game.round.stock, *(discarded.card for discarded in game.round.pile)])


def deck_of(game: Game) -> Counter[str]:
    """Counts the cards of the game's deck."""
    deck = game.rules.deck
    size = deck.sizes[len(game.seats)]
    return Counter(deck_list(deck.kind, size.packs, size.jokers))
