"""Which processes there are, by what each says of itself: their kinds, versions and clocks."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from redis.exceptions import ResponseError

from infra.doctor.bus import redis_ahead_s
from infra.doctor.finding import Finding, judged, warn
from infra.doctor.machine import LARGE_SKEW_S, SKEW_S
from infra.presence import EVERY_S, PROCESSES, Presence
from infra.roll import Heard, build, call_roll
from infra.settings import Settings
from services.ports import Unavailable

KINDS = ("api", *PROCESSES)
_LOOK_S = 0.1
_LOOKS = int(3 * EVERY_S / _LOOK_S)  # each process says once in EVERY_S that it is there


async def look_at_roll(settings: Settings, database_ahead_s: float | None) -> list[Finding]:
    """Waits until each kind of process, and each that was there before, has said that it is alive.

    database_ahead_s: by how much Postgres's clock is ahead of this machine's, where that is known.
    """
    presence, began = Presence(settings.limits_url), time.monotonic()
    alive: Mapping[str, bool] = {}
    heard: Sequence[Heard] = []
    silent: Sequence[Heard] = []
    try:
        for look in range(_LOOKS):
            if look:
                await asyncio.sleep(_LOOK_S)
            alive, heard = await presence.processes(), await call_roll(settings.limits_url)
            silent = [one for one in heard if one.silent_s > time.monotonic() - began]
            if not silent and not _missing(alive, heard):
                break
        ahead_s = await redis_ahead_s(settings.limits_url)
    except (Unavailable, ResponseError) as lost:
        return [warn("processes", f"cannot be asked for: {lost}", "mend the Redis of SHANGHAI_LIMITS_URL")]
    finally:
        await presence.close()
    speaking = [one for one in heard if one not in silent]
    return [
        _living(speaking, _missing(alive, speaking)),
        _silent(silent),
        _versions(speaking, [kind for kind in KINDS if alive.get(kind) and kind not in _kinds(heard)]),
        *([] if database_ahead_s is None else [_clocks(speaking, database_ahead_s - ahead_s)]),
    ]


def _living(heard: Sequence[Heard], missing: Sequence[str]) -> Finding:
    many = Counter(
        f"{one.said.process}{f' ({_ROLES[one.said.role]})' if one.said.role in _ROLES else ''}" for one in heard
    )
    there = ", ".join(f"{count} {what}" for what, count in sorted(many.items()))
    return judged(
        "processes",
        f"no sign of life of {', '.join(missing)}" if missing else f"alive are {there}",
        warns=False,
        fails=bool(missing),
        todo="; ".join(f"shanghai {kind}" for kind in missing),
    )


def _silent(silent: Sequence[Heard]) -> Finding:
    names = ", ".join(f"{one.said.name} for {one.silent_s:.0f} s" for one in silent)
    return judged(
        "silent processes",
        names or "none: whoever has said that it is there still does",
        warns=bool(silent),
        todo="look again in ten seconds: they were killed, or they hang; an end in good order is told",
    )


def _versions(heard: Sequence[Heard], unregistered: Sequence[str]) -> Finding:
    """Compares programs, also with this one; unregistered: kinds alive that say nothing of themselves, as of old."""
    others = [f"{one.said.name} is {one.said.version}" for one in heard if one.said.version != build()]
    others += [f"{kind} is older than any that tells its version" for kind in unregistered]
    return judged(
        "versions",
        f"this is {build()}, but {'; '.join(others)}" if others else f"all run {build()}",
        warns=bool(others),
        todo="end the upgrade: replace what is older, or go back with what is newer; never leave both for long",
    )


def _clocks(heard: Sequence[Heard], database_ahead_s: float) -> Finding:
    """Judges by how much each process's clock is ahead of Postgres's. database_ahead_s: of Redis's."""
    skews = sorted(((one.ahead_s - database_ahead_s, one.said.name) for one in heard), key=lambda skew: abs(skew[0]))
    if not skews:
        return judged("clocks of processes", "nobody tells", warns=False, todo="")
    skew_s, name = skews[-1]
    return judged(
        "clocks of processes",
        f"at most {abs(skew_s):.2f} s {'ahead of' if skew_s > 0 else 'behind'} Postgres's, that of {name}",
        warns=abs(skew_s) > SKEW_S,
        fails=abs(skew_s) > LARGE_SKEW_S,
        todo="let its machine and that of Postgres follow one time server (NTP)",
    )


def _kinds(heard: Sequence[Heard]) -> set[str]:
    return {one.said.process for one in heard}


def _missing(alive: Mapping[str, bool], heard: Sequence[Heard]) -> list[str]:
    return [kind for kind in KINDS if not alive.get(kind) and kind not in _kinds(heard)]


_ROLES = {"leads": "leads", "stands_by": "stands by"}
