"""Nothing acknowledged is lost or doubled, and every stream tells the log, while every process is killed in turn."""

import copy
import sys
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.e2e.conftest import Server
from tests.e2e.history import Player, faults_in, live_through, sitting
from tests.e2e.test_faults import FAULTS

SEED = 4
SECONDS = 16.0
PAUSE_S = 1.9  # `up` gives up on a process that dies five times in a minute

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


@pytest.fixture(scope="module")
def history(server: Server) -> Iterator[list[Player]]:
    faults = [partial(fault, server) for fault in FAULTS]
    with sitting([server.base_url], tables=2) as players:
        live_through(players, faults, seed=SEED, seconds=SECONDS, pause_s=PAUSE_S)
        yield players


def test_what_was_acknowledged_and_told_is_what_the_log_has(history: list[Player]) -> None:
    accepted = sum(bool(sent.accepted) for player in history for sent in player.sent)
    answers = [answer for player in history for sent in player.sent for answer in sent.answers]
    broken = sum(answer is None or answer[0] >= 500 for answer in answers)
    sys.stdout.write(
        f"{accepted} moves accepted, {len(answers)} requests, {broken} of them cut off or refused by faults\n"
    )
    assert faults_in(history) == []
    assert accepted > 15
    assert broken > 0


def a_move_is_lost(player: Player) -> None:
    place = next(n for n, event in enumerate(player.log) if event["move_id"])
    del player.log[place]


def a_move_is_stored_twice(player: Player) -> None:
    moves = [event for event in player.log if event["move_id"]]
    player.log.append({**moves[0], "version": len(player.log) + 1})


def an_acknowledged_move_is_another_one(player: Player) -> None:
    first = next(sent for sent in player.sent if sent.accepted)
    assert first.answers[0] is not None
    first.answers[0] = (201, {**first.accepted[0], "move_id": "mov_other"})


def a_key_is_refused_after_all(player: Player) -> None:
    next(sent for sent in player.sent if sent.accepted).answers.append((409, {"code": "decision_closed"}))


def a_stream_skips_an_event(player: Player) -> None:
    del player.told[len(player.told) // 2]


def a_stream_tells_an_event_twice(player: Player) -> None:
    player.told.insert(5, player.told[4])


def a_stream_shows_another_card(player: Player) -> None:
    place = next(n for n, event in enumerate(player.told) if event["kind"] == "card_discarded")
    player.told[place] = {**player.told[place], "data": {**player.told[place]["data"], "card": "??"}}


@pytest.mark.parametrize(
    "fault",
    [
        a_move_is_lost,
        a_move_is_stored_twice,
        an_acknowledged_move_is_another_one,
        a_key_is_refused_after_all,
        a_stream_skips_an_event,
        a_stream_tells_an_event_twice,
        a_stream_shows_another_card,
    ],
)
def test_the_comparison_finds_a_fault_of_each_kind(history: list[Player], fault: Callable[[Player], None]) -> None:
    client = history[0].client
    tampered = [
        Player(client, p.game_id, p.seat, copy.deepcopy(p.sent), copy.deepcopy(p.told), copy.deepcopy(p.log))
        for p in history
    ]
    fault(tampered[1])
    assert faults_in(tampered) != []
