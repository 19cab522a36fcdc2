"""Everything that happened: in one game, and in all games of a player."""

from api import history, log, my_log, stream_tickets
from api.operation import GAME, WATCHED, Operation

LOG: tuple[Operation, ...] = (
    Operation(
        id="listEvents", tag="Log", method="GET", path=f"{GAME}/events", handler=log.get_events, scope="watch",
        problems=WATCHED,
    ),
    Operation(
        id="exportGame", tag="Log", method="GET", path=f"{GAME}/export", handler=log.export_game,
        scope="watch", costly=True, headers=("Content-Disposition",), problems=WATCHED,
        media_types=("application/x-ndjson", "text/plain"),
    ),
    Operation(
        id="getReplay", tag="Log", method="GET", path=f"{GAME}/replay", handler=history.get_replay,
        scope="watch", costly=True, problems=(*WATCHED, "game_not_finished"),
    ),
    Operation(
        id="getFairness", tag="Log", method="GET", path=f"{GAME}/rounds/{{round}}/fairness",
        handler=history.get_fairness, scope="watch", costly=True, problems=(*WATCHED, "round_not_found"),
    ),
    Operation(
        id="streamEvents", tag="Log", method="GET", path=f"{GAME}/stream", handler=log.stream_events,
        scope="watch", reads=("Last-Event-ID",), also=(204,), problems=(*WATCHED, "too_many_streams", "shutting_down"),
    ),
)  # fmt: skip

STREAMS: tuple[Operation, ...] = (
    Operation(
        id="streamMine", tag="Log", method="GET", path="/v1/me/stream", handler=my_log.stream_mine, scope="watch",
        reads=("Last-Event-ID: cursor",), problems=("too_many_streams", "shutting_down"),
    ),
    Operation(
        id="createStreamTicket", tag="Log", method="POST", path="/v1/stream-tickets",
        handler=stream_tickets.create_ticket, scope="watch", status=201, problems=WATCHED,
    ),
)  # fmt: skip
