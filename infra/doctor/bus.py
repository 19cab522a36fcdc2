"""Redis of the bus, of the broker and of the limits, or another broker."""

import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from redis.exceptions import ResponseError

from infra.bus.wire import Wire
from infra.doctor.finding import Finding, bad, judged, ok, warn
from infra.doctor.machine import look_at_clock
from infra.jobs import ping_broker, redis_url
from infra.settings import Settings
from services.ports import Unavailable

OLDEST_REDIS = 7
FULL = 0.8  # of maxmemory


async def look_at_engines(settings: Settings) -> list[Finding]:
    """Looks at every Redis that is named, once, and at a broker that is none."""
    urls: dict[str, list[str]] = {}
    findings: list[Finding] = []
    for name, url in (("bus", settings.bus_url), ("broker", settings.broker_url), ("limits", settings.limits_url)):
        if "redis" in urlsplit(url).scheme or urlsplit(url).scheme == "unix":
            urls.setdefault(redis_url(url).removesuffix("?db=0"), []).append(name)
        else:
            findings.append(await _look_at_broker(url))
    for url, names in urls.items():
        findings += await _look_at_redis(url, names)
    return findings


async def _look_at_broker(url: str) -> Finding:
    try:
        await ping_broker(url)
    except Unavailable as lost:
        return bad("broker", f"cannot be reached: {lost}", "start it, or mend SHANGHAI_BROKER_URL")
    return ok("broker", "answers")


async def _look_at_redis(url: str, names: list[str]) -> list[Finding]:
    what = "redis" if len(names) == 3 else "+".join(names)
    try:
        wire = await Wire.open(url)
    except Unavailable as lost:
        variables = ", ".join(f"SHANGHAI_{name.upper()}_URL" for name in names)
        return [bad(what, f"cannot be reached: {lost}", f"start it, or mend {variables}")]
    try:
        about = _fields(await wire.call("INFO"))
        version = about.get("valkey_version") or about["redis_version"]
        return [
            judged(
                what, f"{'Valkey' if 'valkey_version' in about else 'Redis'} {version}",
                warns=False, fails=int(version.split(".")[0]) < OLDEST_REDIS, todo="upgrade to version 7 or newer",
            ),
            await _policy(wire, what),
            _persistence(about, what),
            _memory(about, what),
            look_at_clock(what, await _ahead_s(wire)),
        ]  # fmt: skip
    except (Unavailable, ResponseError) as error:
        return [bad(what, f"does not tell about itself: {error}", "let its user call INFO and TIME")]
    finally:
        await wire.close()


async def redis_ahead_s(url: str) -> float:
    """Measures by how much a Redis's clock is ahead of this machine's. Errors: Unavailable, ResponseError."""
    wire = await Wire.open(url)
    try:
        return await _ahead_s(wire)
    finally:
        await wire.close()


async def _ahead_s(wire: Wire) -> float:
    before = time.time()
    seconds, microseconds = map(int, await wire.call("TIME"))
    return seconds + microseconds / 1e6 - (before + time.time()) / 2


async def _policy(wire: Wire, what: str) -> Finding:
    title, todo = f"{what} evictions", "set maxmemory-policy noeviction: else it throws entries away by itself"
    try:
        _, policy = await wire.call("CONFIG", "GET", "maxmemory-policy")
    except (ResponseError, ValueError):
        return warn(title, "cannot be read", todo)
    return judged(title, policy.decode(), warns=False, fails=policy != b"noeviction", todo=todo)


def _persistence(about: Mapping[str, str], what: str) -> Finding:
    is_kept = about.get("aof_enabled") == "1"
    found = "appends to a file" if is_kept else "a restart forgets everything"
    todo = "set appendonly yes: limits, jobs and the bus would else begin anew; no event is lost"
    return judged(f"{what} file", found, warns=not is_kept, todo=todo)


def _memory(about: Mapping[str, str], what: str) -> Finding:
    used, most = int(about["used_memory"]), int(about.get("maxmemory", "0"))
    found = f"{used / (1 << 20):.0f} MiB used" + (f" of {most / (1 << 20):.0f}" if most else "")
    return judged(
        f"{what} memory", found, warns=0 < most < used / FULL, fails=0 < most <= used, todo="give it more memory"
    )


def _fields(info: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in info.decode().splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in pairs}
