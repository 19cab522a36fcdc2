"""The whole API on one table: what the routes are made from, and the OpenAPI document."""

from api.operation import Operation
from api.operations.admin import ADMIN
from api.operations.games import GAMES
from api.operations.health import HEALTH
from api.operations.log import LOG, STREAMS
from api.operations.play import PLAY
from api.operations.players import PLAYERS
from api.operations.reference import REFERENCE
from api.operations.webhooks import WEBHOOKS

OPERATIONS: tuple[Operation, ...] = (
    *PLAYERS,
    *GAMES,
    *PLAY,
    *LOG,
    *ADMIN,
    *WEBHOOKS,
    *STREAMS,
    *REFERENCE,
    *HEALTH,
)
