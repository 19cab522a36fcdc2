"""Looking back: what a move led to, rounds and scores, the open replay, and the proof that the luck was fixed."""

from api.aside import aside
from api.calls import Answer, Call, NoQuery
from api.house import House
from api.log import event_page
from api.paths import game_id_of, number_of
from api.problems import Failed
from api.shapes import EventPage, EventsQuery, MoveResult, RoundList, RoundScore, ScoreBoard
from domain.state import is_over
from services.history import RoundFairness, events_of_move, fairness_of, rounds_of
from services.rendering import names_at, render_openly
from services.seeing import NotSeated, watched_game


async def get_move(house: House, call: Call[NoQuery, None]) -> Answer[MoveResult]:
    """Gives what a move of one's own seat led to, as it was answered when it was made."""
    hot, seat = await watched_game(house.tables, call.caller, game_id_of(call.path))
    if seat is None:
        raise NotSeated
    wanted = call.path["move_id"]
    events = events_of_move(hot, seat, wanted)
    if not events:
        raise Failed("move_not_found")
    return Answer(MoveResult(wanted, events[-1].version, events, None))


async def list_rounds(house: House, call: Call[NoQuery, None]) -> Answer[RoundList]:
    """Sums up the rounds: who dealt, what was asked of whom, how they ended, the points."""
    hot, _ = await watched_game(house.tables, call.caller, game_id_of(call.path))
    return Answer(RoundList(hot.game.game_id, hot.version, rounds_of(hot)))


async def get_scores(house: House, call: Call[NoQuery, None]) -> Answer[ScoreBoard]:
    """Gives the score sheet: the points of each round and the totals, by seat."""
    hot, _ = await watched_game(house.tables, call.caller, game_id_of(call.path))
    rounds = tuple(
        RoundScore(each.number, each.points, each.totals)
        for each in rounds_of(hot)
        if each.points is not None and each.totals is not None
    )
    totals = tuple(seat.score for seat in hot.game.seats)
    return Answer(ScoreBoard(hot.game.game_id, hot.version, totals, rounds, hot.game.result))


async def get_fairness(house: House, call: Call[NoQuery, None]) -> Answer[RoundFairness]:
    """Tells what binds the luck of a round, and the result of dealing it again.

    Nobody need trust this: the export holds all that it takes to check it oneself, as `shanghai verify` does.
    """
    hot, _ = await watched_game(house.tables, call.caller, game_id_of(call.path))
    still, number = hot.still(), number_of(call.path, "round")
    found = await aside(lambda: fairness_of(still, number))
    if found is None:
        raise Failed("round_not_found")
    return Answer(found)


async def get_replay(house: House, call: Call[EventsQuery, None]) -> Answer[EventPage]:
    """Tells a finished game with open hands: every card drawn, every pass, every deal whole. Pages as of listEvents."""
    after, limit = call.query.after, call.query.limit
    hot, _ = await watched_game(house.tables, call.caller, game_id_of(call.path))
    if not is_over(hot.game.status):
        raise Failed("game_not_finished")
    events = hot.events[after : after + limit]
    names = await names_at(house.accounts, [hot.game], events)
    return Answer(event_page([render_openly(recorded, names) for recorded in events], after, hot.version))
