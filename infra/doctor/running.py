"""What runs: the processes, the relay, the games."""

import asyncio

import httpx

from infra.doctor.finding import Finding, bad, judged
from infra.postgres.database import Database
from infra.postgres.operating import PostgresDesk
from infra.postgres.relay import lag
from infra.presence import EVERY_S, Presence
from infra.settings import Settings
from services.lag import ALERT_S
from services.operating import STALLED_S, GamesSought

STALLED_SHOWN = 3
STALLED_AT_MOST = 100
_LOOK_S = 0.1
_LOOKS = int(3 * EVERY_S / _LOOK_S)  # each process gives a sign of life once in EVERY_S


async def look_at_processes(settings: Settings) -> Finding:
    """Waits for a sign of life of each kind of process. The API gives none: readiness is asked of it."""
    presence = Presence(settings.limits_url)
    try:
        alive = await presence.processes()
        for _ in range(_LOOKS):
            if all(alive.values()):
                break
            await asyncio.sleep(_LOOK_S)
            alive = await presence.processes()
    finally:
        await presence.close()
    silent = [name for name, is_alive in alive.items() if not is_alive]
    return judged(
        "processes",
        f"no sign of life of {', '.join(silent)}" if silent else f"{', '.join(alive)} are alive",
        warns=False,
        fails=bool(silent),
        todo="; ".join(f"shanghai {name}" for name in silent),
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
