"""What the runbook has an operator type when games were written into a month without a partition."""

import re
from pathlib import Path

import asyncpg

from infra.settings import Settings
from infra.wiring import open_services
from tests.infra.months import game_of, write

RUNBOOK = Path(__file__).parents[2] / "infra/RUNBOOK.md"
ROWS = "SELECT tableoid::regclass::text, event FROM event ORDER BY game_id, version"


async def test_events_without_a_month_are_moved_into_one_as_the_runbook_says(
    own_settings: Settings, owner: asyncpg.Connection
) -> None:
    async with open_services(own_settings) as services:
        games = [await write(services, game_of(2031, month), seed=month) for month in (2, 3)]
    before = await owner.fetch(ROWS)
    assert {table for table, _ in before} == {"event_default"}
    section = RUNBOOK.read_text().partition("### EventsAstray\n")[2].partition("\n###")[0]
    [months, moved] = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    assert [month for [month] in await owner.fetch(months)] == ["2031-02", "2031-03"]
    for month in ("2031-02", "2031-03"):
        await owner.execute(moved.replace("2027-02", month).replace("2027_02", month.replace("-", "_")))
    after = await owner.fetch(ROWS)
    assert {table for table, _ in after} == {"event_2031_02", "event_2031_03"}
    assert [event for _, event in after] == [event for _, event in before]
    async with open_services(own_settings) as services:
        assert all([await services.log.read(game) for game in games])
