"""The command that measures a point once more."""

from __future__ import annotations

import shlex

from fourscore_analysis.points.points import Point

# What fft_bench does where an option is not given (core/point_keys.cpp).
DEFAULTS = {
    "--local-fft": "fftw",
    "--precision": "double",
    "--kind": "c2c",
    "--direction": "forward",
    "--grid": "auto",
    "--threads": "1",
    "--instances": "1",
    "--placement": "all",
    "--fields": "1",
    "--field-order": "together",
    "--layout": "transposed",
    "--buffers": "in-place",
    "--planner": "measure",
    "--wire": "as-is",
    "--repetitions": "10",
}


def repeating_command(point: Point) -> str:
    """`mpirun -n 4 fft_bench --variant pencil ...`, for a shell. "" where fft_bench did not measure it, and where the
    machine is simulated."""
    first = (point.measured or point.launches)[0]
    if first.foreign or point.cell.place.platform != "none":
        return ""
    method, contract = point.method, point.cell.contract
    options = {
        "--variant": method.variant,
        "--exchange": method.exchange,
        "--local-fft": method.local_fft,
        "--shape": "x".join(map(str, point.cell.shape)),
        "--precision": contract.precision,
        "--kind": contract.kind,
        "--direction": contract.direction,
        "--operator": contract.operator,
        "--grid": method.grid,
        "--active-ranks": method.active_ranks,
        "--threads": str(contract.threads),
        "--instances": str(contract.instances),
        "--placement": method.placement,
        "--fields": str(contract.fields),
        "--field-order": method.field_order,
        "--layout": contract.layout,
        "--buffers": contract.buffers,
        "--planner": contract.planner,
        "--wire": contract.wire,
        "--other-work": contract.other_work,
        "--other-work-load": contract.other_work_load,
        "--other-work-place": contract.other_work_place,
        "--repetitions": str(len(first.time_s)) if first.time_s else "",
    }
    words = ["mpirun", "-n", str(point.cell.ranks), "fft_bench"]
    for name, value in options.items():
        if value and value != DEFAULTS.get(name):
            words += [name, value]
    for name, value in method.options:
        words += ["--parameter", f"{name}={value}"]
    return shlex.join(words)
