"""What a process says of its health, asked for it over HTTP."""

import http.client
import json
from contextlib import closing

from msgspec import Struct

_PATIENCE_S = 3.0


class Answer(Struct, frozen=True):
    """What the process says of itself."""

    is_well: bool
    text: str


def ask(port: int, path: str, host: str = "127.0.0.1") -> Answer | None:
    """Asks for one of the pages of health; None where nothing answers there."""
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE_S)
    with closing(connection):
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return Answer(response.status == http.client.OK, response.read().decode())
        except (OSError, http.client.HTTPException):
            return None


def missing(host: str, port: int) -> list[str]:
    """Names what the API does not report as there; `api` while it does not answer at all."""
    answer = ask(port, "/health/ready", host)
    if answer is None:
        return ["api"]
    try:
        ready = json.loads(answer.text)
    except ValueError:  # somebody else answers
        return ["api"]
    absent = [name for name, is_there in ready["processes"].items() if not is_there]
    return absent or ([] if ready["status"] == "ok" else [str(ready["status"])])
