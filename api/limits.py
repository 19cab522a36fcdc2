"""Refusing what is asked too often, with the headers that tell a client how to behave."""

import math
from functools import cache
from ipaddress import IPv6Address, ip_address

from api.problems import Failed
from services.limits import Limit


async def refuse_beyond(limit: Limit, policy: str, subject: str, cost: int = 1) -> dict[str, str]:
    """Counts a request and gives its RateLimit headers; raises the problem `rate_limited` beyond the quota."""
    verdict = await limit.take(subject, cost)
    wait_s = math.ceil(verdict.wait_s)
    headers = {
        "ratelimit-policy": _policy(policy, limit.quota, limit.window_s),
        "ratelimit": f'"{policy}";r={verdict.remaining};t={wait_s}',
    }
    if not verdict.passes:
        raise Failed("rate_limited", headers={**headers, "retry-after": str(max(1, wait_s))})
    return headers


@cache
def _policy(name: str, quota: int, window_s: float) -> str:
    return f'"{name}";q={quota};w={math.ceil(window_s)}'


def neighbourhood(address: str) -> str:
    """Gives whom an address is counted with: an IPv6 client has a whole /64 to itself."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # a unix socket has none
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return address
