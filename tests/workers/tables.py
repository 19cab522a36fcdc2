"""Tables of bots for tests of the workers."""

from infra.wiring import Services
from services.due import next_work
from services.ports import WorkKind
from services.tables import Tables
from services.tending import tend
from tests.infra.bots import new_bots_game


async def started_game(services: Services) -> str:
    """Opens and starts a game of four bots; its first round waits to be dealt."""
    return await new_bots_game(services, bots=4)


async def head(services: Services, game_id: str) -> int:
    return (await services.log.heads([game_id]))[game_id]


async def play_until(services: Services, game_id: str, kind: WorkKind) -> None:
    """Plays until this kind of work is the next."""
    tables = Tables(services.log)
    while True:
        hot = await tables.fresh(game_id)
        work = next_work(hot.game, hot.when)
        assert work is not None
        if work.kind == kind:
            return
        await tend(tables, services.secrets, game_id, now=services.work.now)
