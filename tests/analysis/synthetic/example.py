"""Whole archives: one with all that a report shows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from synthetic.common import canonical, store
from synthetic.components import component_point, component_records
from synthetic.counted import constant_points, count_unavailable, counted, line_bytes, with_energy
from synthetic.links import exchange_load, simulated
from synthetic.points import (
    PAPER_ITEMS,
    breakdown_points,
    crossover_points,
    decomposition_points,
    grid_points,
    instance_points,
    paper_points,
    peers_points,
    size_points,
    strong_node_points,
    strong_points,
    thread_points,
    weak_node_points,
    weak_points,
)
from synthetic.simulations import (
    OVERHEADS,
    latency_points,
    network_of,
    node_points,
    placement_points,
    simulated_records,
)
from synthetic.transforms import Maker, make_point

CLUSTER = tuple(f"n{number}" for number in range(1, 9))


def fill(archive: Path, maker: Maker, points: Iterable[dict[str, Any]], launches: int) -> int:
    """Stores `launches` records of each point, launch after launch, as a campaign runs. Returns how many."""
    points, written = list(points), 0
    for launch in range(launches):
        for point in points:
            store(archive, maker.ok(point, launch))
            written += 1
    return written


def example_archive(archive: Path) -> None:
    """Suites with all a report shows: statuses, flags, hostile text, unreadable files, an older campaign."""
    fill(
        archive,
        Maker("strong-00000001", "strong", started=datetime(2026, 11, 1, tzinfo=timezone.utc)),
        weak_points(),
        1,
    )
    fill(archive, Maker("sizes-7a7a7a7a", "sizes"), size_points(), 2)
    strong = Maker("strong-1a2b3c4d", "strong")
    fill(archive, strong, strong_points(), 3)
    hostile = "<script>alert(1)</script>"
    thin = (8, 8, 8)
    for point, status, reason, more in (
        (("slab", "alltoallv", thin, 16), "skipped", "slab uses at most 8 ranks for 8x8x8, 16 were asked for", {}),
        (
            (f"bad{hostile}", "alltoallv", thin, 2),
            "failed",
            f"exit status 134 {hostile}",
            {"exit_status": 134, "stderr_tail": f"terminate called\n{hostile}\n" + "x" * 200},
        ),
        (("pencil", "p2p", thin, 4), "timeout", "took longer than 120 s and was ended", {"signal": 9}),
        (("pencil", "pairwise", thin, 2), "wrong", "plane-waves: error 0.3 is larger than 4.4e-15", {}),
    ):
        store(archive, strong.ended(make_point(*point), 0, status, reason, **more))
    flags = ["cold", "clock-suspect", "open-breakdown"]
    store(archive, strong.ok(make_point("slab", "pairwise", (256, 256, 256), 2), 0, flags=flags))
    folder = archive / "records" / strong.campaign
    whole = next(folder.glob("*-000.json")).read_text(encoding="utf-8")
    (folder / "0000000000000000-000.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    (folder / "0000000000000001-000.json").write_text(
        whole.replace('"schema_version":3', '"schema_version":4'), encoding="utf-8"
    )
    fill(archive, Maker("weak-22222222", "weak", seed=2), weak_points(), 3)
    fill(archive, Maker("breakdown-33333333", "breakdown", seed=3), breakdown_points(), 3)
    algorithms = Maker("algorithms-66666666", "algorithms", seed=6, timeline=True)
    for points in (decomposition_points(), thread_points(), crossover_points(), instance_points()):
        fill(archive, algorithms, points, 2)
    fill(archive, Maker("nodes-aaaaaaaa", "nodes", seed=10, hosts=CLUSTER), strong_node_points(), 3)
    fill(archive, Maker("weak-nodes-bbbbbbbb", "weak-nodes", seed=11, hosts=CLUSTER), weak_node_points(), 3)
    slow = Maker("grids-cccccccc", "grids", seed=12, hosts=CLUSTER, slow={"n3": 1.3})
    fill(archive, slow, grid_points(), 3)
    fill(archive, Maker("peers-44444444", "peers", seed=4, isolate=False), peers_points(), 6)
    papers = Maker("papers-55555555", "papers", seed=5)
    fill(archive, papers, paper_points(), 2)
    say_paper(archive, papers.campaign, PAPER_ITEMS)
    offload_campaign(archive)
    device_campaign(archive)
    counted_campaigns(archive)
    energies = Maker("energy-66666666", "energy", isolate=False)
    for ranks, joules in ((2, 0.02), (4, 0.05)):
        store(archive, with_energy(energies.ok(make_point("slab", "p2p", (64, 64, 64), ranks), 0), joules, 0.004))
    wire_campaign(archive)
    simulated_campaign(archive)
    simulated_papers(archive)


def wire_campaign(archive: Path) -> None:
    """The same transform with whole messages, and with smaller ones: faster, and less exact."""
    maker = Maker("wires-9a9a9a9a", "wires", isolate=False)
    for named, scale, error in (({}, 1.0, 2e-16), ({"wire": "single"}, 0.7, 6e-8)):
        record = maker.ok(make_point("pencil", "alltoallv", (64, 64, 64), 4, **named), 0, scale)
        record["verification"]["checks"][0] |= {"error": error, "tolerance": 4e-7}
        store(archive, record)


def say_paper(archive: Path, campaign: str, items: Iterable[str]) -> None:
    """campaign.json as far as it says what of the papers the suite measures."""
    folder = archive / "campaigns" / campaign
    folder.mkdir(parents=True)
    (folder / "campaign.json").write_text(canonical({"size": "here", "paper": list(items)}), encoding="utf-8")


def offload_campaign(archive: Path) -> None:
    """Pencils on a stand-in for a device, and the same without."""
    offload = Maker("offload-eeeeeeee", "offload", seed=14)
    for parameters in ({}, {"offload": "pencil", "host-memory": "pageable"}, {"offload": "pencil"}):
        point = make_point("node", "none", (64, 64, 64), 2, parameters=parameters)
        phases = {"fft": 0.002, "exchange": 0.004} | ({"h2d": 0.003, "d2h": 0.002} if parameters else {})
        record = offload.timed(point, 0, phases)
        if parameters:
            record["flags"] = ["emulated"]
            share = 64**3 * 16 * 3 / 2
            work = {"h2d_copies": 3, "h2d_bytes": share, "ffts": 3, "d2h_copies": 3, "d2h_bytes": share}
            record["cost"]["device"] = {f"{name}_per_rank": [value] * 2 for name, value in work.items()}
        store(archive, record)
    say_paper(archive, offload.campaign, ["lee2018/table-4.1", "lee2018/table-4.2"])


def device_campaign(archive: Path) -> None:
    """Pencils on the devices of one and of two nodes, and on their processors."""
    device = Maker("device-dede1111", "device", seed=18)
    work = {"h2d_copies": 3, "h2d_bytes": 1e6, "ffts": 3, "d2h_copies": 3, "d2h_bytes": 1e6}
    for variant, ranks_a_node, seconds in (("pencil-gpu", 1, 0.010), ("pencil", 4, 0.012)):
        for nodes in (1, 2):
            ranks = nodes * ranks_a_node
            point = make_point(variant, shape=(64, 64, 64), ranks=ranks, nodes=nodes)
            for launch in range(2):
                record = device.timed(point, launch, seconds / nodes * (1 + 0.01 * launch))
                if variant == "pencil-gpu":
                    record["cost"]["device"] = {f"{name}_per_rank": [value] * ranks for name, value in work.items()}
                store(archive, record)


def counted_campaigns(archive: Path) -> None:
    """Memory traffic of points of which `strong` has the time, A against n, and components alone."""
    traffic = Maker("traffic-77777777", "traffic", seed=7)
    for point in strong_points():
        if point["ranks"] == 2 and point["shape"] != [128, 96, 100]:
            store(archive, counted(traffic.ok(point, 0)))
    store(archive, count_unavailable(traffic.ok(make_point("slab", "pairwise"), 0), "perf_event_paranoid is 4"))
    constant = Maker("fft-constant-99999999", "fft-constant", seed=9, isolate=False)
    for number, point in enumerate(constant_points()):
        store(archive, counted(constant.ok(point, 0), phase_bytes=line_bytes(point, 4.2 + 0.02 * number)))
    components = Maker("components-88888888", "components", seed=8)
    for record in component_records(components):
        store(archive, record)
    failed = components.ended(component_point("memory_bench", 8), 0, "failed", "exit status 3", exit_status=3)
    store(archive, failed)


def simulated_campaign(archive: Path) -> None:
    """Two host orders on a torus, one of which keeps a link busy."""
    maker = Maker("simulated-ffffffff", "simulated", seed=15, isolate=False)
    rows, columns = [("+0", 0.4, 0.7), ("-0", 0.3, 0.7), ("+1", 0, 0)], [("+0", 0, 0), ("-0", 0, 0), ("+1", 0.5, 0.97)]
    store(archive, simulated(maker, [exchange_load(rows), exchange_load(rows)], platform="ncube"))
    busy = exchange_load(columns, 2e-4, "0,1,0 +1")
    store(archive, simulated(maker, [exchange_load(rows), busy], platform="ncube", host_order="random"))


def simulated_papers(archive: Path) -> None:
    """What the papers' simulated suites measure, a platform in each campaign, of a short name: a table must fit a
    desk."""
    tori = [point | {"platform": "torus"} for point in placement_points() if point["platform"] == "hopper-gemini"]
    for number, (item, points) in enumerate(
        (
            ("haynes2000/section-5", latency_points()),
            ("czechowski2012/figure-6", tori),
            ("lee2018/table-3.1", node_points()),
        )
    ):
        name = f"{item.partition('/')[0]}-simulated"
        maker = Maker(f"{name}-abababab", name, seed=16 + number, isolate=False)
        for record in simulated_records(maker, points, lambda point: 2e-3 / point["ranks"], network_of, OVERHEADS):
            store(archive, record)
        say_paper(archive, maker.campaign, [item])
