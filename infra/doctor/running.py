"""What runs: the processes, the relay, the games."""

import asyncio
import json
import time
from pathlib import Path

import asyncpg
import httpx

from infra.doctor.finding import Finding, bad, judged
from infra.postgres.database import Database
from infra.postgres.leading import CLOCK_LOCK, PROJECTOR_LOCK, RELAY_LOCK
from infra.postgres.operating import PostgresDesk
from infra.postgres.relay import lag
from infra.settings import Settings
from infra.sql import statements
from services.lag import ALERT_S
from services.operating import STALLED_S, GamesSought

STALLED_SHOWN = 3
STALLED_AT_MOST = 100
LEADERS = {RELAY_LOCK: "relay", CLOCK_LOCK: "clock", PROJECTOR_LOCK: "projector"}
_PORT_S = 3.0
_HANDOVER_S = 3.0  # so long a lead may be without a holder: after a lost session, or while the database comes back
_LOOK_S = 0.1

_SQL = statements("doctor")


async def look_at_leaders(session: asyncpg.Connection) -> Finding:
    """Looks who leads, by the locks that leaders hold; waits a moment for a lead that changes hands."""
    deadline = time.monotonic() + _HANDOVER_S
    while True:
        holders = {row["lock"]: row["pid"] for row in await session.fetch(_SQL["leaders"], list(LEADERS))}
        missing = [kind for lock, kind in LEADERS.items() if lock not in holders]
        if not missing or time.monotonic() > deadline:
            break
        await asyncio.sleep(_LOOK_S)
    led = ", ".join(f"{LEADERS[lock]} (pid {pid} of Postgres)" for lock, pid in sorted(holders.items()))
    return judged(
        "leaders",
        f"no {', no '.join(missing)} leads" if missing else f"there are {led}",
        warns=False,
        fails=bool(missing),
        todo="; ".join(f"shanghai {kind}" for kind in missing) + ", or see in its log why it stands by",
    )


async def look_at_ports(data: Path) -> Finding:
    """Asks each process that the server on a data folder has started whether it lives."""
    try:
        targets = json.loads((data / "metrics.json").read_text())
        asked = {f"{each['labels']['component']} ({each['targets'][0]})": each["targets"][0] for each in targets}
    except (OSError, ValueError, LookupError, TypeError):
        return bad("ports", f"{data}/metrics.json cannot be read", "start `shanghai up` anew: it writes it")
    async with httpx.AsyncClient(timeout=_PORT_S) as http:
        told = await asyncio.gather(*(_is_live(http, address) for address in asked.values()))
    dead = [name for name, is_live in zip(asked, told, strict=True) if not is_live]
    return judged(
        "ports",
        f"{', '.join(dead)} hang or do not answer" if dead else f"{', '.join(asked)} answer",
        warns=False,
        fails=bool(dead),
        todo=f"look into {data}/logs; kill what hangs, and `shanghai up` starts it again",
    )


async def look_at_api(url: str) -> Finding:
    """Asks an API process whether it is ready."""
    try:
        async with httpx.AsyncClient(base_url=url, timeout=5) as http:
            status = str((await http.get("/health/ready")).json()["status"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        return bad(
            "api", f"{url} does not answer: {str(error) or type(error).__name__}", "shanghai api, or another URL"
        )
    return judged("api", status, warns=status != "ok", fails=False, todo="see what else is amiss here")


async def look_at_play(settings: Settings) -> list[Finding]:
    """Looks how far the relay is behind, and for games that stand still."""
    database = Database(settings.database_url, size=1, name="shanghai doctor")
    try:
        behind = await lag(database.fetch)
        stalled = await PostgresDesk(database).games(GamesSought(is_stalled=True), None, STALLED_AT_MOST)
    finally:
        await database.close()
    why = "end the transaction that holds it back" if behind.is_held_back else "start a relay, or its Redis"
    names = ", ".join(found.game_id for found in stalled[:STALLED_SHOWN])
    many = f"{len(stalled)}{' or more' if len(stalled) == STALLED_AT_MOST else ''}"
    return [
        judged(
            "relay", f"{behind.seconds:.1f} s behind the log", warns=behind.seconds > ALERT_S / 2,
            fails=behind.seconds > ALERT_S, todo=why,
        ),
        judged(
            "games",
            f"{many} stalled for {STALLED_S:.0f} s and more, {names} among them" if stalled else "none stands still",
            warns=bool(stalled), todo="look at them: shanghai admin game GAME_ID; then shanghai admin unstick GAME_ID",
        ),
    ]  # fmt: skip


async def _is_live(http: httpx.AsyncClient, address: str) -> bool:
    try:
        return (await http.get(f"http://{address}/health/live")).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
