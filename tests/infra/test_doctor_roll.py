"""`shanghai doctor` finds every process, its version and its clock by itself."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra import roll as said
from infra.doctor import roll, running
from infra.doctor.database import open_session
from infra.doctor.finding import Finding
from infra.embedded.engines import Engines, short_folder
from infra.embedded.ports import free_port
from infra.embedded.valkey import start_redis
from infra.postgres.leading import RELAY_LOCK, leading
from infra.presence import key_of
from infra.roll import Caller, build, call_roll, on_the_roll
from infra.settings import Settings
from infra.watching.port import health_pages, serving
from infra.watching.vital import BELIEVED_S, Vital
from services.ports import Unavailable
from services.version import VERSION
from tests.engines import eventually, settings_of, with_redis
from tests.infra.telling import redis
from tests.stack_watching import command

# The script as it would run if the process's clock were a minute late.
FALSE_CLOCK = said.SCRIPT.replace("ARGV[4]", "(now - 60)")


@pytest.fixture(scope="module")
def own_engine() -> Iterator[str]:
    """A Redis with nobody on its roll."""
    with short_folder() as folder:
        server = start_redis(folder / "redis", folder)
        yield server.url
        server.stop()


@pytest.fixture
async def settings(engines: Engines, own_engine: str) -> Settings:
    """The database of nobody in particular, and an empty Redis."""
    settings = with_redis(settings_of(engines, engines.postgres.url), own_engine)
    await redis(settings, "FLUSHALL")
    return settings


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "EVERY_S", 0.05)
    monkeypatch.setattr(roll, "_LOOKS", 10)
    monkeypatch.setattr(running, "_HANDOVER_S", 0.0)


@asynccontextmanager
async def there(settings: Settings, *kinds: str) -> AsyncIterator[None]:
    """Has processes of these kinds on the roll."""
    async with AsyncExitStack() as exits:
        for kind in kinds:
            await exits.enter_async_context(on_the_roll(settings.limits_url, kind, lambda: "leads"))
        await eventually(lambda: _are_there(settings, len(kinds)))
        yield


@asynccontextmanager
async def saying(settings: Settings, *words: str | int) -> AsyncIterator[None]:
    """Says something to Redis over and over."""

    async def say() -> None:
        while True:
            await redis(settings, *words)
            await asyncio.sleep(0.02)

    await redis(settings, *words)
    talking = asyncio.create_task(say())
    try:
        yield
    finally:
        talking.cancel()
        await asyncio.wait([talking])


async def _are_there(settings: Settings, count: int) -> bool:
    return len(await call_roll(settings.limits_url)) == count


async def look(settings: Settings, database_ahead_s: float | None = None) -> dict[str, Finding]:
    return {found.what: found for found in await roll.look_at_roll(settings, database_ahead_s)}


async def test_all_processes_are_counted_by_kind_and_role_and_those_missing_are_named(settings: Settings) -> None:
    async with there(settings, "api", "api", "relay", "clock", "projector", "worker"):
        found = await look(settings)
        assert {finding.level for finding in found.values()} == {"ok"}
        assert "2 api (leads)" in found["processes"].found
        assert "1 worker" in found["processes"].found
    async with there(settings, "api", "clock", "projector"):
        missing = (await look(settings))["processes"]
    assert (missing.level, missing.todo) == ("bad", "shanghai worker; shanghai relay")


async def test_who_ends_in_good_order_is_off_the_roll_at_once(settings: Settings) -> None:
    async with there(settings, "api"):
        pass
    assert await call_roll(settings.limits_url) == []


async def test_a_killed_process_is_silent_and_forgotten_after_a_while(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling = (
        "import asyncio, sys; from infra.roll import on_the_roll\n"
        "async def main():\n"
        " async with on_the_roll(sys.argv[1], 'relay', lambda: None): await asyncio.sleep(600)\n"
        "asyncio.run(main())"
    )
    with command("-c", calling, settings.limits_url) as relay:
        await eventually(lambda: _are_there(settings, 1))
        relay.process.send_signal(signal.SIGKILL)
        relay.process.wait()
    await eventually(lambda: _is_silent(settings))
    found = (await look(settings))["silent processes"]
    assert found.level == "warn"
    assert f"(pid {relay.process.pid})" in found.found
    monkeypatch.setattr(said, "BELIEVED_MS", 1)  # instead of ten seconds
    async with on_the_roll(settings.limits_url, "clock", lambda: None):
        await eventually(lambda: _kinds_are(settings, {"clock"}))


async def _is_silent(settings: Settings) -> bool:
    [one] = await call_roll(settings.limits_url)
    return one.silent_s > 0.5


async def _kinds_are(settings: Settings, kinds: set[str]) -> bool:
    told = await redis(settings, "HVALS", said.KEYS[1])
    return {json.loads(each.partition(b" ")[2])["process"] for each in told} == kinds


async def test_two_versions_beside_each_other_are_a_warning_that_names_both(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = Caller("worker", lambda: "works")
    monkeypatch.setattr(newer, "_said", replace(newer._said, version="9.0.0+abcdef01", host="elsewhere"))
    words = ("EVAL", said.SCRIPT, len(said.KEYS), *newer.alive())
    async with there(settings, "api", "relay", "clock", "projector"), saying(settings, *words):
        found = (await look(settings))["versions"]
    assert found.level == "warn"
    assert build() in found.found
    assert "worker on elsewhere" in found.found
    assert "9.0.0+abcdef01" in found.found
    assert "upgrade" in found.todo


async def test_a_process_of_before_the_roll_is_an_older_version(settings: Settings) -> None:
    kinds = ("api", "relay", "clock", "projector")
    async with there(settings, *kinds), saying(settings, "SET", key_of("worker"), 1, "PX", 10_000):
        found = await look(settings)
    assert found["processes"].level == "ok"
    assert (found["versions"].level, "worker is older" in found["versions"].found) == ("warn", True)


async def test_the_clock_that_differs_most_from_the_databases_is_named(settings: Settings) -> None:
    *who, _ = Caller("relay", lambda: "leads").alive()
    words = ("EVAL", FALSE_CLOCK, len(said.KEYS), *who)
    async with there(settings, "api", "clock", "projector", "worker"), saying(settings, *words):
        found = (await look(settings, database_ahead_s=0.0))["clocks of processes"]
        assert (found.level, found.found.startswith("at most 60.0")) == ("bad", True)
        assert "relay on " in found.found
        assert "behind" in found.found
        others = (await look(settings, database_ahead_s=-60.0))["clocks of processes"]
        assert "ahead of" in others.found
        assert "clocks of processes" not in await look(settings)


async def test_a_redis_that_is_away_is_said_to_be_why_nobody_is_found(settings: Settings) -> None:
    nowhere = replace(settings, limits_url=f"redis://127.0.0.1:{free_port()}")
    found = await look(nowhere)
    assert (found["processes"].level, "SHANGHAI_LIMITS_URL" in found["processes"].todo) == ("warn", True)
    with pytest.raises(Unavailable):
        await call_roll(nowhere.limits_url)


async def test_nobody_who_leads_is_told_by_the_locks(settings: Settings) -> None:
    session = await open_session(settings.database_url)
    try:
        assert (await running.look_at_leaders(session)).found == "no relay, no clock, no projector leads"
        async with leading(settings.database_url, RELAY_LOCK, name="test"):
            found = await running.look_at_leaders(session)
    finally:
        await session.close()
    assert (found.level, found.found) == ("bad", "no clock, no projector leads")


async def test_a_lead_that_changes_hands_is_waited_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_HANDOVER_S", 30.0)
    session = await open_session(settings.database_url)
    try:
        looking = asyncio.create_task(running.look_at_leaders(session))
        async with AsyncExitStack() as leads:
            for lock in running.LEADERS:
                await leads.enter_async_context(leading(settings.database_url, lock, name="test"))
            found = await looking
    finally:
        await session.close()
    assert found.level == "ok"


async def test_processes_that_hang_or_are_gone_are_found_by_their_ports(tmp_path: Path) -> None:
    clock = [0.0]
    vital, port, gone = Vital("relay", clock=lambda: clock[0]), free_port(), free_port()
    with serving("127.0.0.1", port, health_pages(vital)):
        write_targets(tmp_path, relay=port)
        assert (await running.look_at_ports(tmp_path)).level == "ok"
        clock[0] = BELIEVED_S
        write_targets(tmp_path, relay=port, clock=gone)
        found = await running.look_at_ports(tmp_path)
    assert (found.level, found.found.count("127.0.0.1:")) == ("bad", 2)
    (tmp_path / "metrics.json").write_text("[{}]")
    assert (await running.look_at_ports(tmp_path)).level == "bad"


def write_targets(data: Path, **ports: int) -> None:
    targets = [{"targets": [f"127.0.0.1:{port}"], "labels": {"component": name}} for name, port in ports.items()]
    (data / "metrics.json").write_text(json.dumps(targets))


def test_any_other_statement_makes_another_build(tmp_path: Path) -> None:
    (tmp_path / "infra").mkdir()
    builds = set()
    for folder, text in (("a", "SELECT 1"), ("a", "SELECT 2"), ("b", "SELECT 2")):
        file = tmp_path / f"infra/{folder}.sql"
        file.write_text(text)
        builds.add(build.__wrapped__(tmp_path))
        file.unlink()
    assert len(builds) == 3
    assert all(one.startswith(f"{VERSION}+") for one in builds)
