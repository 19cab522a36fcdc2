"""The cards on the table: a meld and the roles of its cards."""

from msgspec import Struct, field

from domain.cards import Card
from domain.ruleset import MeldKind


class Placed(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A card in a meld. `as` is a wild's role: a card in a run, a rank in a set or any-suit run, else a colour.

    On the table a natural card has None; in a command None also means "where one reading exists, that one".
    """

    card: Card
    as_: str | None = field(default=None, name="as")


class Meld(Struct, frozen=True, gc=False, cache_hash=True):  # what fits a meld is remembered by it
    """A meld on the table. A run's cards stand from low to high; a set's in the order laid."""

    meld_id: str
    owner: int
    kind: MeldKind
    cards: tuple[Placed, ...]


class NewMeld(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A meld as a player lays it down: cards in any order, roles where needed."""

    kind: MeldKind
    cards: tuple[Placed, ...]


def added_cards(before: tuple[Placed, ...], after: tuple[Placed, ...]) -> tuple[Placed, ...]:
    """Finds the cards by which a meld has grown, in their roles."""
    added = list(after)
    for placed in before:
        added.remove(placed)
    return tuple(added)
