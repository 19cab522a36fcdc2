"""A share of the luck from the players: committed with the seat, asked for at the start, revealed unseen."""

from hashlib import sha256

import pytest

from domain import events as e
from domain.commands import (
    ChangeController,
    DealRound,
    DropNonces,
    OpenGame,
    Pace,
    RevealNonce,
    SeatPlan,
    StartGame,
    TableCommand,
    TakeSeat,
)
from domain.decide import decide
from domain.evolve import fold
from domain.luck import link
from domain.presets import preset
from domain.refusals import (
    AlreadyStarted,
    NonceNotAsked,
    Outdated,
    Refused,
    RuleBroken,
    SeatNotFound,
    SeatsOpen,
    SeatTaken,
    WrongNonce,
)
from domain.state import Game
from domain.visible import visible_data
from tests.domain.table import ANNA, BORIS, CLARA, DAVID, Table

SEED = bytes(range(32))
NONCE, OTHER = "00112233445566778899aabbccddeeff", "ff" * 16


def commitment(nonce: str) -> str:
    return sha256(bytes.fromhex(nonce)).hexdigest()


def waiting(**nonces: str) -> Table:
    """Anna, Boris and Clara may sit down; David is a bot."""
    seats = (SeatPlan("open"), SeatPlan("open"), SeatPlan("open"), SeatPlan("bot", None, "easy"))
    game = fold(decide(OpenGame("gam_x", preset("davis"), Pace(), seats, link(SEED, 0).hex()), fold([])))
    assert isinstance(game, Game)
    t = Table(game)
    for seat, name in enumerate(("anna", "boris", "clara")):
        nonce = nonces.get(name)
        t.carry_out(TakeSeat(seat, f"ply_{name}", commitment(nonce) if nonce else None))
    return t


def refusal(t: Table, command: TableCommand) -> RuleBroken:
    with pytest.raises(Refused) as refused:
        decide(command, t.game)
    return refused.value.broken


def test_without_commitments_the_game_starts_at_once() -> None:
    t = waiting()
    assert t.carry_out(StartGame()) == [e.GameStarted((None, None, None, None))]


def test_commitments_are_published_at_the_start_and_the_game_waits_for_what_is_behind_them() -> None:
    t = waiting(anna=NONCE, clara=OTHER)
    asked = t.carry_out(StartGame())
    assert asked == [e.NoncesAsked((commitment(NONCE), None, commitment(OTHER), None))]
    assert t.carry_out(RevealNonce(ANNA, NONCE)) == [e.NonceRevealed(ANNA, NONCE)]
    started = t.carry_out(RevealNonce(CLARA, OTHER))
    assert started == [e.NonceRevealed(CLARA, OTHER), e.GameStarted((NONCE, None, OTHER, None))]
    assert t.game.status == "playing"


def test_a_revealed_nonce_is_seen_by_nobody_until_all_have_revealed() -> None:
    t = waiting(anna=NONCE, clara=OTHER)
    t.carry_out(StartGame())
    revealed = t.carry_out(RevealNonce(ANNA, NONCE))[0]
    assert all(NONCE not in repr(visible_data(revealed, viewer)) for viewer in (None, ANNA, BORIS, CLARA))
    started = t.carry_out(RevealNonce(CLARA, OTHER))[-1]
    assert NONCE in repr(visible_data(started, None))


def test_revealing_the_same_bytes_again_changes_nothing() -> None:
    t = waiting(anna=NONCE, clara=OTHER)
    t.carry_out(StartGame())
    t.carry_out(RevealNonce(ANNA, NONCE))
    assert t.carry_out(RevealNonce(ANNA, NONCE)) == []
    assert refusal(t, RevealNonce(ANNA, OTHER)) == NonceNotAsked(ANNA)


@pytest.mark.parametrize("wrong", [OTHER, "", "00", NONCE.upper(), NONCE + "00", "no hex at all", NONCE[:-1]])
def test_other_bytes_than_those_committed_to_are_refused(wrong: str) -> None:
    t = waiting(anna=NONCE)
    t.carry_out(StartGame())
    assert refusal(t, RevealNonce(ANNA, wrong)) == WrongNonce(ANNA)


