"""What the documents say in words: parameters, headers, answers, and bodies to begin with."""

import json
from importlib.resources import files
from typing import Any

from api.patterns import KEY, id_pattern
from api.requests import MAX_KEY
from api.schemas import Schema
from services.version import VERSION

INFO = {
    "title": "Shanghai",
    "version": VERSION,
    "summary": "A server for the card game Shanghai and its family",
    "description": (
        "A game is a story of events with versions from 1 and no holes. What a player is asked are decisions; every"
        " option of a decision is a complete move that can be sent as it stands, so that a client that always sends"
        " some option plays a whole legal game. Nobody is shown what they would not see at a table.\n\n"
        "Errors are problem details (RFC 9457); `GET /v1/problems` lists them all. Unknown fields of requests are"
        " refused. A path has one spelling: without a slash at its end, its numbers without zeros before them; another"
        " one is 404. Answers may gain fields, values and kinds of events; a client ignores what it does not know."
        " Every answer has an `X-Request-ID`; one that the client sends is kept."
    ),
    "license": {"name": "MIT", "identifier": "MIT"},
}

PATH_PARAMETERS: dict[str, Schema] = {
    "game_id": {"description": "the game's id", "schema": {"type": "string", "pattern": id_pattern("gam")}},
    "player_id": {
        "description": "the player's id",
        "schema": {"type": "string", "pattern": id_pattern("ply")},
    },
    "ticket_id": {"description": "the ticket's id", "schema": {"type": "string", "pattern": id_pattern("tkt")}},
    "token_id": {"description": "the token's id", "schema": {"type": "string", "pattern": id_pattern("tok")}},
    "seat": {"description": "the seat's number, from 0", "schema": {"type": "integer", "minimum": 0}},
    "code": {"description": "the invite's code", "schema": {"type": "string"}},
    "webhook_id": {"description": "the webhook's id", "schema": {"type": "string", "pattern": id_pattern("whk")}},
    "delivery_id": {"description": "the delivery's id", "schema": {"type": "string", "pattern": id_pattern("msg")}},
    "move_id": {"description": "the move's id", "schema": {"type": "string", "pattern": id_pattern("mov")}},
    "round": {"description": "the round's number, from 1", "schema": {"type": "integer", "minimum": 1}},
    "name": {"description": "the ruleset's name", "schema": {"type": "string"}},
}

REQUEST_HEADERS: dict[str, Schema] = {
    "Idempotency-Key": {
        "description": "Any text of the client's own, new for each new request. The same request with the same key is"
        " carried out once, and answered again with `Idempotency-Replayed: true`.",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": KEY},
    },
    "If-Match": {
        "description": "the ETag that the game must still have, as it was given: a weak one (`W/`) never matches",
        "schema": {"type": "string"},
    },
    "If-None-Match": {
        "description": "the ETag that is known already: 304 if it still holds",
        "schema": {"type": "string"},
    },
    "Prefer": {
        "description": "`return=representation` adds the view after the move",
        "schema": {"type": "string"},
    },
    "Last-Event-ID": {
        "description": "the version of the last event that was received",
        "schema": {"type": "string", "pattern": "^[0-9]{0,9}$"},
    },
    "Last-Event-ID: cursor": {
        "description": "the `id` of the last message that had one",
        "schema": {"type": "string", "pattern": "^[0-9A-Za-z_-]*$"},
    },
}

ANSWER_HEADERS: dict[str, str] = {
    "Content-Disposition": "the name of the file",
    "Deprecation": "when the operation was deprecated, as `@` and seconds since 1970",
    "Link": 'where the successor of a deprecated operation is described, with `rel="deprecation"`',
    "Location": "where what was made can be read",
    "ETag": 'the game\'s version, as `"v12"`',
    "Idempotency-Replayed": "`true` where the request had been carried out before",
    "Preference-Applied": "what of Prefer was done",
    "RateLimit": "what is left of the quota; not there where a request was refused before it was counted",
    "RateLimit-Policy": "the quota and its window in seconds",
    "Retry-After": "seconds after which the request may be sent again",
    "Sunset": "when a deprecated operation is taken away",
    "WWW-Authenticate": "`Bearer`",
}

