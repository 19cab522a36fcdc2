"""What a command makes happen, event after event, each judged on the table that the ones before have left.

`game` and `round` are one object each from the first event to the last: what must be known of the table before an event
is read before it is added.
"""

from collections.abc import Iterable

from domain.events import Event
from domain.evolve import record, working_copy
from domain.state import Game, Round


class Unfolding:
    """Collects the events of one command and keeps the game as it stands after them."""

    __slots__ = ("events", "game")

    def __init__(self, game: Game, events: Iterable[Event] = ()) -> None:
        self.game = working_copy(game)
        self.events: list[Event] = []
        for event in events:
            self.add(event)

    @property
    def round(self) -> Round:
        """The round on the table; only asked for while there is one."""
        assert self.game.round is not None
        return self.game.round

    def add(self, event: Event) -> None:
        """Lets an event happen."""
        record(self.game, event)
        self.events.append(event)
