"""One recorded game of every preset is played again, event by event.

A rule that changes changes these games: look at the first event that differs, and if that is what was wanted record
them anew with `pytest tests/golden --record-golden`.
"""

import gzip
from collections.abc import Iterable
from itertools import zip_longest

import pytest

from domain.fairness import check
from domain.presets import preset_names
from services.codec import decode_event, encode_event
from tests.domain.exports import as_shown, exported
from tests.golden.files import FOLDER, NUMBERS, file_of, recorded
from tests.golden.games import golden_game


def played(name: str) -> list[str]:
    return [f"{type(event).__name__} {encode_event(event)[2].decode()}" for event in golden_game(name)]


def first_difference(old: Iterable[str], new: Iterable[str]) -> str | None:
    """Tells where two games part."""
    for number, (was, is_) in enumerate(zip_longest(old, new, fillvalue="nothing"), start=1):
        if was != is_:
            return f"event {number} differs\nrecorded: {was}\nplayed:   {is_}"
    return None


@pytest.mark.parametrize("name", preset_names())
def test_the_golden_game_is_played_as_it_was_recorded(name: str, is_recording: bool) -> None:
    lines = played(name)
    if is_recording:
        FOLDER.mkdir(exist_ok=True)
        file_of(name).write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
    assert file_of(name).exists(), f"{name} has no golden game: pytest tests/golden --record-golden"
    difference = first_difference(recorded(name), lines)
    assert difference is None, f"{name}: {difference}"


def test_there_is_a_golden_game_of_every_preset_and_of_nothing_else() -> None:
    assert sorted(file.name for file in FOLDER.iterdir()) == sorted(file_of(name).name for name in preset_names())


RARE = {
    "DrawSkipped",
    "FalseCalled",
    "GameCancelled",
    "OperatorActed",
    "TurnEnded",
    "TurnWarned",
}  # stuck or slow tables


def test_nearly_every_type_of_event_occurs_in_the_golden_games() -> None:
    occurring = {line.partition(" ")[0] for name in preset_names() for line in recorded(name)}
    assert set(NUMBERS) - occurring <= RARE


@pytest.mark.parametrize("name", preset_names())
def test_a_recorded_game_is_fair(name: str) -> None:
    events = [decode_event(NUMBERS[type_], 1, payload.encode()) for type_, payload in map(_parts, recorded(name))]
    for viewer in (0, None):
        report = check(as_shown(exported("gam_golden", events, viewer)))
        assert report.findings == ()
        assert (report.is_finished, report.nonces) == (True, 1)


def _parts(line: str) -> tuple[str, str]:
    type_, _, payload = line.partition(" ")
    return type_, payload


def test_the_first_difference_is_shown() -> None:
    assert first_difference(["a", "b"], ["a", "b"]) is None
    assert first_difference(["a", "b", "c"], ["a", "x", "y"]) == "event 2 differs\nrecorded: b\nplayed:   x"
    assert first_difference(["a"], ["a", "b"]) == "event 2 differs\nrecorded: nothing\nplayed:   b"
