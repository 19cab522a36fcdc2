"""What `make demo` shows of a game."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from infra.demo import Show

MELD = {"kind": "set", "meld_id": "m1", "cards": [{"card": "9H", "as": None}, {"card": "JK", "as": "9S"}]}


def test_a_line_tells_a_turn_and_names_the_melds_that_later_lines_add_to() -> None:
    shown = shown_of(
        ("turn_began", 0, {}),
        ("card_drawn", 0, {"card": "2C"}),
        ("melds_laid", 0, {"melds": [MELD]}),
        ("cards_laid_off", 0, {"cards": [{"card": "9C", "as": None}], "meld_id": "m1"}),
        ("card_discarded", 0, {"card": "KD", "declared": True}),
        ("turn_began", 1, {}),
    )
    assert shown == "Anna   takes 2♣ · lays set m1 9♥ JK(9♠) · adds 9♣ to m1 · discards K♦, declared\n"


@pytest.mark.parametrize(
    ("end", "data"), [("game_finished", {"winners": [0]}), ("game_cancelled", {"reason": "operator"})]
)
def test_the_score_sheet_is_shown_once_between_rounds_and_once_at_the_end(end: str, data: dict[str, Any]) -> None:
    scored = ("round_scored", None, {"points": [0, 5], "totals": [0, 5]})
    second = ("round_dealt", None, {"number": 2, "dealer": 0, "contract": [{"kind": "set", "size": 3}]})
    shown = shown_of(scored, second, scored, (end, None, data))
    first, _, last = shown.partition("Round 2")
    assert (first.count("Total"), last.count("Total")) == (1, 1)


def shown_of(*events: tuple[str, int | None, dict[str, Any]]) -> str:
    page = StringIO()
    show = Show(Console(file=page, highlight=False, width=100), ["Anna", "Boris"])
    for kind, seat, data in events:
        show.event({"kind": kind, "seat": seat, "data": data})
    return page.getvalue()
