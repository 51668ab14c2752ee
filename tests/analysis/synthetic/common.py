"""What made-up records of every kind share: hashes, machine and build, the archive."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.views.view import View


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value: Any, digits: int = 16) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:digits]


def ranks_of_nodes(point: dict[str, Any]) -> list[int]:
    """How many ranks each node has: the first ones one more where they do not divide."""
    ranks, nodes = point["ranks"], point["nodes"]
    return [ranks // nodes + (node < ranks % nodes) for node in range(nodes)]


def identity_of(
    point: dict[str, Any], revision: str = "3f2c9b1", cpu: str = "Imaginary 9000 @ 2.60GHz"
) -> dict[str, Any]:
    nodes, of_node = point["nodes"], ranks_of_nodes(point)
    core_maps = [
        {
            "nodes": ",".join(str(node) for node in range(nodes) if of_node[node] == count),
            "cores": [str(core % 8) for core in range(count)],
        }
        for count in sorted(set(of_node), reverse=True)
    ]
    return {
        "machine": {
            "cpu_model": cpu,
            "arch": "x86_64",
            "cores": 8,
            "threads_per_core": 1,
            "numa_nodes": 1,
            "caches": [
                {"level": 1, "bytes": 32768, "shared_by": 1},
                {"level": 2, "bytes": 1048576, "shared_by": 1},
                {"level": 3, "bytes": 33554432, "shared_by": 8},
            ],
            "memory_bytes": 25000000000,
            "gpus": [],
            "interconnect": [],
        },
        "code": {
            "binary_sha256": digest(revision, 64),
            "revision": revision,
            "dirty_sha256": "",
            "compiler": "GNU 12.2.0",
            "flags": "-O3 -march=native",
            "build_type": "Release",
            "mpi": "Open MPI v4.1.4",
            "fftw": "fftw-3.3.10-sse2-avx",
        },
        "launch": {
            "launcher": "local",
            "nodes": nodes,
            "placement_of_ranks": "cyclic" if point["placement_of_ranks"] == "cyclic" else "block",
            "core_maps": core_maps,
            "threads": 1,
        },
    }


def elsewhere(record: dict[str, Any], machine: dict[str, Any] | None = None, **code: Any) -> dict[str, Any]:
    """The same launch on a machine, and of a build, that say what they are given; their digests follow."""
    provenance = record["provenance"]
    identity = provenance["identity"]
    identity["machine"] |= machine or {}
    identity["code"] |= code
    provenance |= {f"{part}_hash": digest(identity[part]) for part in ("machine", "code")}
    provenance["identity_hash"] = digest(identity)
    return record


def store(archive: Path, record: dict[str, Any]) -> Path:
    folder = archive / "records" / record["campaign"]["id"]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['point_id']}-{record['campaign']['launch']:03d}.json"
    path.write_text(canonical(record), encoding="utf-8")
    return path


def read_back(records: Iterable[dict[str, Any]]) -> list:
    """As the report reads them."""
    return [parse_record(canonical(record), f"{number}.json") for number, record in enumerate(records)]


def campaign_of(records: Iterable[dict[str, Any]], *paper: str) -> Campaign:
    runs = read_back(records)
    transforms = [run for run in runs if hasattr(run, "cell")]
    return Campaign("a-11111111", "a", transforms, [run for run in runs if not hasattr(run, "cell")], paper=paper)


def view_of(*records: dict[str, Any] | Iterable[dict[str, Any]]) -> View:
    """A view of one campaign, all of whose points are drawn."""
    lists = ([one] if isinstance(one, dict) else one for one in records)
    return View(campaign_of(record for one in lists for record in one), 0)
