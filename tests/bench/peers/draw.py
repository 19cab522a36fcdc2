"""Draws the rows of tests/bench/growth.py as pictures. Arguments: the rows as JSON, the folder for the pictures."""

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

rows, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for what, unit in (("games", "moves a second"), ("streams", "events sent a second")):
    mine = [row for row in rows if row["what"] == what]
    counts = [row["count"] for row in mine]
    figure, (rate, time) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    rate.plot(counts, [row["per_s"] for row in mine], marker="o")
    rate.set_ylabel(unit)
    for name, style in (("p50_ms", "-"), ("p99_ms", "--")):
        time.plot(counts, [row[name] for row in mine], style, marker="o", label=name.removesuffix("_ms"))
    time.set_ylabel("milliseconds until seen" if what == "streams" else "milliseconds a move")
    time.set_yscale("log")
    time.legend()
    for axes in (rate, time):
        axes.set_xscale("log")
        axes.set_xlabel(f"{what} at once")
        axes.grid(alpha=0.3)
        axes.set_ylim(bottom=0 if axes is rate else None)
    figure.savefig(folder / f"{what}.svg")
    sys.stdout.write(f"{folder / what}.svg\n")
