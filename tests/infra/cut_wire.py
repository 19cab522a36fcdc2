"""A way to Postgres that can be cut, before a statement arrives or after its answer was given."""

from tests.wire import READY, Wire

_APPENDED = b"SELECT 1\x00"  # the tag of a statement that gives one row


class CutWire(Wire):
    """swallow_answers: the next statements are carried out, but their sender loses the connection before the answer."""

    def __init__(self) -> None:
        super().__init__()
        self.swallow_answers = 0
        self.swallowed = 0

    def answered(self, chunk: bytes, notes: set[bytes]) -> bool:
        if not (self.swallow_answers and _APPENDED in chunk and chunk.endswith(READY)):
            return True
        self.swallow_answers -= 1
        self.swallowed += 1
        return False
