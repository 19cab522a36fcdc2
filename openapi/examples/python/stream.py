"""Follows a game's stream to its end, whatever cuts the connection. Needs httpx."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx

DEAD_S = 35.0  # heartbeats come every 15 s; after two of them missed the connection is dead
TRY_LATER = (429, 503)


def follow(http: httpx.Client, game_id: str, *, after: int = 0, view: bool = False) -> Iterator[tuple[str, Any]]:
    """Gives each message as its kind and its data. Every version after `after` comes once and in order.

    http: knows the server and the token. view: after each batch comes a message `view`, the whole view.
    """
    url, wait_s = f"/v1/games/{game_id}/stream", 1.0
    while True:
        headers = {"Last-Event-ID": str(after)}
        try:
            with http.stream("GET", url, params={"view": view}, headers=headers, timeout=DEAD_S) as response:
                if response.status_code == httpx.codes.NO_CONTENT:
                    return  # the game is over and everything was told
                if response.status_code not in TRY_LATER:
                    response.raise_for_status()
                    for kind, data, number, retry_ms in messages(response.iter_lines()):
                        if retry_ms is not None:
                            wait_s = retry_ms / 1000
                        if number is not None:
                            after = number
                        yield kind, data
                        if kind == "bye" and data["reason"] != "shutting_down":
                            return
        except httpx.TransportError:
            pass  # cut off: go on after the last event that came whole
        time.sleep(wait_s)


def messages(lines: Iterator[str]) -> Iterator[tuple[str, Any, int | None, int | None]]:
    """Reads server-sent events: kind, data, version and `retry`; one that is cut off in its middle is dropped."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")  # this server writes the data in one line
        elif fields:
            number, retry_ms = fields.get("id"), fields.get("retry")
            if "data" in fields:
                yield (
                    fields.get("event", "message"),
                    json.loads(fields["data"]),
                    None if number is None else int(number),
                    None if retry_ms is None else int(retry_ms),
                )
            fields = {}
