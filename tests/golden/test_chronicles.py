"""Games told as text for people: the recorded golden games, read as different viewers may."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from domain import events as e
from services.chronicle import WIDTH, chronicle, face
from services.codec import decode_event
from services.ports import Recorded
from services.rendering import render_event, render_openly
from tests.golden.files import NUMBERS, recorded
from tests.golden.samples import SAMPLES

FOLDER = Path(__file__).parent / "chronicles"
BEGAN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NAMES = {"ply_anna": "Anna"}
TOLD = [("davis", "open"), ("jokers", "seat-0"), ("may-i", "spectator"), ("ten-phases", "open")]
CUT = 300  # events of a game that still runs


def game_of(name: str) -> list[Recorded]:
    lines = [line.partition(" ") for line in recorded(name)]
    return [
        Recorded(
            "gam_golden",
            version,
            decode_event(NUMBERS[kind], 1, payload.encode()),
            "player",
            1,
            UUID(int=version),
            BEGAN + timedelta(seconds=version),
        )
        for version, (kind, _, payload) in enumerate(lines, start=1)
    ]


def told(name: str, viewer: str) -> str:
    game = game_of(name)
    if viewer == "open":
        return chronicle(render_openly(each, NAMES) for each in game)
    seat = None if viewer == "spectator" else int(viewer[-1])
    return chronicle(render_event(each, seat, NAMES) for each in game[:CUT])


@pytest.mark.parametrize(("name", "viewer"), TOLD)
def test_a_golden_game_is_told_as_it_was_recorded(name: str, viewer: str, *, is_recording: bool) -> None:
    file, text = FOLDER / f"{name}-{viewer}.txt", told(name, viewer)
    if is_recording:
        file.write_text(text)
    assert text == file.read_text(), "pytest tests/golden --record-golden"
    assert max(map(len, text.splitlines())) <= WIDTH


def test_what_a_viewer_does_not_see_is_not_told() -> None:
    """A game that differs in another's cards alone is told in the same words."""
    game = game_of("davis")[:CUT]
    other = [_with_other_cards(each) for each in game]
    for seat in (0, None):
        words = [chronicle(render_event(each, seat, NAMES) for each in those) for those in (game, other)]
        assert words[0] == words[1]
    assert told("davis", "open") != chronicle(render_openly(each, NAMES) for each in other)


def _with_other_cards(each: Recorded) -> Recorded:
    """Changes what only seats 1 and up, or nobody, have seen."""
    match each.event:
        case e.RoundDealt() as dealt:
            hands = (dealt.hands[0], *(("2C",) * len(hand) for hand in dealt.hands[1:]))
            event: e.Event = e.RoundDealt(
                dealt.number, dealt.contracts, dealt.dealer, "cd" * 32, hands, dealt.upcard, ("3C",) * len(dealt.stock)
            )
        case e.CardDrawn(seat, "stock", _, stock_count) if seat != 0:
            event = e.CardDrawn(seat, "stock", "2C", stock_count)
        case e.CardBought(seat, card, penalty, stock_count) if seat != 0:
            event = e.CardBought(seat, card, ("2C",) * len(penalty), stock_count)
        case event:
            pass
    return Recorded(each.game_id, each.version, event, each.actor, each.round, each.command_id, each.occurred_at)


def test_every_kind_of_event_can_be_told() -> None:
    for sample in SAMPLES:
        shown = Recorded("gam_1", 1, sample, "player", 1, UUID(int=1), BEGAN)
        for text in (chronicle([render_openly(shown, NAMES)]), chronicle([render_event(shown, None, NAMES)])):
            assert "UNSET" not in text
            assert "{" not in text


def test_cards_are_written_with_their_suits_signs() -> None:
    assert [face(card) for card in ("7H", "TS", "JK", "R12", "W")] == ["7♥", "10♠", "JK", "R12", "W"]
