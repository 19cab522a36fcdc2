"""What the API says about itself and its neighbours."""

import contextlib
import http.client
import json


def missing(host: str, port: int) -> list[str]:
    """Names what GET /health/ready does not report as there; `api` while it does not answer at all."""
    connection = http.client.HTTPConnection(host, port, timeout=2)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/health/ready")
        answer = json.loads(connection.getresponse().read())
        absent = [name for name, is_there in answer["processes"].items() if not is_there]
        return absent or ([] if answer["status"] == "ok" else [str(answer["status"])])
    return ["api"]