SUCCESSES = {200: "Done.", 201: "Made.", 202: "It will be done soon.", 204: "Done; there is nothing to show."}

OTHER_ANSWERS = {
    204: "The game is over and everything was told.",
    304: "Nothing has changed since that ETag.",
    503: "The database is away.",
}

RECORDED: dict[str, dict[str, Any]] = json.loads(files("api").joinpath("examples.json").read_text("utf-8"))
"""Answers that the tests were given, with the bodies they sent."""

_EVENT = (
    '{"game_id":"gam_01k9zz00000000000000000001","version":41,"kind":"card_discarded",'
    '"occurred_at":"2026-11-30T18:30:00.000Z","round":1,"seat":2,"actor":"bot","move_id":null,'
    '"data":{"card":"KC","declared":false,"skip":null}}'
)
_GAME = '"game_id":"gam_01k9zz00000000000000000001","version":41,"after":40'

TEXTS: dict[str, dict[str, str]] = {
    "streamEvents": {
        "text/event-stream": f"event: hello\ndata: {{{_GAME}}}\n\nid: 41\nevent: card_discarded\ndata: {_EVENT}\n\n"
    },
    "streamMine": {
        "text/event-stream": f'id: 8rk0\nevent: hello\ndata: {{"games":[{{{_GAME}}}]}}\n\n'
        f"id: 8rk3\nevent: card_discarded\ndata: {_EVENT}\n\n"
    },
    "exportGame": {
        "application/x-ndjson": f"{_EVENT}\n",
        "text/plain": "Game gam_01k9zz00000000000000000001: davis, 2 seats, opened 2026-11-30 18:30 UTC.\n"
        "Boris sits down on seat 1.\nThe game starts: Anna, Boris.\n",
    },
    "getMetrics": {"text/plain": "# TYPE shanghai_streams_open gauge\nshanghai_streams_open 3.0\n"},
}
"""What answers that are no JSON begin like, by operation and media type."""

EXAMPLES: dict[str, Any] = {name: told["request"] for name, told in RECORDED.items() if told.get("request")} | {
    "createGuest": {"name": "Anna"},
    "createGame": {
        "ruleset": "davis",
        "seats": [
            {"controller": "you"},
            {"controller": "bot", "level": "normal"},
            {"controller": "bot", "level": "normal"},
            {"controller": "bot", "level": "easy"},
        ],
        "pace": {"claim_window_s": 5, "turn_s": 60, "bot_delay_ms": 700},
    },
    "revealNonce": {"nonce": "00112233445566778899aabbccddeeff"},
    "seatBot": {"level": "normal"},
    "adminSeatBot": {"level": "normal"},
    "adminEndGame": {"reason": "the players have asked for it"},
    "adminSuspendPlayer": {"reason": "insults at the table"},
    "handOver": {"player_id": "ply_00000000000000000000000000"},
    "createInvite": {"valid_s": 3600},
    "createTicket": {"ruleset": "davis", "players": {"min": 3, "max": 4}, "bots_after_s": 60},
    "updateMe": {"name": "Anna Maria"},
    "createToken": {"scopes": ["bot", "watch"], "label": "my bot", "valid_s": 604800},
    "createWebhook": {"url": "https://bots.example/shanghai", "types": ["decision.opened"], "description": "my bot"},
    "updateWebhook": {"is_active": True},
    "createStreamTicket": {"view": False},
    "validateMove": {"decision_id": "play-12-0", "move": {"kind": "discard", "card": "KC"}},
    "validateRuleset": {"ruleset": "davis", "overrides": {"ace": "both"}},
    "makeMove": {"decision_id": "draw-7-0", "move": {"kind": "draw_stock"}},
}
