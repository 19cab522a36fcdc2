"""At the table: what one sees, what one is asked, what one answers."""

from api import history, play
from api.operation import GAME, REPEATED, WATCHED, WRITING, Operation

PLAY: tuple[Operation, ...] = (
    Operation(
        id="getView", tag="Play", method="GET", path=f"{GAME}/view", handler=play.get_view,
        scope="watch", costly="at_version", headers=("ETag",), reads=("If-None-Match",), also=(304,),
        problems=WATCHED,
    ),
    Operation(
        id="getDecisions", tag="Play", method="GET", path=f"{GAME}/decisions", handler=play.get_decisions,
        scope="bot", problems=WATCHED,
    ),
    Operation(
        id="makeMove", tag="Play", method="POST", path=f"{GAME}/moves", handler=play.make_move, scope="bot",
        status=201, headers=("Location", *REPEATED, "Preference-Applied"),
        reads=("If-Match", "Prefer"),
        problems=(
            *WATCHED, "not_your_decision", "decision_closed", "not_your_turn", "illegal_move", "game_not_started",
            "game_finished", *WRITING, "version_mismatch",
        ),
    ),
    Operation(
        id="validateMove", tag="Play", method="POST", path=f"{GAME}/moves/validate", handler=play.validate_move,
        scope="bot", policy="reads", costly=True, problems=(*WATCHED, "not_your_decision"),
    ),
    Operation(
        id="getMove", tag="Play", method="GET", path=f"{GAME}/moves/{{move_id}}", handler=history.get_move,
        scope="watch", problems=(*WATCHED, "move_not_found"),
    ),
    Operation(
        id="getHint", tag="Play", method="GET", path=f"{GAME}/hint", handler=play.get_hint, scope="bot", costly=True,
        problems=(*WATCHED, "hints_forbidden"),
    ),
    Operation(
        id="listRounds", tag="Play", method="GET", path=f"{GAME}/rounds", handler=history.list_rounds, scope="watch",
        problems=WATCHED,
    ),
    Operation(
        id="getScores", tag="Play", method="GET", path=f"{GAME}/scores", handler=history.get_scores, scope="watch",
        problems=WATCHED,
    ),
)  # fmt: skip
