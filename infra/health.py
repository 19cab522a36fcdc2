"""What a process answers at its own port, asked from the same machine."""

import http.client
from contextlib import closing

from msgspec import Struct

_PATIENCE_S = 3.0


class Answer(Struct, frozen=True):
    """What the process says of itself."""

    is_well: bool
    text: str


def ask(port: int, path: str) -> Answer | None:
    """Asks for one of the pages of health; None where nothing answers there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    with closing(connection):
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return Answer(response.status == http.client.OK, response.read().decode())
        except (OSError, http.client.HTTPException):
            return None
