"""Records as the programs write them, made up, a module for each kind. For tests, and to look at a report:

cd tests/analysis && python -m synthetic DIR [RECORDS [--processor NAME --scale FACTOR]]
"""

# ruff: noqa: F401  (what tests import from here)
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "analysis"))

from synthetic.common import campaign_of, canonical, digest, elsewhere, identity_of, read_back, store, view_of
from synthetic.comparisons import BASE, CANDIDATE, Pairs, gate_points
from synthetic.components import benchmark, component_point, component_record, component_records
from synthetic.counted import constant_points, count_unavailable, counted, line_bytes, with_energy
from synthetic.example import CLUSTER, example_archive, fill
from synthetic.links import exchange_load, simulated
from synthetic.points import (
    METHODS,
    breakdown_points,
    crossover_points,
    decomposition_points,
    grid_points,
    instance_points,
    many_points,
    peers_points,
    size_points,
    strong_node_points,
    strong_points,
    thread_points,
    weak_node_points,
    weak_points,
)
from synthetic.scalability import Known, known_records, line_points
from synthetic.simulations import (
    ETHERNET,
    GEMINI,
    OVERHEADS,
    latency_points,
    network_of,
    node_points,
    placement_points,
    simulated_records,
)
from synthetic.told import here_told, holds_of, launches_alike, told_records
from synthetic.transforms import Maker, make_point, phase_model
