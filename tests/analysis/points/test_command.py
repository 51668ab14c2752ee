"""The command that measures a point once more."""

import re
from pathlib import Path
from types import SimpleNamespace

from fourscore_analysis.points.command import DEFAULTS, OF_LAUNCH, repeating_command
from fourscore_analysis.points.keys import point_keys
from fourscore_analysis.points.points import Point
from fourscore_analysis.records.archive import read_campaigns, select_campaigns
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import read_cell, read_method
from fourscore_analysis.views.view import View
from synthetic import make_point

ROOT = Path(__file__).resolve().parents[3]
ARCHIVE = ROOT / "docs/example/archive"


def test_the_command_says_the_point_in_options_of_fft_bench():
    [campaign] = read_campaigns(ARCHIVE, select_campaigns(ARCHIVE, []))
    view = View(campaign, 0)
    commands = {point.label: repeating_command(point) for point in view.points if point.cell.ranks == 2}
    assert commands["slab/shared"] == (
        "mpirun -n 2 fft_bench --variant slab --exchange shared --shape 192x128x128 --repetitions 5"
    )
    known = set(re.findall(r'\.option = "(--[\w-]+)"', (ROOT / "core/point_keys.cpp").read_text())) | {"--repetitions"}
    point = view.points[0]
    keys = {*point_keys(point.cell, point.method), "repetitions"} - set(OF_LAUNCH)
    assert DEFAULTS.keys() <= keys
    assert {f"--{name.replace('_', '-')}" for name in keys} <= known


def point_of(more: dict, contract: dict, platform: str = "none", **launch) -> Point:
    made = make_point("pencil", "alltoallv", (8, 4), 4) | {"parameters": {}} | more
    made["contract"] = made["contract"] | contract
    place = Place(4, platform=platform)
    told = {"foreign": False, "time_s": (0.1,) * 10, "status": "ok", "simulated": False} | launch
    return Point(read_cell(made, place), read_method(made), "", "", [SimpleNamespace(**told)])


def test_the_command_says_what_is_not_usual_and_nothing_where_fft_bench_cannot():
    assert repeating_command(point_of({}, {})) == (
        "mpirun -n 4 fft_bench --variant pencil --exchange alltoallv --shape 8x4"
    )
    unusual = {
        "local_fft": "mkl",
        "precision": "single",
        "kind": "r2c",
        "direction": "convolution",
        "operator": "poisson",
        "grid": [2, 2],
        "active_ranks": 2,
        "threads": 3,
        "instances": 4,
        "placement": "subset",
        "fields": 5,
        "field_order": "pipelined",
        "wire": "zfp",
        "other_work": "2ms",
        "other_work_load": "memory",
        "other_work_place": "during",
        "parameters": {"zfp-rate": "16", "odd name": "a b"},
    }
    terms = {"layout": "natural", "buffers": "out-of-place", "planner": "patient"}
    assert repeating_command(point_of(unusual, terms, time_s=(0.1,) * 7)) == (
        "mpirun -n 4 fft_bench --variant pencil --exchange alltoallv --local-fft mkl --shape 8x4 --precision single "
        "--kind r2c --direction convolution --operator poisson --grid 2x2 --active-ranks 2 --threads 3 --instances 4 "
        "--placement subset --fields 5 --field-order pipelined --layout natural --buffers out-of-place "
        "--planner patient --wire zfp --other-work 2ms --other-work-load memory --other-work-place during "
        "--repetitions 7 --parameter 'odd name=a b' --parameter zfp-rate=16"
    )
    assert repeating_command(point_of({}, {}, foreign=True)) == ""
    assert repeating_command(point_of({}, {}, platform="torus")) == ""
