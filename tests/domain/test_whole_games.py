"""What holds in every game, whoever plays how: cards are conserved, replay is the live game, views keep secrets."""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain import events as e
from domain.cards import in_deck_order
from domain.commands import Answer
from domain.decide import decide
from domain.decisions import open_decisions
from domain.events import Event
from domain.evolve import fold
from domain.options import options_for
from domain.presets import preset, preset_names
from domain.state import Game
from domain.view import view_for
from domain.visible import visible_data
from services.codec import decode_event, encode_event
from tests.domain.exports import shown
from tests.domain.games import at_random, cards_of, deck_of, like_a_bot, whole_game
from tests.replica import Replica

GAMES_OF_BOTS = 20  # of each table; the soak plays a thousand
TABLES = [
    pytest.param(name, players, id=f"{name}-{players}")
    for name in preset_names()
    for players in range(preset(name).players.min, preset(name).players.max + 1)
]
GAMES = [
    pytest.param(name, players, seed, id=f"{name}-{players}-seed{seed}")
    for name in preset_names()
    for players, seed in ((preset(name).players.min, 1), (4, 3), (preset(name).players.max, 4))
]


def mixed_game(name: str, players: int, seed: int) -> Iterator[tuple[Game, list[Event]]]:
    """Plays two rounds in which every tenth move is any legal move: it sees more of the rules than good play does."""
    return whole_game(name, players, seed, at_random(Random(seed), share=0.1), rounds=2)


@pytest.mark.parametrize(("name", "players", "seed"), GAMES)
def test_every_card_of_the_deck_is_somewhere_after_every_event(name: str, players: int, seed: int) -> None:
    state = fold([])
    for _, events in mixed_game(name, players, seed):
        for event in events:
            state = fold([event], state)
            if isinstance(state, Game) and state.round is not None:
                assert cards_of(state) == deck_of(state), event


@pytest.mark.parametrize(("name", "players", "seed"), GAMES)
def test_stored_events_replay_to_the_live_game(name: str, players: int, seed: int) -> None:
    played = list(mixed_game(name, players, seed))
    stored = [encode_event(event) for _, events in played for event in events]
    assert fold(decode_event(*event) for event in stored) == played[-1][0]


@pytest.mark.parametrize(("name", "players", "seed"), GAMES)
def test_every_listed_option_is_accepted(name: str, players: int, seed: int) -> None:
    for game, _ in mixed_game(name, players, seed):
        for decision in open_decisions(game):
            options = options_for(game, decision)
            assert options
            for move in options:
                assert decide(Answer(decision.seat, decision.decision_id, move), game)


@pytest.mark.parametrize(("name", "players", "seed"), GAMES)
def test_the_events_shown_to_a_viewer_tell_the_whole_view(name: str, players: int, seed: int) -> None:
    replicas = [Replica(None), *(Replica(seat) for seat in range(players))]
    state = fold([])
    for _, events in mixed_game(name, players, seed):
        for event in events:
            state = fold([event], state)
            assert isinstance(state, Game)
            for replica in replicas:
                replica.record(shown(event, state.version, replica.seat))
        for replica in replicas:
            assert isinstance(state, Game)
            view = msgspec.json.decode(msgspec.json.encode(view_for(state, replica.seat)))
            replica.compare(view)


@pytest.mark.parametrize(("name", "players", "seed"), GAMES)
def test_a_view_does_not_change_when_hidden_cards_change_places(name: str, players: int, seed: int) -> None:
    random = Random(seed)
    for game, _ in mixed_game(name, players, seed):
        if game.round is None or random.random() > 0.2:
            continue
        for viewer in (None, *range(players)):
            assert view_for(game, viewer) == view_for(with_hidden_cards_mixed(game, viewer, random), viewer)


def with_hidden_cards_mixed(game: Game, viewer: int | None, random: Random) -> Game:
    assert game.round is not None
    hidden = [seat for seat in range(len(game.seats)) if seat != viewer]
    pool = [*game.round.stock, *(card for seat in hidden for card in game.seats[seat].hand)]
    random.shuffle(pool)
    seats = list(game.seats)
    for seat in hidden:
        held = len(seats[seat].hand)
        seats[seat] = replace(seats[seat], hand=in_deck_order(pool[:held]))
        pool = pool[held:]
    return replace(game, seats=tuple(seats), round=replace(game.round, stock=tuple(pool), secret="00" * 32))


@pytest.mark.parametrize(("name", "players", "seed"), GAMES)
def test_no_event_or_view_shows_a_hidden_card_or_a_rounds_secret(name: str, players: int, seed: int) -> None:
    for game, events in mixed_game(name, players, seed):
        secret = "" if game.round is None else game.round.secret
        ended = any(isinstance(event, e.RoundEnded) for event in events)
        for viewer in (None, *range(players)):
            for event in events:
                text = msgspec.json.encode(visible_data(event, viewer)).decode()
                assert not secret or secret not in text or isinstance(event, e.RoundEnded)
                assert_tells_nothing_hidden(event, viewer, msgspec.json.decode(text))
            if secret and not ended:
                assert secret not in msgspec.json.encode(view_for(game, viewer)).decode()


def assert_tells_nothing_hidden(event: Event, viewer: int | None, data: dict[str, Any]) -> None:
    match event:
        case e.RoundDealt():
            assert data.get("hand", []) == ([] if viewer is None else list(in_deck_order(event.hands[viewer])))
            assert "stock" not in data
        case e.CardDrawn(seat, "stock"):
            assert ("card" in data) == (seat == viewer)
        case e.CardBought(seat):
            assert ("penalty_cards" in data) == (seat == viewer)
        case e.Passed(seat):
            assert bool(data) == (seat == viewer)
        case e.ShanghaiCalled(penalty_card=card, from_seat=source, to_seat=target) if card is not None:
            assert ("penalty_card" in data) == (viewer is not None and viewer in (source, target))
        case e.StockRenewed():
            assert "stock" not in data
        case _:
            pass


@pytest.mark.parametrize("name", preset_names())
def test_two_deals_that_differ_in_one_hand_show_the_others_the_same(name: str) -> None:
    dealt = next(events for _, events in mixed_game(name, 4, 5) if isinstance(events[0], e.RoundDealt))
    event = dealt[0]
    assert isinstance(event, e.RoundDealt)
    other = replace(event, hands=(event.stock[: len(event.hands[0])], *event.hands[1:]))
    for viewer in (None, 1, 2):
        assert visible_data(event, viewer) == visible_data(other, viewer)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_games_of_bots_come_to_an_end(name: str, players: int) -> None:
    for seed in range(100 * players, 100 * players + GAMES_OF_BOTS):
        *_, (game, _) = whole_game(name, players, seed, like_a_bot)
        assert game.status == "finished"
        assert game.result is not None
        assert game.result.totals == tuple(seat.score for seat in game.seats)


def test_a_game_of_random_moves_comes_to_an_end() -> None:
    *_, (game, _) = whole_game("davis", 3, 6, at_random(Random(6)), rounds=1)
    assert game.round is not None
    assert game.round.scored
