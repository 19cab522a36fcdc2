"""Stream tickets: made with a token, used in the query of a stream by those who cannot send headers."""

from typing import Any
from urllib.parse import urlencode

from api.calls import Answer, Call, NoQuery
from api.house import House
from api.problems import Failed
from api.requests import invalid
from api.shapes import NewStreamTicket, StreamTicketCreated
from services.ids import uuid_of
from services.rendering import timestamp
from services.seeing import watched_game
from services.stream_tickets import Opens, TicketHolder, make_ticket, whose_ticket


async def create_ticket(house: House, call: Call[NoQuery, NewStreamTicket]) -> Answer[StreamTicketCreated]:
    """Makes a ticket that opens one stream without a header, for a browser's EventSource: use the `url` as it is.

    It must be used within 30 seconds, and opens the same stream again for 12 hours while its token lives, with
    `Last-Event-ID` as ever. There is one connection at a time: a newer one ends the older with `bye` (`replaced`). The
    ticket is shown this once; whoever has it sees what the stream shows.
    """
    opens = Opens(call.body.game_id, call.body.view)
    if opens.with_view and opens.game_id is None:
        raise invalid("body", "/game_id", "game_needed", "Views belong to the stream of one game: say which.")
    if opens.game_id is not None:
        if uuid_of("gam", opens.game_id) is None:
            raise Failed("game_not_found")
        await watched_game(house.tables, call.caller, opens.game_id)
    made = await make_ticket(house.stream_tickets, call.caller, opens)
    if made is None:
        raise Failed("unauthenticated")
    ticket, times = made
    path = "/v1/me/stream" if opens.game_id is None else f"/v1/games/{opens.game_id}/stream"
    url = f"{path}?{urlencode({**({'view': 'true'} if opens.with_view else {}), 'ticket': ticket})}"
    return Answer(StreamTicketCreated(ticket, url, timestamp(times.use_before_at), timestamp(times.ends_at)))


async def ticket_holder(house: House, path: dict[str, str], query: Any) -> TicketHolder | None:
    """Finds whom the query's ticket speaks for on this very stream, and takes the stream over for them; or None."""
    if query.ticket is None:
        return None
    return await whose_ticket(
        house.stream_tickets, query.ticket, Opens(path.get("game_id"), getattr(query, "view", False))
    )
