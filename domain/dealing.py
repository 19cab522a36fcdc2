"""Between the turns: dealing a round, counting it, ending the game."""

from domain import events as e
from domain.cards import SKIP, Card, Hand, deck_list
from domain.commands import DealRound, ScoreRound
from domain.events import Event
from domain.luck import below, shuffled, words
from domain.refusals import GameFinished, GameNotStarted, Outdated, Refused
from domain.ruleset import Ruleset
from domain.scoring import hand_points
from domain.seating import next_seat, seats_after, seats_in_play
from domain.state import Game, Round
from domain.turns import begin_turn
from domain.unfolding import Unfolding

LAST_ROUND_FROM = 100_000  # events: ten times the longest game of any preset; with more a game fits into no memory


def deal_round(game: Game, command: DealRound) -> list[Event]:
    """Deals the next round and begins its first turn; refused as outdated where that round is dealt already."""
    if game.status == "waiting":
        raise Refused(GameNotStarted())
    if game.status != "playing":
        raise Refused(GameFinished())
    if command.number != next_round_number(game):
        raise Refused(Outdated())
    dealer = _dealer(game, command)
    forehand = next_seat(game, dealer)
    hands, upcard, stock = _dealt(game, command, forehand)
    table = Unfolding(game)
    last = len(game.rules.contracts) - 1
    contracts = tuple(game.rules.contracts[min(seat.contract, last)] for seat in game.seats)
    table.add(e.RoundDealt(command.number, contracts, dealer, command.secret, hands, upcard, stock))
    if game.rules.deal.forehand_extra:
        table.add(e.TurnBegan(forehand, "discard", discard_open=False, claimants=()))
    elif game.rules.skip_cards and upcard == SKIP:
        begin_turn(table, next_seat(table.game, forehand), skipped=(forehand,))
    else:
        begin_turn(table, forehand)
    return table.events


def next_round_number(game: Game) -> int | None:
    """Gives the number of the round to be dealt now, or None while one is played or not yet scored."""
    if game.status != "playing":
        return None
    if game.round is None:
        return 1
    return game.round.number + 1 if game.round.scored else None


def _dealer(game: Game, command: DealRound) -> int:
    if game.round is not None:
        return next_seat(game, game.round.dealer)
    stream = words(bytes.fromhex(command.secret), game.game_id, command.number, game.nonces, "dealer")
    drawn = below(stream, len(game.seats))
    return next_seat(game, drawn) if game.seats[drawn].out else drawn


def _dealt(game: Game, command: DealRound, forehand: int) -> tuple[tuple[Hand, ...], Card | None, tuple[Card, ...]]:
    """Shuffles and deals one card at a time from forehand; gives the hands by seat, the upcard and the stock."""
    rules, order = game.rules, (forehand, *seats_after(game, forehand))
    seats = len(order)
    size = rules.deck.sizes[len(game.seats)]
    stream = words(bytes.fromhex(command.secret), game.game_id, command.number, game.nonces, "deal")
    cards = shuffled(deck_list(rules.deck.kind, size.packs, size.jokers), stream)
    each = cards_dealt(rules, command.number)
    at = seats * each
    hands = {seat: cards[place:at:seats] for place, seat in enumerate(order)}
    if rules.deal.forehand_extra:
        hands[forehand] += (cards[at],)
        at += 1
    upcard = cards[at] if rules.deal.upcard else None
    return tuple(hands.get(seat, ()) for seat in range(len(game.seats))), upcard, cards[at + rules.deal.upcard :]


def cards_dealt(rules: Ruleset, number: int) -> int:
    """Gives how many cards each seat is dealt in round `number`, without forehand's extra card."""
    return rules.deal.cards[min(number, len(rules.deal.cards)) - 1]


def score_round(game: Game, command: ScoreRound) -> list[Event]:
    """Counts the cards left in hand; refused as outdated where that round is counted already."""
    round_ = game.round
    if round_ is None or round_.number != command.number or round_.step != "scoring" or round_.scored:
        raise Refused(Outdated())
    points = tuple(_points(game, round_, seat) for seat in range(len(game.seats)))
    totals = tuple(seat.score + more for seat, more in zip(game.seats, points, strict=True))
    contracts = _next_contracts(game)
    scored = e.RoundScored(points, totals, contracts)
    if not _is_last_round(game, round_, contracts):
        return [scored]
    return [scored, e.GameFinished(_winners(game, contracts, totals), totals)]


def _points(game: Game, round_: Round, seat: int) -> int:
    hand, bonus = game.seats[seat].hand, game.rules.points.go_out_bonus
    if hand or not bonus or seat != round_.went_out:
        return hand_points(hand, game.rules)
    return -bonus[min(round_.number, len(bonus)) - 1]


def _next_contracts(game: Game) -> tuple[int, ...]:
    together = game.rules.progression == "together"
    return tuple(seat.contract + (together or seat.down) for seat in game.seats)


def _is_last_round(game: Game, round_: Round, contracts: tuple[int, ...]) -> bool:
    last = round_.number >= max_rounds(game.rules, len(game.seats)) or game.version >= LAST_ROUND_FROM
    return last or len(seats_in_play(game)) == 1 or _is_anybody_through(game, contracts)


def _is_anybody_through(game: Game, contracts: tuple[int, ...]) -> bool:
    return any(contracts[seat] >= len(game.rules.contracts) for seat in seats_in_play(game))


def max_rounds(rules: Ruleset, players: int) -> int:
    """Gives the number of rounds after which a game ends in any case.

    Where each player has its own contract: twice the rounds that are enough if somebody goes out in each. Without a
    winner each of them has all contracts but one behind them at the most, and one round more makes a winner.
    """
    if rules.max_rounds is not None:
        return rules.max_rounds
    contracts = len(rules.contracts)
    return contracts if rules.progression == "together" else min(128, 2 * ((contracts - 1) * players + 1))


def _winners(game: Game, contracts: tuple[int, ...], totals: tuple[int, ...]) -> tuple[int, ...]:
    """Ranks by the lowest total; equals share.

    More contracts done come first where the first one through wins, and where the game ends with nobody through.
    """
    by_contracts = game.rules.end == "first_through" or not _is_anybody_through(game, contracts)
    ranks = [(-done if by_contracts else 0, total) for done, total in zip(contracts, totals, strict=True)]
    best = min(ranks[seat] for seat in seats_in_play(game))
    return tuple(seat for seat in seats_in_play(game) if ranks[seat] == best)
