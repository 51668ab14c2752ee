"""Records of transforms: a model of time with noise."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from typing import Any

from fourscore_analysis.records.cells import POINT_KEYS

from synthetic.common import digest, identity_of, ranks_of_nodes

BLOCKS = {"serial": 0, "slab": 1, "fftw-mpi": 1, "pencil": 2, "rods": 2, "danielson-lanczos": 3}
EXCHANGE_FACTOR = {"alltoallv": 1.0, "alltoallw": 1.25, "pairwise": 1.1, "p2p": 0.95, "shared": 0.6, "none": 1.05}
CARDS = {
    "serial": ("one rank, one FFTW plan of all dimensions", "frigo2005"),
    "fftw-mpi": ("FFTW's own distributed transform, the reference", "frigo2005"),
    "slab": ("one dimension cut: one exchange", "eleftheriou2005"),
    "pencil": ("two dimensions cut: two exchanges within rows and columns", "czechowski2012"),
}


def make_point(
    variant: str = "slab",
    exchange: str = "alltoallv",
    shape: Iterable[int] = (64, 64, 64),
    ranks: int = 2,
    **changes: Any,
) -> dict[str, Any]:
    contract = {"layout": "transposed", "buffers": "in-place", "normalisation": "none", "planner": "measure"}
    contract.update({key: changes.pop(key) for key in list(changes) if key in contract})
    point = {
        "variant": variant,
        "exchange": exchange,
        "local_fft": "fftw",
        "shape": list(shape),
        "precision": "double",
        "kind": "c2c",
        "direction": "forward",
        "ranks": ranks,
        "nodes": (nodes := changes.pop("nodes", 1)),
        "ranks_per_node": -(-ranks // nodes),
        "placement_of_ranks": "block",
        "grid": "auto",
        "threads": 1,
        "instances": 1,
        "placement": "all",
        "contract": contract,
        "parameters": {},
    }
    unknown = changes.keys() - point.keys() - POINT_KEYS.keys()
    assert not unknown, unknown
    return point | changes


def phase_model(point: dict[str, Any]) -> dict[str, float]:
    """Seconds of each phase for a machine of 2 GFLOP/s and 4 GB/s a rank."""
    elements, ranks = math.prod(point["shape"]), point["ranks"]
    flops = 5 * elements * math.log2(max(2, elements))
    word = 16 if point["precision"] == "double" else 8
    fft = point["instances"] * flops / ranks / 2e9 * (0.62 if word == 8 else 1)
    exchanges = BLOCKS.get(point["variant"], 2) if ranks > 1 else 0
    if point["contract"]["layout"] == "natural" and exchanges:
        exchanges *= 2
    moved = elements * word / ranks / 4e9
    phases = {"fft": fft}
    if isinstance(point["grid"], list):  # the nearer to a square, the better
        moved *= 1 + 0.1 * abs(math.log2(point["grid"][0] / point["grid"][-1]))
    if exchanges:
        between = 1 + 0.25 * (point["nodes"] - 1) ** 0.5  # nodes are farther apart than ranks of one
        phases["exchange"] = exchanges * (moved * EXCHANGE_FACTOR[point["exchange"]] + 4e-6 * ranks) * between
        if point["exchange"] not in ("alltoallw", "shared", "none"):
            phases["pack"] = exchanges * moved * 0.35
            phases["unpack"] = exchanges * moved * 0.4
    phases["other"] = 0.004 * fft + 2e-7
    return phases


def node_of(point: dict[str, Any], rank: int) -> int:
    if point["placement_of_ranks"] == "cyclic":
        return rank % point["nodes"]
    ends = accumulate(ranks_of_nodes(point))
    return next(node for node, end in enumerate(ends) if rank < end)


def slow_down(rank_phase: dict[str, list[list[float]]], slower: list[float]) -> None:
    """Changes the times, [rank][repetition]: ranks compute `slower`, and wait for the last of them in the exchange."""
    computed = [name for name in rank_phase if name not in ("exchange", "other")]
    for rank, factor in enumerate(slower):
        for name in computed:
            rank_phase[name][rank] = [seconds * factor for seconds in rank_phase[name][rank]]
    for repetition in range(len(rank_phase["fft"][0])):
        sums = [sum(rank_phase[name][rank][repetition] for name in computed) for rank in range(len(slower))]
        for rank, seconds in enumerate(sums):
            if "exchange" in rank_phase:
                rank_phase["exchange"][rank][repetition] += max(sums) - seconds


def closure_of(totals: list[list[float]], rank_phase: dict[str, list[list[float]]]) -> dict[str, Any]:
    """How far the phases of a rank are from its total, at worst."""
    gaps = [
        abs(sum(rows[rank][i] for rows in rank_phase.values()) / total - 1)
        for rank, row in enumerate(totals)
        for i, total in enumerate(row)
    ]
    return {"worst": max(gaps), "limit": 0.02, "ok": max(gaps) <= 0.02}


@dataclass
class Maker:
    """Makes the records of one campaign."""

    campaign: str = "strong-1a2b3c4d"
    suite: str = "strong"
    seed: int = 1
    repetitions: int = 10
    started: datetime = datetime(2026, 11, 20, 8, tzinfo=timezone.utc)
    revision: str = "3f2c9b1"
    isolate: bool = True
    timeline: bool = False
    order: int = 0
    hosts: tuple[str, ...] = ("node-a",)  # a launch gets as many as its point has nodes, by chance
    slow: dict[str, float] = field(default_factory=dict)  # host: how many times slower it computes
    job: str = ""
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def head(self, point: dict[str, Any], launch: int) -> dict[str, Any]:
        self.order += 1
        return {
            "schema": "fourscore.run-record",
            "schema_version": 3,
            "record_id": f"{self.rng.getrandbits(128):032x}",
            "point_id": digest(point),
            "point": point,
            "campaign": {
                "id": self.campaign,
                "suite": self.suite,
                "suite_sha256": digest(self.suite, 64),
                "launch": launch,
                "order": self.order,
                "of": 0,
                "seed": self.seed,
            },
        }

    def placed(self, point: dict[str, Any]) -> list[str]:
        """Hosts of a launch, by node; sorted, as batch systems have them."""
        nodes = point["nodes"]
        if len(self.hosts) == nodes:
            return list(self.hosts)
        if len(self.hosts) < nodes:
            return [f"node-{number}" for number in range(nodes)]
        return sorted(self.rng.sample(self.hosts, nodes))

    def provenance(
        self, point: dict[str, Any], cpu: str = "Imaginary 9000 @ 2.60GHz", hosts: list[str] | None = None
    ) -> dict[str, Any]:
        identity = identity_of(point, self.revision, cpu)
        started = self.started + timedelta(seconds=2.5 * self.order)
        return {
            "identity_hash": digest(identity),
            "identity": identity,
            "machine_hash": digest(identity["machine"]),
            "code_hash": digest(identity["code"]),
            "launch_hash": digest(identity["launch"]),
            "volatile": {
                "started_at": started.strftime("%Y-%m-%dT%H:%M:%S.") + f"{started.microsecond // 1000:03d}Z",
                "hosts": hosts or self.placed(point),
                "load_1min": round(self.rng.uniform(0.1, 1.9), 2),
                "governor": "performance",
                "clock_source": "tsc",
                "clock_resolution_s": 2.7e-8,
                "cpu_mhz": round(self.rng.uniform(2590, 2610), 1),
                "temperature_c": round(self.rng.uniform(45, 60), 1),
                "thp": "madvise",
                "kernel": "6.1.0",
                "job_id": self.job,
                "environment": {"OMP_NUM_THREADS": "1"},
            },
        }

    def ended(self, point: dict[str, Any], launch: int, status: str, reason: str, **verdict: Any) -> dict[str, Any]:
        """A record without times: skipped, failed, timeout or wrong."""
        verdict = {"status": status, "reason": reason, "exit_status": 0, "signal": 0, "stderr_tail": ""} | verdict
        record = self.head(point, launch) | {"verdict": verdict, "provenance": self.provenance(point)}
        if status == "wrong":
            check = {"name": "plane-waves", "when": "before", "error": 0.3, "tolerance": 4.4e-15, "ok": False}
            record["verification"] = {"ok": False, "checks": [check]}
        return record

    def ok(
        self, point: dict[str, Any], launch: int, scale: float = 1.0, flags: list[str] | None = None
    ) -> dict[str, Any]:
        """A record with times; `scale` slows all of it. Ranks of a slow host compute longer, and the others wait for
        them in the exchange."""
        ranks, repetitions, rng = point["ranks"], self.repetitions, self.rng
        hosts = self.placed(point)
        slower = [self.slow.get(hosts[node_of(point, rank)], 1.0) for rank in range(ranks)]
        launch_noise = scale * math.exp(rng.gauss(0, 0.012))
        rank_phase: dict[str, list[list[float]]] = {}
        for name, seconds in phase_model(point).items():
            rank_phase[name] = [
                [seconds * launch_noise * (1 + abs(rng.gauss(0, 0.02))) for _ in range(repetitions)]
                for _ in range(ranks)
            ]
        if max(slower) > 1:
            slow_down(rank_phase, slower)
        totals = [
            [sum(rank_phase[name][rank][i] for name in rank_phase) * 1.001 for i in range(repetitions)]
            for rank in range(ranks)
        ]
        return self.with_samples(point, launch, totals, rank_phase, flags, hosts)

    def timed(
        self, point: dict[str, Any], launch: int, times: float | dict[str, float], flags: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """A record of which every rank takes so many seconds each time, all of it `fft`, or so many of each phase. With
        `flags` alone where they are given."""
        phases = times if isinstance(times, dict) else {"fft": times}
        samples = min(3, self.repetitions)
        rows = {name: [[seconds] * samples] * point["ranks"] for name, seconds in phases.items()}
        record = self.with_samples(point, launch, [[sum(phases.values())] * samples] * point["ranks"], rows)
        return record if flags is None else record | {"flags": list(flags)}

    def with_samples(
        self,
        point: dict[str, Any],
        launch: int,
        totals: list[list[float]],
        rank_phase: dict[str, list[list[float]]],
        flags: list[str] | None = None,
        hosts: list[str] | None = None,
    ) -> dict[str, Any]:
        """A record with the given times, [rank][repetition]."""
        ranks, rng = point["ranks"], self.rng
        time_s = [max(rank[i] for rank in totals) for i in range(len(totals[0]))]
        elements = math.prod(point["shape"])
        local_bytes = elements * (16 if point["precision"] == "double" else 8) / ranks
        plan = [rng.uniform(0.05, 0.4) * (1 + elements / 2e6) for _ in range(ranks)]
        exchanges = BLOCKS.get(point["variant"], 2) if ranks > 1 else 0
        cached = elements * 16 < 33554432
        summary, citation = CARDS.get(point["variant"], ("", ""))
        record = self.head(point, launch) | {
            "resolved": {
                "grid": point["grid"] if isinstance(point["grid"], list) else [1, ranks],
                "input": "slabs",
                "output": "slabs",
            },
            "sampling": {
                "repetitions": len(time_s),
                "warmup": 1,
                "max_time_s": 60.0,
                "start": "barrier",
                "phases": bool(rank_phase),
                "isolate": self.isolate,
                "seed": 1,
            },
            "cards": {
                "variant": {"name": point["variant"], "summary": summary, "citation": citation},
                "local_fft": {"name": "fftw", "version": "fftw-3.3.10-sse2-avx"},
            },
            "verdict": {"status": "ok", "reason": "", "exit_status": 0, "signal": 0, "stderr_tail": ""},
            "verification": {
                "ok": True,
                "checks": [
                    {"name": "plane-waves", "when": when, "error": 1.1e-16, "tolerance": 4.4e-15, "ok": True}
                    for when in ("before", "after")
                ],
            },
            "samples": {
                "time_s": time_s,
                "warmup_s": [time_s[0] * 1.6],
                "time_is": "span",
                "start_skew_s": [0.0] * len(time_s),
                "clock": {"alignment": "shared clock", "uncertainty_s": 0.0},
                "rank_total_s": totals,
                "rank_phase_s": rank_phase,
                "closure": closure_of(totals, rank_phase),
            },
            "plan": {
                "rank_s": plan,
                "time_s": max(plan),
                "wisdom": "none",
                "local_fft": ["(dft-ct-dit/8 ...)"],
                "distinct_plans": 1,
            },
            "cost": {
                "flops": 5 * elements * math.log2(max(2, elements)),
                "bytes_sent_per_rank": [exchanges * local_bytes * (ranks - 1) / ranks] * ranks,
                "messages_per_rank": [exchanges * (ranks - 1)] * ranks,
            },
            "credited_flops": point["instances"]
            * point.get("fields", 1)
            * (2 if point["direction"] in ("roundtrip", "convolution") else 1)
            * (2.5 if point["kind"] == "r2c" else 5)
            * elements
            * math.log2(elements),
            "memory": {
                "local_data_bytes": [local_bytes] * ranks,
                "plan_bytes": [2 * local_bytes] * ranks,
                "workspace_bytes": [0.5 * local_bytes] * ranks,
                "ratio": 2.5,
                "peak_rss_bytes": [3e7 + 2.5 * local_bytes] * ranks,
            },
            "flags": (["in-cache"] if cached else [])
            + (flags or [])
            + (["oversubscribed", "unbound"] if point["ranks_per_node"] > 8 else []),
            "harness": {
                "launch_s": rng.uniform(0.25, 0.4),
                "init_s": rng.uniform(0.05, 0.12),
                "plan_s": max(plan),
                "verify_s": 3 * time_s[0],
                "measure_s": sum(time_s) * 1.1,
                "isolate_s": sum(time_s) if self.isolate else 0.0,
                "write_s": 0.002,
            },
            "counters": {"backend": "none"},
            "provenance": self.provenance(point, hosts=hosts),
        }
        if point["instances"] > 1:
            share = point["instances"] if point["placement"] == "all" else 1
            of_rank = [[[time * (number + 1) / share for time in rank] for number in range(share)] for rank in totals]
            record["samples"]["rank_instance_s"] = of_rank
            record["samples"]["instance_time_s"] = [of_rank[0][number % share] for number in range(point["instances"])]
        if self.timeline:
            record["sampling"]["timeline"] = True
            record["timeline"] = self.traced(point, rank_phase)
        if self.isolate:
            record["isolated"] = self.isolated(rank_phase, max(1, exchanges))
        return record

    def isolated(self, rank_phase: dict[str, list[list[float]]], parts: int) -> list[dict[str, Any]]:
        """Each phase in equal `parts`; alone, an exchange takes 0.8 of its time inside, the rest 0.95."""
        found = []
        for name, times in rank_phase.items():
            if name == "other":
                continue
            factor = 0.8 if name == "exchange" else 0.95
            for part in range(parts):
                rank_s = [[value * factor / parts for value in row] for row in times]
                time_s = [max(column) for column in zip(*rank_s, strict=True)]
                found.append({"name": f"{name}-{part + 1}", "phase": name, "time_s": time_s, "rank_s": rank_s})
        return found

    def traced(
        self, point: dict[str, Any], rank_phase: dict[str, list[list[float]]], pieces: int = 6
    ) -> dict[str, Any]:
        """Each phase of the last repetition in `pieces`, one after the other; with threads, they share the fft."""
        lanes = []
        ends = []
        for rank in range(point["ranks"]):
            lane: dict[str, Any] = {"rank": rank, "lane": 0, "dropped": 0}
            lane |= {"phase": [], "begin_s": [], "end_s": [], "piece": []}
            threads = [
                {"rank": rank, "lane": number, "dropped": 0, "phase": [], "begin_s": [], "end_s": []}
                for number in range(1, point["threads"])
            ]
            now = round(2e-6 * rank, 9)
            for piece in range(pieces):
                for name in ("fft", "pack", "exchange", "unpack", "other"):
                    if name not in rank_phase:
                        continue
                    end = round(now + rank_phase[name][rank][-1] / pieces, 9)
                    for one in [lane, *threads] if name == "fft" else [lane]:
                        one["phase"].append(name)
                        one["begin_s"].append(now)
                        one["end_s"].append(end)
                    lane["piece"].append(-1 if name == "other" else piece)
                    now = end
            lanes += [lane, *threads]
            ends.append(now)
        ranks = point["ranks"]
        return {
            "clock": {"alignment": "shared clock", "offset_s": [0.0] * ranks, "uncertainty_s": [0.0] * ranks},
            "room": 20000,
            "rank_start_s": [round(2e-6 * rank, 9) for rank in range(ranks)],
            "rank_end_s": ends,
            "lanes": lanes,
        }
