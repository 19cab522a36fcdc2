"""An alarm rings at the moment that was set last, however often it was put off or brought forward."""

import asyncio
from contextlib import closing

import pytest

from api.alarms import Alarm


@pytest.mark.parametrize("set_to", [[0.05], [0.01, 0.02, 0.05], [10.0, 0.05], [0.001, 10.0, 0.05]])
async def test_an_alarm_rings_once_and_not_before_its_time(set_to: list[float]) -> None:
    event, loop, began = asyncio.Event(), asyncio.get_running_loop(), 0.0
    with closing(Alarm(event)) as alarm:
        for seconds in set_to:
            began = loop.time()
            alarm.ring_within(seconds)
        await asyncio.wait_for(event.wait(), 5)
        assert loop.time() - began >= set_to[-1]


async def test_a_closed_alarm_rings_no_more() -> None:
    event, other = asyncio.Event(), asyncio.Event()
    with closing(Alarm(event)) as alarm, closing(Alarm(other)) as later:
        alarm.ring_within(0.01)
        later.ring_within(0.03)
        alarm.close()
        await asyncio.wait_for(other.wait(), 5)
    assert not event.is_set()
