"""What becomes of a command: what it wrote, or why it wrote nothing."""

from uuid import UUID

from msgspec import Struct


class Outcome(Struct, frozen=True):
    """What a command wrote: versions `first` to `last`, none where first > last. replayed: it was written before.

    command_id: of the command that the caller gave; nil where there was nothing to do.
    """

    command_id: UUID
    first: int
    last: int
    replayed: bool = False


class Denied(Exception):
    """A plan is refused for another reason than a rule of the game; it is judged again on fresh state."""


class GameNotFound(Denied):
    """There is no such game, or this player may not know of it."""


class OtherVersion(Denied):
    """The game is not at a version that the request was made for."""


class Busy(Exception):
    """The game changed under every try; sending the request again helps."""


class KeyReused(Exception):
    """The idempotency key belongs to another request."""
