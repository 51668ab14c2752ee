"""Records as the driver writes them, made up: a model of time with noise. For tests, and to look at a report:

python synthetic.py DIR [RECORDS]
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

BLOCKS = {"serial": 0, "slab": 1, "fftw-mpi": 1, "pencil": 2, "danielson-lanczos": 3}
EXCHANGE_FACTOR = {"alltoallv": 1.0, "alltoallw": 1.25, "pairwise": 1.1, "p2p": 0.95, "shared": 0.6, "none": 1.05}
CARDS = {
    "serial": ("one rank, one FFTW plan of all dimensions", "frigo2005"),
    "fftw-mpi": ("FFTW's own distributed transform, the reference", "frigo2005"),
    "slab": ("one dimension cut: one exchange", "eleftheriou2005"),
    "pencil": ("two dimensions cut: two exchanges within rows and columns", "czechowski2012"),
}


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value: Any, digits: int = 16) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:digits]


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
        "grid": "auto",
        "threads": 1,
        "instances": 1,
        "placement": "all",
        "contract": contract,
        "parameters": {},
    }
    unknown = set(changes) - set(point)
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
    if exchanges:
        phases["exchange"] = exchanges * (moved * EXCHANGE_FACTOR[point["exchange"]] + 4e-6 * ranks)
        if point["exchange"] not in ("alltoallw", "shared", "none"):
            phases["pack"] = exchanges * moved * 0.35
            phases["unpack"] = exchanges * moved * 0.4
    phases["other"] = 0.004 * fft + 2e-7
    return phases


def identity_of(
    point: dict[str, Any], revision: str = "3f2c9b1", cpu: str = "Imaginary 9000 @ 2.60GHz"
) -> dict[str, Any]:
    ranks = point["ranks"]
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
            "cuda": "",
        },
        "launch": {
            "launcher": "local",
            "nodes": 1,
            "ranks_per_node": [ranks],
            "rank_cores": [[rank % 8] for rank in range(ranks)],
            "threads": 1,
        },
    }


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
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def head(self, point: dict[str, Any], launch: int) -> dict[str, Any]:
        self.order += 1
        return {
            "schema": "fourscore.run-record",
            "schema_version": 1,
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

    def provenance(self, point: dict[str, Any], cpu: str = "Imaginary 9000 @ 2.60GHz") -> dict[str, Any]:
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
                "hosts": ["node-a"] * point["ranks"],
                "load_1min": round(self.rng.uniform(0.1, 1.9), 2),
                "governor": "performance",
                "clock_source": "tsc",
                "clock_resolution_s": 2.7e-8,
                "cpu_mhz": round(self.rng.uniform(2590, 2610), 1),
                "temperature_c": round(self.rng.uniform(45, 60), 1),
                "thp": "madvise",
                "kernel": "6.1.0",
                "job_id": "",
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
        """A record with times; `scale` slows all of it."""
        ranks, repetitions, rng = point["ranks"], self.repetitions, self.rng
        launch_noise = scale * math.exp(rng.gauss(0, 0.012))
        rank_phase: dict[str, list[list[float]]] = {}
        for name, seconds in phase_model(point).items():
            rank_phase[name] = [
                [seconds * launch_noise * (1 + abs(rng.gauss(0, 0.02))) for _ in range(repetitions)]
                for _ in range(ranks)
            ]
        totals = [
            [sum(rank_phase[name][rank][i] for name in rank_phase) * 1.001 for i in range(repetitions)]
            for rank in range(ranks)
        ]
        return self.with_samples(point, launch, totals, rank_phase, flags)

    def with_samples(
        self,
        point: dict[str, Any],
        launch: int,
        totals: list[list[float]],
        rank_phase: dict[str, list[list[float]]],
        flags: list[str] | None = None,
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
            "resolved": {"grid": [1, ranks], "input": "slabs", "output": "slabs"},
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
                "rank_total_s": totals,
                "rank_phase_s": rank_phase,
                "closure": {"worst": 0.001, "limit": 0.02, "ok": True},
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
            "credited_flops": 5 * elements * math.log2(max(2, elements)),
            "memory": {
                "local_data_bytes": [local_bytes] * ranks,
                "plan_bytes": [2 * local_bytes] * ranks,
                "workspace_bytes": [0.5 * local_bytes] * ranks,
                "ratio": 2.5,
                "peak_rss_bytes": [3e7 + 2.5 * local_bytes] * ranks,
            },
            "flags": (["in-cache"] if cached else [])
            + (flags or [])
            + (["oversubscribed", "unbound"] if ranks > 8 else []),
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
            "provenance": self.provenance(point),
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


def store(archive: Path, record: dict[str, Any]) -> Path:
    folder = archive / "records" / record["campaign"]["id"]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['point_id']}-{record['campaign']['launch']:03d}.json"
    path.write_text(canonical(record), encoding="utf-8")
    return path


METHODS = [
    ("fftw-mpi", "none"),
    ("slab", "alltoallv"),
    ("slab", "shared"),
    ("slab", "p2p"),
    ("pencil", "alltoallv"),
    ("pencil", "alltoallw"),
    ("pencil", "shared"),
]


def strong_points() -> Iterator[dict[str, Any]]:
    for shape in ((64, 64, 64), (128, 96, 100), (256, 256, 256)):
        for ranks in (1, 2, 4, 8, 16):
            for variant, exchange in METHODS:
                yield make_point(variant, exchange, shape, ranks)


def weak_points() -> Iterator[dict[str, Any]]:
    for shape, ranks in (((64, 64, 64), 1), ((128, 64, 64), 2), ((128, 128, 64), 4), ((128, 128, 128), 8)):
        for variant, exchange in METHODS[:4]:
            yield make_point(variant, exchange, shape, ranks)


def breakdown_points() -> Iterator[dict[str, Any]]:
    for extent in (16, 32, 64, 128, 192, 256):
        for variant, exchange in (("slab", "alltoallv"), ("pencil", "alltoallv"), ("pencil", "shared")):
            yield make_point(variant, exchange, (extent,) * 3, 4)


def peers_points() -> Iterator[dict[str, Any]]:
    for layout in ("transposed", "natural"):
        for shape in ((64, 64, 64), (128, 128, 128), (256, 256, 256)):
            for ranks in (1, 2):
                if ranks == 1:
                    yield make_point("serial", "none", shape, ranks, layout=layout)
                for variant, exchange in METHODS:
                    yield make_point(variant, exchange, shape, ranks, layout=layout)


def decomposition_points() -> Iterator[dict[str, Any]]:
    for exchange in ("p2p", "alltoallv"):
        for cut in (1, 2, 4, 8, 16):
            parameters = {"decomposition": f"{cut}x{cut}"}
            yield make_point("overdecomposed", exchange, (64, 64, 64), 4, parameters=parameters)


def thread_points() -> Iterator[dict[str, Any]]:
    for variant in ("node", "slab"):
        for threads in (1, 2, 4, 8):
            yield make_point(variant, "p2p", (64, 64, 64), 2, threads=threads)


def instance_points() -> Iterator[dict[str, Any]]:
    for ranks in (4, 8):
        yield make_point("pencil", "p2p", (32, 32, 32), ranks)
        for instances in (2, 4):
            for placement in ("all", "subset"):
                yield make_point("pencil", "p2p", (32, 32, 32), ranks, instances=instances, placement=placement)


def crossover_points() -> Iterator[dict[str, Any]]:
    for extent in (16, 32, 64):
        for ranks in (2, 4, 8):
            for variant in ("danielson-lanczos", "pencil"):
                yield make_point(variant, "p2p", (extent,) * 3, ranks)


def many_points(count: int) -> Iterator[dict[str, Any]]:
    """`count` distinct points: a campaign far larger than anyone plots."""
    found = 0
    for extent in range(16, 100000, 4):
        for ranks in (2, 4):
            for precision in ("double", "single"):
                for variant, exchange in METHODS:
                    if found == count:
                        return
                    found += 1
                    yield make_point(variant, exchange, (extent,) * 3, ranks, precision=precision)


def fill(archive: Path, maker: Maker, points: Iterable[dict[str, Any]], launches: int) -> int:
    """Stores `launches` records of each point, launch after launch, as a campaign runs. Returns how many."""
    points, written = list(points), 0
    for launch in range(launches):
        for point in points:
            store(archive, maker.ok(point, launch))
            written += 1
    return written


def example_archive(archive: Path) -> None:
    """Five suites with all a report shows: statuses, flags, hostile text, unreadable files, an older campaign."""
    fill(
        archive,
        Maker("strong-00000001", "strong", started=datetime(2026, 11, 1, tzinfo=timezone.utc)),
        weak_points(),
        1,
    )
    strong = Maker("strong-1a2b3c4d", "strong")
    fill(archive, strong, strong_points(), 3)
    hostile = "<script>alert(1)</script>"
    thin = (8, 8, 8)
    store(
        archive,
        strong.ended(
            make_point("slab", "alltoallv", thin, 16),
            0,
            "skipped",
            "slab uses at most 8 ranks for 8x8x8, 16 were asked for",
        ),
    )
    store(
        archive,
        strong.ended(
            make_point(f"bad{hostile}", "alltoallv", thin, 2),
            0,
            "failed",
            f"exit status 134 {hostile}",
            exit_status=134,
            stderr_tail=f"terminate called\n{hostile}\n" + "x" * 200,
        ),
    )
    store(
        archive,
        strong.ended(
            make_point("pencil", "p2p", thin, 4), 0, "timeout", "took longer than 120 s and was ended", signal=9
        ),
    )
    store(
        archive,
        strong.ended(
            make_point("pencil", "pairwise", thin, 2), 0, "wrong", "plane-waves: error 0.3 is larger than 4.4e-15"
        ),
    )
    store(
        archive,
        strong.ok(
            make_point("slab", "pairwise", (256, 256, 256), 2), 0, flags=["cold", "clock-suspect", "open-breakdown"]
        ),
    )
    folder = archive / "records" / strong.campaign
    whole = next(folder.glob("*-000.json")).read_text(encoding="utf-8")
    (folder / "0000000000000000-000.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    (folder / "0000000000000001-000.json").write_text(
        whole.replace('"schema_version":1', '"schema_version":2'), encoding="utf-8"
    )
    fill(archive, Maker("weak-22222222", "weak", seed=2), weak_points(), 3)
    fill(archive, Maker("breakdown-33333333", "breakdown", seed=3), breakdown_points(), 3)
    algorithms = Maker("algorithms-66666666", "algorithms", seed=6, timeline=True)
    for points in (decomposition_points(), thread_points(), crossover_points(), instance_points()):
        fill(archive, algorithms, points, 2)
    fill(archive, Maker("peers-44444444", "peers", seed=4, isolate=False), peers_points(), 6)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    if len(sys.argv) > 2:
        total = int(sys.argv[2])
        launches = 3
        points = list(many_points(-(-total // launches)))
        maker = Maker("many-55555555", "many", seed=5)
        for number in range(total):
            store(target, maker.ok(points[number % len(points)], number // len(points)))
    else:
        example_archive(target)
