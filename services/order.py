"""The log in the order of commits, as streams of people read it: one place in it stands for what all games had told.

A place is the relay's: what is committed below it is all that will ever be there. So a reader that has told everything
up to a place can go on after it, in any process.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from domain.events import Event, GameOpened, SeatChanged
from services.relay import Position

SEATING = (GameOpened, SeatChanged)
"""The events that make a game somebody's own."""


class Mark(Struct, frozen=True, gc=False):
    """Where an event lies. event: itself, where it is one of SEATING."""

    position: Position
    game_id: str
    version: int
    event: Event | None = None

    @property
    def player_id(self) -> str | None:
        """Names the player whose own the game becomes by this event."""
        match self.event:
            case GameOpened(opened_by=player_id) | SeatChanged(player_id=player_id):
                return player_id
            case _:
                return None

    @property
    def invited(self) -> tuple[str, ...]:
        """Names the players who are invited to the game that is opened by this event, but for who opens it."""
        if not isinstance(self.event, GameOpened):
            return ()
        return tuple(player_id for player_id in self.event.invited if player_id != self.event.opened_by)


class Place(Struct, frozen=True):
    """A place, and what its numbers belong to: they mean nothing on another cluster or timeline."""

    generation: str
    position: Position


class LogOrder(Protocol):
    """The log in the order of commits. Any call may raise Unavailable."""

    async def end(self) -> Place:
        """Gives the place after everything that is settled by now."""
        ...

    async def after(self, position: Position, limit: int) -> list[Mark]:
        """Reads what comes after a place, of all games."""
        ...

    async def missed(self, game_ids: Sequence[str], position: Position, limit: int) -> list[Mark]:
        """Reads what comes after a place, of these games; without the events themselves."""
        ...

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        """Gives the last settled version of each known game."""
        ...
