"""The engine's goals, beside other engines of card and board games: `make bench-engine`. One line a goal; exit code 0.

Everything is CPU time, and the other engines run in turn with ours: the ratios hold on any machine.
"""

from domain.presets import preset
from tests.bench.contest import OURS, RUNS, THEIRS, TOO_WIDE, Player, Speed, ratio, speeds
from tests.bench.goals import report, report_unavailable
from tests.bench.rehydration import EVENTS, rehydration_s
from tests.bench.solver_times import solver_times

MOVES_PER_S = 60_000

# Microseconds and milliseconds of the solver: mean, p99 and worst.
SOLVER = {"davis": (25, 0.5, 20), "black-twos": (35, 0.5, 50)}


def main() -> None:
    found = speeds((*OURS, *THEIRS))
    for ours in OURS:
        report(f"moves_{ours.name}", found[ours.name].median, MOVES_PER_S, "/s", better="more")
    for peer in THEIRS:
        for ours in OURS:
            compare(ours, found[ours.name], peer, found[peer.name])
    for name, (mean_us, p99_ms, worst_ms) in SOLVER.items():
        times, label = solver_times(preset(name)), name.replace("-", "_")
        report(f"solver_mean_{label}", times.mean * 1e6, mean_us, "us")
        report(f"solver_p99_{label}", times.p99 * 1e3, p99_ms, "ms")
        report(f"solver_worst_{label}", times.worst * 1e3, worst_ms, "ms")
    report(f"rehydrate_{EVENTS}_events", rehydration_s() * 1e3, 0.5, "ms")
    for name, speed in found.items():
        if not speed.fault:
            print(f"{name}: {speed.median:,.0f} moves/s, median of {RUNS}, spread {speed.spread:.0%}")  # noqa: T201


def compare(ours: Player, our_speed: Speed, peer: Player, peer_speed: Speed) -> None:
    """Reports how many times as fast as a peer we are."""
    name = f"{ours.name}_to_{peer.name}"
    if fault := our_speed.fault or peer_speed.fault:
        report_unavailable(name, fault)
        return
    noisy = peer_speed.spread > TOO_WIDE
    report(name, ratio(our_speed, peer_speed), peer.ratio, "x", better="more", noisy=noisy)


if __name__ == "__main__":
    main()
