"""Several processes on one game: each keeps it in memory, and none sees another game than the others."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

import msgspec

from domain.commands import DealRound, OpenGame, Pace, SeatPlan, StartGame
from domain.decisions import open_decisions
from domain.evolve import fold
from domain.luck import link
from domain.presets import preset
from infra.settings import Settings
from services.ids import new_uuid, public_id
from services.tables import Draft, Tables
from tests.infra.playing import ENOUGH, Told, digest, opened_log

PROCESSES = 3
_SEED = bytes(range(32))


async def test_several_processes_agree_on_one_game(settings: Settings) -> None:
    async with opened_log(settings.database_url) as log:
        tables, game_id = Tables(log), public_id("gam", new_uuid())
        await tables.carry_out(game_id, lambda draft: _deal(draft, game_id))
        told = await _played_by_all(settings.database_url, game_id)
        hot = await Tables(log).fresh(game_id)
    assert hot.version >= ENOUGH or not open_decisions(hot.game)
    assert fold(recorded.event for recorded in hot.events) == hot.game
    assert {(process.version, process.state) for process in told} == {(hot.version, digest(hot))}
    assert sum(process.lost for process in told) > 0  # they did meet
    for process in told:
        for command_id, first, last in process.answers.values():
            written = [one.version for one in hot.events if str(one.command_id) == command_id]
            assert written == list(range(first, last + 1))
    answers = [answer for process in told for answer in process.answers.items()]
    assert len(set(answers)) == len({key for key, _ in answers})  # one key, one answer


def _deal(draft: Draft, game_id: str) -> None:
    people = tuple(SeatPlan("human", f"ply_{seat}") for seat in range(4))
    commands = (
        OpenGame(game_id, preset("davis"), Pace(), people, link(_SEED, 0).hex()),
        StartGame(),
        DealRound(1, link(_SEED, 1).hex()),
    )
    for command in commands:
        draft.carry_out(command, "table", new_uuid())


async def _played_by_all(url: str, game_id: str) -> list[Told]:
    command = (sys.executable, "-m", "tests.infra.playing", url, game_id)
    processes = [
        await asyncio.create_subprocess_exec(*command, str(seed), stdin=PIPE, stdout=PIPE) for seed in range(PROCESSES)
    ]
    try:
        async with asyncio.timeout(60):
            await asyncio.gather(*map(_line, processes))
            return [msgspec.json.decode(await _line(process, b"look\n"), type=Told) for process in processes]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _line(process: Process, word: bytes = b"") -> bytes:
    assert process.stdin
    assert process.stdout
    process.stdin.write(word)
    return await process.stdout.readline()
