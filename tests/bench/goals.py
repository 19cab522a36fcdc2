"""How a measured goal is printed: `goal <name> <measured> <bound> ok|short|noisy`, or why it could not be measured."""

from typing import Literal

Better = Literal["less", "more"]


def report(
    name: str, measured: float, bound: float, unit: str, *, better: Better = "less", noisy: bool = False
) -> None:
    """Prints one goal's line. noisy: what it was measured against varied too much to judge by it."""
    reached = measured <= bound if better == "less" else measured >= bound
    verdict = "noisy" if noisy else "ok" if reached else "short"
    digits = 0 if measured >= 1000 else 2
    print(f"goal {name} {measured:.{digits}f}{unit} {bound:g}{unit} {verdict}", flush=True)  # noqa: T201  this is the output


def report_unavailable(name: str, reason: str) -> None:
    """Prints the line of a goal that could not be measured."""
    print(f"goal {name} unavailable: {reason}", flush=True)  # noqa: T201  this is the output
