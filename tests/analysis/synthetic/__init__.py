"""Records as the programs write them, made up, a module for each kind. For tests, and to look at a report:

cd tests/analysis && python -m synthetic DIR [RECORDS [--processor NAME --scale FACTOR]]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "analysis"))

from synthetic.common import campaign_of, canonical, digest, elsewhere, identity_of, read_back, store
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
from synthetic.told import here_told, holds_of, told_records
from synthetic.transforms import Maker, make_point, phase_model

__all__ = [
    "BASE",
    "CANDIDATE",
    "CLUSTER",
    "ETHERNET",
    "GEMINI",
    "METHODS",
    "OVERHEADS",
    "Known",
    "Maker",
    "Pairs",
    "benchmark",
    "breakdown_points",
    "campaign_of",
    "canonical",
    "component_point",
    "component_record",
    "component_records",
    "constant_points",
    "count_unavailable",
    "counted",
    "crossover_points",
    "decomposition_points",
    "digest",
    "elsewhere",
    "example_archive",
    "exchange_load",
    "fill",
    "gate_points",
    "grid_points",
    "here_told",
    "holds_of",
    "identity_of",
    "instance_points",
    "known_records",
    "latency_points",
    "line_bytes",
    "line_points",
    "make_point",
    "many_points",
    "network_of",
    "node_points",
    "peers_points",
    "phase_model",
    "placement_points",
    "read_back",
    "simulated",
    "simulated_records",
    "size_points",
    "store",
    "strong_node_points",
    "strong_points",
    "thread_points",
    "told_records",
    "weak_node_points",
    "weak_points",
    "with_energy",
]
