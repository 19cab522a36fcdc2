"""When a job is handed out, and when not: by the relay, by the sweep, before a broker that may be away."""

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import pytest

from services import handouts as hand_outs_module
from services import sweep as sweep_module
from services.handouts import TOGETHER, HandOuts
from services.ids import new_uuid
from services.memory import MemoryJobs, MemoryLog, MemoryWorkList
from services.ports import DueWork, Unavailable, Work, WorkKind
from services.relay import LogEntry, hand_out_delay_s
from services.sweep import FORGET_S, UPKEEP_S, WATCH_S, Sweep
from tests.appends import append, new_game
from tests.engines import anyio_backend, eventually

__all__ = ["anyio_backend"]


def entry(work: WorkKind | Literal["nothing"] | None, due_s: float) -> LogEntry:
    return LogEntry(1, 1, new_uuid().bytes, 1, b"", work, due_s)


@pytest.mark.parametrize(
    ("work", "due_s", "delay_s"),
    [
        ("bots", 5, 0),
        ("bots", 5.7, 0.7),
        ("deal", 5, 0),
        ("score", 5, 0),
        ("close_claims", 0, 0),
        ("close_claims", -3, 0),
        ("close_claims", 4, None),
        ("turn_timer", 60, None),
        ("nothing", 0, None),
        (None, 0, None),
    ],
)
def test_the_relay_knows_when_a_job_is_to_be_handed_out(
    work: WorkKind | Literal["nothing"] | None, due_s: float, delay_s: float | None
) -> None:
    assert hand_out_delay_s(entry(work, due_s)) == (None if delay_s is None else pytest.approx(delay_s))


@pytest.fixture
def jobs() -> MemoryJobs:
    return MemoryJobs()


@pytest.fixture
async def hand_outs(jobs: MemoryJobs) -> AsyncIterator[HandOuts]:
    hand_outs = HandOuts(jobs)
    running = asyncio.create_task(hand_outs.run())
    yield hand_outs
    running.cancel()
    await asyncio.wait([running])


async def test_what_waits_goes_to_the_broker_together_and_in_order() -> None:
    told: list[tuple[str, ...]] = []

    class Jobs(MemoryJobs):
        async def hand_out(self, *subject_ids: str) -> None:
            told.append(subject_ids)

    games = tuple(f"gam_{number:04}" for number in range(TOGETHER + 1))
    hand_outs = HandOuts(Jobs())
    for game in games:
        hand_outs.hand_out(game)
    running = asyncio.create_task(hand_outs.run())
    await eventually(lambda: told == [games[:TOGETHER], games[TOGETHER:]])
    running.cancel()
    await asyncio.wait([running])


