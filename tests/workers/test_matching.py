"""The clock process finds tables: killed and started again, it seats everybody once."""

from collections.abc import Callable

import pytest

from domain.ruleset import Players
from infra.settings import Settings
from infra.wiring import open_services
from tests.engines import eventually
from tests.infra.quick_match import ask, everybody_sits_once, games_in, nobody_waits
from tests.processes import Process

pytestmark = pytest.mark.xdist_group("processes")


async def test_a_clock_that_is_killed_while_people_come_seats_each_once(
    settings: Settings, start: Callable[[str], Process]
) -> None:
    clock, _standby = start("workers.clock"), start("workers.clock")
    async with open_services(settings) as services:
        players = [await ask(services.tickets, services.accounts, Players(2, 2)) for _ in range(7)]
        await eventually(lambda: has_seated(settings, 4))
        clock.kill()
        players += [await ask(services.tickets, services.accounts, Players(2, 2)) for _ in range(3)]
        await eventually(lambda: nobody_waits(services.tickets))
        await everybody_sits_once(
            services.tickets, services.log, await games_in(settings.database_url), services.secrets, players, 2
        )


async def has_seated(settings: Settings, people: int) -> bool:
    """Tells whether at least so many people have a game."""
    return 2 * len(await games_in(settings.database_url)) >= people
