"""Two games that differ in one seat's hand, with the same public moves, are the same game to everybody else."""

from collections.abc import Iterator, Sequence
from itertools import count, islice, takewhile
from random import Random
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from domain import events as e
from domain.cards import Card
from domain.commands import DealRound, TableCommand
from domain.decide import unfold
from domain.events import Event
from domain.evolve import fold
from domain.presets import preset, preset_names
from domain.state import Game
from domain.view import view_for
from domain.visible import kind_of, seat_of, visible_data
from tests.domain.games import at_random, told_game
from tests.domain.knobs import any_ruleset

Told: TypeAlias = list[tuple[TableCommand, list[Event], Game]]


@pytest.mark.parametrize("name", preset_names())
def test_a_card_that_is_never_shown_makes_no_difference_to_the_others(name: str) -> None:
    players = min(4, preset(name).players.max)
    lucky = (list(told_game(name, players, luck, at_random(Random(luck), share=0.1), rounds=1)) for luck in count(21))
    assert any(sum(compared_with_others(told)) > 0 for told in islice(lucky, 5)), "nobody keeps a card unseen"


@pytest.mark.parametrize("seed", range(12))
def test_nor_does_it_under_any_rules(seed: int) -> None:
    random = Random(seed)
    rules = any_ruleset(random)
    players = random.randint(rules.players.min, rules.players.max)
    told = list(told_game(rules, players, seed, at_random(random, share=0.2), rounds=1))
    assert sum(compared_with_others(told)) >= 0


def compared_with_others(told: Told) -> Iterator[bool]:
    """Plays the round again for each seat that keeps a card unseen, with another card in its place."""
    players = len(told[-1][2].seats)
    for seat in range(players):
        other = with_another_card(told, seat)
        yield other is not None
        for viewer in (None, *(number for number in range(players) if number != seat)):
            assert other is None or list(seen(other, viewer)) == list(seen(told, viewer))


def with_another_card(told: Told, seat: int) -> Told | None:
    """Gives the same moves after a deal in which the seat's unseen card and the last card of the stock are swapped."""
    at = next(place for place, (command, _, _) in enumerate(told) if isinstance(command, DealRound))
    dealt, began = told[at][1]
    assert isinstance(dealt, e.RoundDealt)
    last, kept = dealt.stock[-1], unseen(told[at:], seat, dealt)
    if kept is None:
        return None
    hand = list(dealt.hands[seat])
    hand[hand.index(kept)] = last
    hands = (*dealt.hands[:seat], tuple(hand), *dealt.hands[seat + 1 :])
    events: list[Event] = [replace(dealt, hands=hands, stock=(*dealt.stock[:-1], kept)), began]
    game = fold(events, told[at - 1][2])
    assert isinstance(game, Game)
    again: Told = [*told[:at], (told[at][0], events, game)]
    for command, _, _ in takewhile(is_of_the_round, told[at + 1 :]):
        events, game = unfold(command, game)
        again.append((command, events, game))
    return again


def unseen(told: Told, seat: int, dealt: e.RoundDealt) -> Card | None:
    """Finds a card that never left the seat's hand, in a round whose stock was not used up."""
    events = [event for _, happened, _ in told for event in happened]
    games = [game for _, _, game in takewhile(is_of_the_round, told)]
    if any(isinstance(event, e.StockRenewed) for event in events) or not all(stock_of(game) for game in games):
        return None
    if any(isinstance(event, e.ShanghaiCalled) and seat in (event.from_seat, event.to_seat) for event in events):
        return None
    hands = [game.seats[seat].hand for game in games]
    return next((card for card in dealt.hands[seat] if all(card in hand for hand in hands)), None)


def stock_of(game: Game) -> Sequence[Card]:
    return () if game.round is None else game.round.stock


def is_of_the_round(step: tuple[TableCommand, list[Event], Game]) -> bool:
    _, _, game = step
    return game.round is not None and game.round.step != "scoring"


def seen(told: Told, viewer: int | None) -> Iterator[object]:
    """Shows all that a viewer is told before the hands are opened."""
    for _, events, game in takewhile(lambda step: step[2].round is None or is_of_the_round(step), told):
        for event in events:
            yield kind_of(event), seat_of(event, viewer), visible_data(event, viewer)
        yield view_for(game, viewer)
