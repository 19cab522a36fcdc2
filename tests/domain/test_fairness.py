"""A game is verified from its download alone: fair games pass."""

from itertools import count
from random import Random

import pytest

from domain.commands import DropNonces, LeaveForGood, OpenGame, Pace, RevealNonce, SeatPlan, StartGame, TakeSeat
from domain.decisions import open_decisions
from domain.fairness_deal import Luck, Setting, deal_again
from domain.luck import link
from domain.presets import Json, preset, preset_names, ruleset_with
from tests.domain.downloads import NONCE, SEED, commitment_to, download, game_with_nonces, verified
from tests.domain.exports import exported
from tests.domain.games import at_random, like_a_bot, next_command, whole_game
from tests.domain.table import ANNA, BORIS, CLARA, Table


@pytest.mark.parametrize("name", preset_names())
def test_a_game_of_every_preset_is_verified_by_each_player_and_by_a_spectator(name: str) -> None:
    players = min(4, preset(name).players.max)
    for viewer in (None, *range(players)):
        report = verified(download(name, viewer))
        assert report.findings == ()
        assert (report.viewer, report.rounds, report.unrevealed) == (viewer, (1, 2, 3), ())
        assert report.cards > 100


@pytest.mark.parametrize("name", ["davis", "black-twos", "ten-phases"])
def test_a_whole_game_is_verified_to_its_winners(name: str) -> None:
    report = verified(download(name, share=0.02, rounds=None))
    assert report.findings == ()
    assert report.is_finished


@pytest.mark.parametrize(
    ("end", "max_rounds", "has_won"),
    [
        ("lowest_total", None, {0: True, 1: True, 2: True}),
        ("first_through", None, {0: False, 1: False, 2: True}),
        ("lowest_total", 1, {0: False, 1: True}),
    ],
)
def test_the_winners_of_contracts_of_ones_own_are_verified(
    end: str, max_rounds: int | None, has_won: dict[int, bool]
) -> None:
    """No card counts, so that contracts alone can make a difference; `has_won` goes by the contracts done."""
    contract: list[Json] = [{"kind": "set", "size": 3}, {"kind": "run", "size": 4}]
    changes: dict[str, Json] = {
        "progression": "individual", "end": end, "max_rounds": max_rounds, "contracts": [contract, contract],
        "last_round": "normal", "points": {"cards": dict.fromkeys(("A", *"23456789TJQK", "JK"), 0)},
    }  # fmt: skip
    player = at_random(Random(15), 0.3)
    told = list(whole_game(ruleset_with("davis", changes), 4, 15, player))
    game = told[-1][0]
    assert game.result is not None
    assert len({seat.contract for seat in game.seats}) > 1
    assert [seat in game.result.winners for seat in range(4)] == [has_won[seat.contract] for seat in game.seats]
    assert verified(exported(game.game_id, [event for _, events in told for event in events], None)).findings == ()


def test_a_running_game_is_verified_up_to_its_last_revealed_round() -> None:
    export = download()
    second = next(at for at, event in enumerate(export) if event["data"].get("number") == 2)
    report = verified(export[: second + 20])
    assert report.findings == ()
    assert (report.rounds, report.unrevealed) == ((1,), (2,))


def test_the_test_vector_is_dealt() -> None:
    setting = Setting("gam_test", preset("davis"), 4, (None, NONCE, None, None))
    dealt = deal_again(Luck(setting, 1, link(SEED, 1)))
    assert (dealt.dealer, dealt.order) == (3, (0, 1, 2, 3))
    assert [" ".join(hand[:3]) for hand in dealt.hands] == ["6H KH 2S", "4D JK 6H", "2H 6S TH", "3S KC 3H"]
    assert " ".join(dealt.stock[-4:]) == "2D TS AD 9C"


def test_nonces_are_verified_and_mixed_into_the_luck() -> None:
    report = verified(exported("gam_nonces", game_with_nonces(), CLARA))
    assert report.findings == ()
    assert (report.nonces, report.rounds) == (2, (1, 2))


def test_nonces_that_were_dropped_bind_nobody() -> None:
    seats = (SeatPlan("open"),) * 3
    table = Table.opened(OpenGame("gam_dropped", preset("davis"), Pace(), seats, link(SEED, 0).hex()))
    for seat, nonce in ((ANNA, NONCE), (BORIS, NONCE[::-1])):
        table.carry_out(TakeSeat(seat, f"ply_{seat}", commitment_to(nonce)))
    table.carry_out(TakeSeat(CLARA, "ply_clara"))
    table.carry_out(StartGame())
    table.carry_out(RevealNonce(BORIS, NONCE[::-1]))
    assert table.game.nonces_asked_at is not None
    table.carry_out(DropNonces(table.game.nonces_asked_at))
    table.carry_out(TakeSeat(ANNA, "ply_anna"))
    table.carry_out(StartGame())
    assert verified(exported("gam_dropped", table.events, None)).findings == ()


@pytest.mark.parametrize(("commands_before", "leaver"), [(40, None), (2, 0), (2, 1), (2, 2), (2, 3)])
def test_a_game_that_a_player_left_for_good_is_verified(commands_before: int, leaver: int | None) -> None:
    """Somebody leaves in their turn, or before the first deal; that seat may have been drawn as the dealer."""
    rules = ruleset_with("davis", {"leaver": "out"})
    plans = tuple(SeatPlan("human", f"ply_{seat}") for seat in range(4))
    table = Table.opened(OpenGame("gam_left", rules, Pace(), plans, link(SEED, 0).hex()))
    table.carry_out(StartGame())
    for number in count(2):
        command = next_command(table.game, SEED, Random(2), like_a_bot, rounds=3)
        if number == commands_before:
            command = LeaveForGood(open_decisions(table.game)[0].seat if leaver is None else leaver)
        if command is None:
            break
        table.carry_out(command)
    assert verified(exported("gam_left", table.events, None)).findings == ()