def test_nobody_reveals_what_was_not_asked_for() -> None:
    t = waiting(anna=NONCE)
    assert refusal(t, RevealNonce(ANNA, NONCE)) == NonceNotAsked(ANNA)
    t.carry_out(StartGame())
    assert refusal(t, RevealNonce(BORIS, NONCE)) == NonceNotAsked(BORIS)
    assert refusal(t, RevealNonce(DAVID, NONCE)) == NonceNotAsked(DAVID)
    assert refusal(t, RevealNonce(9, NONCE)) == SeatNotFound(9)
    assert refusal(t, RevealNonce(-1, NONCE)) == SeatNotFound(-1)


def test_who_does_not_reveal_in_time_loses_the_seat_and_everybody_commits_anew() -> None:
    t = waiting(anna=NONCE, clara=OTHER)
    asked_at = t.game.version + 1
    t.carry_out(StartGame())
    t.carry_out(RevealNonce(ANNA, NONCE))
    assert t.carry_out(DropNonces(asked_at)) == [e.NoncesDropped((CLARA,))]
    assert [seat.controller for seat in t.game.seats] == ["human", "human", "open", "bot"]
    assert all(seat.nonce_commitment is None and seat.nonce is None for seat in t.game.seats)
    assert refusal(t, RevealNonce(CLARA, OTHER)) == NonceNotAsked(CLARA)
    assert refusal(t, StartGame()) == SeatsOpen((CLARA,))
    t.carry_out(TakeSeat(CLARA, "ply_zoe"))
    assert t.carry_out(StartGame()) == [e.GameStarted((None, None, None, None))]


def test_the_time_to_reveal_is_over_once_only() -> None:
    t = waiting(anna=NONCE)
    asked_at = t.game.version + 1
    assert refusal(t, DropNonces(asked_at)) == Outdated()
    t.carry_out(StartGame())
    assert refusal(t, DropNonces(asked_at + 1)) == Outdated()
    t.carry_out(RevealNonce(ANNA, NONCE))
    assert refusal(t, DropNonces(asked_at)) == Outdated()


def test_commitments_are_closed_once_nonces_are_asked_for() -> None:
    t = waiting(anna=NONCE)
    t.carry_out(StartGame())
    assert refusal(t, TakeSeat(BORIS, "ply_boris", commitment(OTHER))) == AlreadyStarted()
    assert refusal(t, StartGame()) == AlreadyStarted()


def test_one_seat_for_one_player() -> None:
    t = waiting()
    assert refusal(t, TakeSeat(ANNA, "ply_zoe")) == SeatTaken(ANNA)
    assert refusal(t, TakeSeat(DAVID, "ply_anna")) == SeatTaken(DAVID)
    assert refusal(t, TakeSeat(7, "ply_zoe")) == SeatNotFound(7)


def test_a_nonce_stays_with_its_seat_whoever_plays_it() -> None:
    t, same = waiting(anna=NONCE), waiting(anna=NONCE)
    for each in (t, same):
        each.carry_out(StartGame())
        each.carry_out(RevealNonce(ANNA, NONCE))
    t.carry_out(ChangeController(ANNA, "bot", None, "normal", "handed_over"))
    for each in (t, same):
        each.carry_out(DealRound(1, link(SEED, 1).hex()))
    assert [seat.hand for seat in t.game.seats] == [seat.hand for seat in same.game.seats]
    assert t.game.nonces == (NONCE, None, None, None)


def test_a_nonce_changes_every_shuffle() -> None:
    with_nonce, without = waiting(anna=NONCE), waiting()
    with_nonce.carry_out(StartGame())
    with_nonce.carry_out(RevealNonce(ANNA, NONCE))
    without.carry_out(StartGame())
    for each in (with_nonce, without):
        each.carry_out(DealRound(1, link(SEED, 1).hex()))
    assert with_nonce.round.stock != without.round.stock
