"""The command that measures a point once more."""

from __future__ import annotations

import shlex

from fourscore_analysis.points.keys import point_keys
from fourscore_analysis.points.points import Point

# What fft_bench does where an option is not given (core/point_keys.cpp).
DEFAULTS = {
    "local_fft": "fftw",
    "precision": "double",
    "kind": "c2c",
    "direction": "forward",
    "grid": "auto",
    "threads": 1,
    "instances": 1,
    "placement": "all",
    "fields": 1,
    "field_order": "together",
    "layout": "transposed",
    "buffers": "in-place",
    "planner": "measure",
    "wire": "as-is",
    "repetitions": 10,
}
# Keys that are no option of fft_bench as they are.
OF_LAUNCH = ("ranks", "nodes", "ranks_per_node", "placement_of_ranks", "platform", "host_order", "parameters")


def repeating_command(point: Point) -> str:
    """`mpirun -n 4 fft_bench --variant pencil ...`, for a shell. "" where fft_bench did not measure it, and where the
    machine is simulated."""
    first = (point.measured or point.launches)[0]
    if first.foreign or point.cell.place.platform != "none":
        return ""
    options = point_keys(point.cell, point.method) | {"repetitions": len(first.time_s)}
    words = ["mpirun", "-n", str(point.cell.ranks), "fft_bench"]
    for name, value in options.items():
        if value and value != DEFAULTS.get(name) and name not in OF_LAUNCH:
            words += [f"--{name.replace('_', '-')}", str(value)]
    for name, value in point.method.options:
        words += ["--parameter", f"{name}={value}"]
    return shlex.join(words)
