"""At the table: the view, the open decisions, moves."""

from api.away import away_from
from api.calls import Answer, Call, KeyedCall, NoQuery
from api.house import House
from api.lobby import replay_header
from api.paths import game_id_of
from api.problems import failure_of
from api.requests import beyond_head, etag, has_already, made_for, prefers_representation
from api.shapes import DecisionList, HintList, MoveRequest, MoveResult, MoveVerdict, ViewQuery
from domain.view import View
from services import games, seeing
from services.rendering import NOBODY, has_names, move_id, names_at, render_decisions, render_event, render_view


async def get_view(house: House, call: Call[ViewQuery, None]) -> Answer[View | None]:
    """Shows the table as the caller sees it: everything public, and at their own seat the hand and the decisions.

    With `at_version` it is the table of that moment, as it was seen then from the seat that the caller holds now.
    """
    hot, seat = await seeing.watched_game(house.tables, call.caller, game_id_of(call.path))
    wanted = call.query.at_version
    if wanted is not None:
        if wanted > hot.version:
            raise beyond_head("query", "at_version", hot.version)
        hot = hot.at(wanted)
    version = hot.version
    tag = etag(version)
    if has_already(call.headers, version):
        return Answer(None, {"etag": tag}, 304)
    names = await names_at(house.accounts, [hot.game])
    away = NOBODY if wanted is not None else await away_from(house, call.caller, hot.game)
    return Answer(render_view(hot.at(version), seat, names, away), {"etag": tag})


async def get_decisions(house: House, call: Call[NoQuery, None]) -> Answer[DecisionList]:
    """Lists what the caller is asked now. Every option is a complete move that can be sent as it stands."""
    hot, seat = await seeing.watched_game(house.tables, call.caller, game_id_of(call.path))
    if seat is None:
        raise seeing.NotSeated
    return Answer(DecisionList(hot.game.game_id, hot.version, render_decisions(hot, seat)))


async def make_move(house: House, call: KeyedCall[NoQuery, MoveRequest]) -> Answer[MoveResult]:
    """Answers a decision. The id of the decision says which question is meant, so a late answer does no harm.

    The events are those of the move itself, as the caller sees them; what others do next comes by events or stream.
    """
    game_id = game_id_of(call.path)
    answer = call.body
    hot, seat, outcome = await games.make_move(
        house.tables, call.caller, game_id, answer.decision_id, answer.move, call.request, made_for(call.headers)
    )
    if hot.version < outcome.last:
        hot = await house.tables.fresh(game_id)
    written = hot.events[outcome.first - 1 : outcome.last]
    wants_view = prefers_representation(call.headers)
    names = await names_at(house.accounts, [hot.game], written) if wants_view or has_names(written) else {}
    away = await away_from(house, call.caller, hot.game) if wants_view else NOBODY
    result = MoveResult(
        move_id=move_id(outcome.command_id),
        version=outcome.last,
        events=tuple(render_event(recorded, seat, names) for recorded in written),
        view=render_view(hot.at(outcome.last), seat, names, away) if wants_view else None,
    )
    headers = {
        "etag": etag(outcome.last),
        "location": f"/v1/games/{game_id}/events?after={outcome.first - 1}&limit={max(1, len(written))}",
        **replay_header(is_replayed=outcome.replayed),
    }
    if wants_view:
        headers["preference-applied"] = "return=representation"
    return Answer(result, headers)


async def validate_move(house: House, call: Call[NoQuery, MoveRequest]) -> Answer[MoveVerdict]:
    """Tells whether a move would be taken now, or why not; nothing happens. The verdict is no promise: games go on."""
    refused = await games.try_move(
        house.tables, call.caller, game_id_of(call.path), call.body.decision_id, call.body.move
    )
    if refused is None:
        return Answer(MoveVerdict(legal=True))
    why = failure_of(refused)
    verdict = MoveVerdict(
        legal=False, code=why.code, reason=why.reason, detail=why.detail, readings=why.readings, errors=why.errors
    )
    return Answer(verdict)


async def get_hint(house: House, call: Call[NoQuery, None]) -> Answer[HintList]:
    """Tells what a bot would answer to each open decision of the caller, from what the caller sees."""
    hot, items = await games.hints(house.tables, call.caller, game_id_of(call.path))
    return Answer(HintList(hot.game.game_id, hot.version, items))