async def test_a_game_that_waits_already_is_not_queued_again(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    for game in ("a", "b", "a"):
        hand_outs.hand_out(game)
    await eventually(lambda: jobs.handed_out == ["a", "b"])


async def test_a_delayed_hand_out_comes_in_its_time(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    hand_outs.hand_out("late", delay_s=0.05)
    hand_outs.hand_out("now")
    await eventually(lambda: jobs.handed_out == ["now", "late"])


async def test_a_newer_event_replaces_a_delayed_hand_out(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    hand_outs.hand_out("a", delay_s=0.02)
    hand_outs.hand_out("b", delay_s=0.02)
    hand_outs.forget("a")
    hand_outs.hand_out("b", delay_s=0.03)
    hand_outs.hand_out("last", delay_s=0.06)
    await eventually(lambda: jobs.handed_out == ["b", "last"])


async def test_what_a_lost_broker_cannot_take_is_dropped_and_that_it_is_away_is_said_once(
    hand_outs: HandOuts, jobs: MemoryJobs, caplog: pytest.LogCaptureFixture
) -> None:
    async def lose_and_come_back(first: str) -> None:
        jobs.is_lost = True
        for lost in ("a", "b", "c"):
            hand_outs.hand_out(lost)
            await eventually(lambda: not hand_outs._waiting)
        jobs.is_lost = False
        hand_outs.hand_out(first)
        await eventually(lambda: jobs.handed_out[-1:] == [first])

    await lose_and_come_back("d")
    assert caplog.text.count("the broker is away") == 1
    await lose_and_come_back("e")
    assert caplog.text.count("the broker is away") == 2
    assert jobs.handed_out == ["d", "e"]


async def test_the_sweep_hands_out_what_is_due_at_most_once_a_second(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    log, game = MemoryLog(), new_game()
    sweep = Sweep(MemoryWorkList(log), hand_outs, upkeep=_nothing, watch=_nothing)
    await log.append(append(game, work=Work("bots", 0)))
    await log.append(append(new_game(), work=Work("bots", 60_000)))
    for now in (10.0, 10.1, 10.9, 11.05, 11.5):
        await swept(sweep, hand_outs, now)
    assert jobs.handed_out == [game, game]


async def test_the_sweep_repeats_ever_more_rarely_what_nobody_has_done(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    log, game = MemoryLog(), new_game()
    sweep = Sweep(MemoryWorkList(log), hand_outs, upkeep=_nothing, watch=_nothing)
    await log.append(append(game, work=Work("bots", 0)))
    repeated_at = []
    for now in range(20):
        before = len(jobs.handed_out)
        await swept(sweep, hand_outs, float(now))
        repeated_at += [now] * (len(jobs.handed_out) - before)
    assert repeated_at == [0, 1, 3, 7, 12, 17]
    await log.append(append(game, 1, work=Work("bots", 0)))
    await sweep.step(19.1)
    await eventually(lambda: len(jobs.handed_out) == len(repeated_at) + 1)


async def test_the_sweep_repeats_until_many_more_jobs_wait_than_games_are_due(
    hand_outs: HandOuts, jobs: MemoryJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_outs_module, "OTHERS", 2)
    log, games = MemoryLog(), [new_game() for _ in range(3)]
    sweep = Sweep(MemoryWorkList(log), hand_outs, upkeep=_nothing, watch=_nothing)
    for game in games:
        await log.append(append(game, work=Work("bots", 0)))
    for now in range(18):  # no worker takes any
        await swept(sweep, hand_outs, float(now))
    assert jobs.handed_out == [*games, *games[:2]]
    await log.append(append(late := new_game(), work=Work("bots", 0)))
    await swept(sweep, hand_outs, 22.0)  # the others' turn, too
    assert jobs.handed_out[5:] == [late]
    jobs.taken = 1
    for now in range(23, 30):
        await swept(sweep, hand_outs, float(now))
    assert jobs.handed_out[6:] == [late]
    jobs.taken = 0  # more wait than may
    for now in range(30, 40):
        await swept(sweep, hand_outs, float(now))
    assert jobs.handed_out[7:] == []


async def test_the_sweep_goes_on_while_nobody_can_tell_what_waits(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    log, game = MemoryLog(), new_game()
    sweep = Sweep(MemoryWorkList(log), hand_outs, upkeep=_nothing, watch=_nothing)
    await log.append(append(game, work=Work("bots", 0)))
    jobs.is_lost = True
    for now in range(10):
        await swept(sweep, hand_outs, float(now))
    jobs.is_lost = False
    for now in range(10, 15):
        await swept(sweep, hand_outs, float(now))
    assert jobs.handed_out == [game]


async def test_the_sweep_leaves_alone_what_is_done(hand_outs: HandOuts, jobs: MemoryJobs) -> None:
    log, game = MemoryLog(), new_game()
    sweep = Sweep(MemoryWorkList(log), hand_outs, upkeep=_nothing, watch=_nothing)
    await log.append(append(game, 0, work=Work("bots", 0)))
    await log.append(append(game, 1))
    for now in (10.0, 20.0):
        await sweep.step(now)
    assert not hand_outs._waiting
    assert not log.work


async def test_the_sweep_watches_every_second_and_keeps_up_every_hour(hand_outs: HandOuts) -> None:
    watched_at, kept_up_at = [], []
    now = 0.0

    async def watch() -> None:
        watched_at.append(now)

    async def upkeep() -> None:
        kept_up_at.append(now)

    sweep = Sweep(MemoryWorkList(MemoryLog()), hand_outs, upkeep=upkeep, watch=watch)
    moments = (0.0, 0.5 * WATCH_S, WATCH_S, 1.5 * WATCH_S, UPKEEP_S - 0.1, UPKEEP_S, UPKEEP_S + 0.1)
    for now in moments:
        await sweep.step(now)
    assert watched_at == [0.0, WATCH_S, UPKEEP_S - 0.1]
    assert kept_up_at == [0.0, UPKEEP_S]


async def test_the_sweep_deletes_now_and_then_all_that_is_overtaken(
    hand_outs: HandOuts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "_AT_ONCE", 2)
    log, game = MemoryLog(), new_game()
    sweep = Sweep(MemoryWorkList(log), hand_outs, upkeep=_nothing, watch=_nothing)
    for version in range(6):
        await log.append(append(game, version, work=Work("turn_timer", 60_000)))
    await sweep.step(0.0)
    assert list(log.work) == [(game, 6)]
    await log.append(append(game, 6, work=Work("turn_timer", 60_000)))
    await sweep.step(FORGET_S - 0.1)
    assert len(log.work) == 2
    await sweep.step(FORGET_S)
    assert list(log.work) == [(game, 7)]


async def test_the_clock_is_seen_alive_after_each_step_until_the_work_list_is_lost(
    hand_outs: HandOuts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "PAUSE_S", 0.0)
    told: list[str] = []

    class WorkList(MemoryWorkList):
        async def due(self, limit: int) -> list[DueWork]:
            if told.count("asked") == 2:
                raise Unavailable
            told.append("asked")
            return await super().due(limit)

    work = WorkList(MemoryLog())
    with pytest.raises(Unavailable):
        await Sweep(work, hand_outs, upkeep=_nothing, watch=_nothing, beat=lambda: told.append("alive")).run()
    assert told == ["asked", "alive"] * 2


async def swept(sweep: Sweep, hand_outs: HandOuts, now: float) -> None:
    """Sweeps, and waits until nothing is left to be told to the broker."""
    await sweep.step(now)
    await eventually(lambda: not hand_outs._waiting and not hand_outs._has_waiting.is_set())


async def _nothing() -> None:
    """Keeps nothing up."""
