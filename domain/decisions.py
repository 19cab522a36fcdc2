"""A decision is an open question to one seat. It stays open until an event closes it; the domain knows no clock."""

from typing import Literal, TypeAlias

from msgspec import Struct

from domain.state import Game

DecisionKind: TypeAlias = Literal["draw", "claim", "play"]


class Decision(Struct, frozen=True, gc=False):
    """An open question, asked by the event with number `opened_at`."""

    seat: int
    kind: DecisionKind
    opened_at: int

    @property
    def decision_id(self) -> str:
        """Names the question, uniquely in its game for ever."""
        return f"{self.kind}-{self.opened_at}-{self.seat}"


def seat_named(decision_id: str) -> int | None:
    """Gives the seat that an id names, whether or not the question is open; None for what is no decision's id.

    Whoever uses another seat's id learns nothing from the answer about what that seat has been asked or has answered.
    """
    _, _, seat = decision_id.rpartition("-")
    return int(seat) if seat.isdecimal() and len(seat) == 1 else None


def open_decisions(game: Game) -> tuple[Decision, ...]:
    """Lists what the table waits for; the player in turn first, then the others in playing direction."""
    round_ = game.round
    if round_ is None or game.status != "playing" or round_.step == "scoring":
        return ()
    if round_.now.offered is not None:
        return (Decision(round_.now.offered, "claim", round_.asked_at),)
    if round_.step == "play":
        return (Decision(round_.turn, "play", round_.asked_at),)
    window = round_.window
    draw = () if window is not None and window.declined else (Decision(round_.turn, "draw", round_.asked_at),)
    if window is None:
        return draw
    return (*draw, *[Decision(seat, "claim", window.opened_at) for seat in window.asked])
