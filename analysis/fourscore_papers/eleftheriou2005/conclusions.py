"""The tests of what eleftheriou2005 concludes; claims.toml has the sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from fourscore_analysis.papers.claims import EQUATIONS, MEASURED, PRINTED, SIMULATED, Finding, Tests
from fourscore_analysis.papers.here import Here, comparable, what_text
from fourscore_analysis.points.points import Point, fastest, group_by
from fourscore_analysis.points.units import digits, ratio_text, shape_text, time_text
from fourscore_analysis.records.published import published

from fourscore_papers.eleftheriou2005 import equations
from fourscore_papers.eleftheriou2005.numbers import CYCLES_FOUND, EXTENT, NAME, figure_3_here, setup

TESTS = Tests()
TORUS, MESH = "bluegene-l", "bluegene-l-mesh"  # platforms
LAYERS = {"active packets": "active", "MPI collectives": "alltoallv"}  # and their exchanges
SLABS = {MEASURED: "fftw-mpi", SIMULATED: "slab"}  # FFTW itself does not run in the simulation
EXTENTS = (32, 64, 128)
MOST_NODES, SPEEDUP = 1024, 250
COMPARABLE = 1.5  # times as long at most
FEW_NODES = 64  # at most
MARGIN = 1.1  # a significant one: times as fast at least


def by_nodes(
    here: Here, evidence: str, variant: str, extent: int, exchange: str = "", on: str = MESH
) -> dict[int, Point]:
    """The fastest point on each number of nodes, a rank on each, of one contract; of one exchange, or of any. On a real
    machine in the natural layout, in which the paper's method ends."""
    shape = (extent,) * 3
    if evidence == SIMULATED:
        found = here.simulated(on, variant, shape, exchange)
    else:
        real = here.transforms(variant, shape, layout="natural")
        found = comparable([one for one in real if exchange in ("", one.method.exchange)], lambda one: one.cell.ranks)
    return {one.cell.ranks: one for one in found if one.cell.ranks == one.cell.place.nodes}


def rises(values: Sequence[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def alike(ratios: Iterable[float]) -> bool:
    """Whether none takes longer than COMPARABLE times the other."""
    return all(max(ratio, 1 / ratio) <= COMPARABLE for ratio in ratios)


def ratios_text(ratios: Mapping[int, float]) -> str:
    """1.62, 1.57"""
    return ", ".join(ratio_text(ratio) for ratio in ratios.values())


def cubes_text(extents: Mapping[int, object]) -> str:
    """32³, 64³"""
    return ", ".join(shape_text((extent,) * 3) for extent in extents)


@TESTS.of("scales-to-1024-nodes")
def scales(here: Here) -> Iterator[Finding]:
    for evidence in (MEASURED, SIMULATED):
        speedups = {}
        for layer, exchange in LAYERS.items():
            points = by_nodes(here, evidence, "volumetric", EXTENT, exchange)
            if {1, MOST_NODES} <= set(points):
                speedups[layer] = points[1].time_s / points[MOST_NODES].time_s
        if speedups:
            said = ", ".join(f"{digits(value)} times as fast with {layer}" for layer, value in speedups.items())
            holds = all(value > SPEEDUP for value in speedups.values())
            yield Finding(evidence, holds, f"{MOST_NODES:,} nodes are {said} as one node")


@TESTS.of("three-redistributions-for-six")
def three_for_six(here: Here) -> Iterator[Finding]:
    """Each pair of points differs in nothing else."""
    found = [one for one in here.transforms("volumetric", layout="natural") if one.cell.ranks > 1]
    ratios = []
    for group in group_by(found, lambda one: (one.cell, one.method.exchange, one.measured[0].machine_hash)):
        combined, separate = (
            fastest([one for one in group if (one.method.option("redistributions") == "separate") == apart])
            for apart in (False, True)
        )
        if combined and separate:
            ratios.append((separate.time_s / combined.time_s, combined))
    if ratios:
        ratio, point = max(ratios, key=lambda one: (one[1].cell.elements, one[1].cell.ranks))
        said = f"kept apart they take {ratio_text(ratio)} times as long ({what_text(point)})"
        yield Finding(MEASURED, ratio > MARGIN, said)


@TESTS.of("slabs-stop-at-the-extent")
def slabs_stop(here: Here) -> Iterator[Finding]:
    slabs, volumes = equations.most_nodes_of_slabs(EXTENT), equations.most_nodes_of_volumes(EXTENT)
    said = f"{EXTENT}³ has {slabs} slabs and {volumes:,} lines, and a node takes one at least"
    yield Finding(EQUATIONS, slabs < MOST_NODES <= volumes, said)
    slab, volume = (by_nodes(here, MEASURED, name, EXTENT) for name in (SLABS[MEASURED], "volumetric"))
    beyond = [nodes for nodes in sorted(set(slab) & set(volume)) if nodes > EXTENT]
    if EXTENT in slab and EXTENT in volume and beyond:
        of_slabs, of_volumes = (one[EXTENT].time_s / one[beyond[-1]].time_s for one in (slab, volume))
        said = (
            f"{beyond[-1]:,} nodes in place of {EXTENT} make {SLABS[MEASURED]} {ratio_text(of_slabs)} times as fast, "
            f"volumetric {ratio_text(of_volumes)} times"
        )
        yield Finding(MEASURED, of_slabs < MARGIN < of_volumes, said)


@TESTS.of("volumetric-beats-slabs-on-many-nodes")
def beats_slabs(here: Here) -> Iterator[Finding]:
    for evidence, slabs in SLABS.items():
        slab, volume = (by_nodes(here, evidence, name, EXTENT, on=TORUS) for name in (slabs, "volumetric"))
        if slab and max(volume, default=0) > EXTENT:
            most = max(volume)
            best = min(slab.values(), key=lambda point: point.time_s)
            ratio = best.time_s / volume[most].time_s
            said = (
                f"volumetric takes {time_text(volume[most].time_s)} on {most:,} nodes, "
                f"{slabs} {time_text(best.time_s)} at best, on {best.cell.ranks:,}: {ratio_text(ratio)} times as long"
            )
            yield Finding(evidence, ratio > MARGIN, said)


@TESTS.of("comparable-with-slabs-to-128-nodes")
def comparable_with_slabs(here: Here) -> Iterator[Finding]:
    for evidence, slabs in SLABS.items():
        slab, volume = (by_nodes(here, evidence, name, EXTENT, on=TORUS) for name in (slabs, "volumetric"))
        ratios = {n: volume[n].time_s / slab[n].time_s for n in sorted(set(slab) & set(volume)) if 1 < n <= EXTENT}
        if ratios:
            said = f"volumetric takes {ratios_text(ratios)} times as long as {slabs} on {_nodes_text(ratios)} nodes"
            yield Finding(evidence, alike(ratios.values()), said)


def _nodes_text(nodes: Mapping[int, object]) -> str:
    return ", ".join(f"{count:,}" for count in nodes)


@TESTS.of("near-fftw-on-one-processor")
def near_fftw(here: Here) -> Iterator[Finding]:
    for one in figure_3_here(here):
        said = f"fftw-mpi is {one.value:.0f} % faster on one rank, {one.launches} launches ({one.what})"
        yield Finding(MEASURED, one.value <= 50, said)


@TESTS.of("communication-bound-on-few-nodes")
def communication_bound(here: Here) -> Iterator[Finding]:
    _, clock_hz = setup()
    for cycles, source in ((equations.CYCLES, "the text"), (CYCLES_FOUND, "Table 1")):
        ratios = {
            nodes: equations.bandwidth_time_s(EXTENT, nodes, clock_hz)
            / equations.computation_time_s(EXTENT, nodes, clock_hz, cycles)
            for nodes in (8, 64, 512)
        }
        said = (
            f"with the {cycles:g} N log2 N cycles of {source} the exchanges of 128³ take {ratios_text(ratios)} times "
            f"as long as the transforms on {_nodes_text(ratios)} nodes of a torus"
        )
        yield Finding(EQUATIONS, ratios[8] > 1, said)
    points = by_nodes(here, SIMULATED, "volumetric", EXTENT, on=TORUS)
    few = min((nodes for nodes in points if 1 < nodes <= FEW_NODES), default=None)
    if few and (share := points[few].exchange_share) is not None:
        yield Finding(SIMULATED, share > 0.5, f"{100 * share:.0f} % of the time of 128³ is exchange on {few} nodes")


@TESTS.of("all-to-all-alike-in-any-dimension")
def all_to_all_alike(_: Here) -> Iterator[Finding]:
    dimensions = (equations.LINE, equations.PLANE, equations.VOLUME)
    links_a_hop = [equations.links(one) / equations.average_hops(one, 1) for one in dimensions]
    said = f"hops over links are {', '.join(f'p/{value:g}' for value in links_a_hop)} in a line, a plane and a volume"
    yield Finding(EQUATIONS, len(set(links_a_hop)) == 1, said)


def packets_over_collectives(here: Here, evidence: str, extent: int) -> dict[int, float]:
    """Time of MPI collectives over that of active packets, by nodes of a mesh."""
    packets, collectives = (by_nodes(here, evidence, "volumetric", extent, exchange) for exchange in LAYERS.values())
    return {n: collectives[n].time_s / packets[n].time_s for n in sorted(set(packets) & set(collectives)) if n > 1}


@TESTS.of("layers-comparable-to-256-nodes")
def layers_comparable(here: Here) -> Iterator[Finding]:
    found = {}
    for extent in EXTENTS:
        ratios = packets_over_collectives(here, SIMULATED, extent)
        found |= {(extent, nodes): ratio for nodes, ratio in ratios.items() if nodes <= 256}
    if found:
        least, most = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        said = (
            f"MPI collectives take from {ratio_text(found[least])} times as long as active packets ({least[0]}³ on "
            f"{least[1]} nodes) to {ratio_text(found[most])} times ({most[0]}³ on {most[1]})"
        )
        yield Finding(SIMULATED, alike(found.values()), said)


@TESTS.of("packets-win-at-the-limit")
def packets_win(here: Here) -> Iterator[Finding]:
    extent = EXTENTS[0]
    for evidence in (MEASURED, SIMULATED):
        ratios = packets_over_collectives(here, evidence, extent)
        if most := max((nodes for nodes in ratios if nodes >= 512), default=None):
            times = f"{ratio_text(ratios[most])} times as long as active packets"
            said = f"MPI collectives take {times} at {extent}³ on {most:,} nodes"
            yield Finding(evidence, ratios[most] > MARGIN, said)


@TESTS.of("mesh-over-torus-rises")
def mesh_over_torus(here: Here) -> Iterator[Finding]:
    for layer, exchange in LAYERS.items():
        nodes, ratios = _mesh_over_torus(here, exchange)
        if len(ratios) > 1:
            said = f"T_mesh / T_torus is {ratios_text(ratios)} with {layer} at {cubes_text(ratios)} on {nodes} nodes"
            printed = {row["shape"][0]: row["mesh_over_torus"] for row in _printed_of(layer)}
            said += f", in print {ratios_text(printed)} at {cubes_text(printed)} on {setup()[0]:g}"
            yield Finding(SIMULATED, rises(list(ratios.values())), said)


def _printed_of(layer: str) -> list[dict[str, Any]]:
    """Rows of Table 1."""
    return [row for row in published(NAME, "table-1").rows if layer.startswith(row["layer"])]


def _mesh_over_torus(here: Here, exchange: str) -> tuple[int, dict[int, float]]:
    """By the extent, on the most nodes that have several of them; (0, {}) without."""
    by_count: dict[int, dict[int, float]] = {}
    for extent in EXTENTS:
        mesh, torus = (by_nodes(here, SIMULATED, "volumetric", extent, exchange, on) for on in (MESH, TORUS))
        for nodes in set(mesh) & set(torus) - {1}:
            by_count.setdefault(nodes, {})[extent] = mesh[nodes].time_s / torus[nodes].time_s
    nodes = max((count for count, ratios in by_count.items() if len(ratios) > 1), default=0)
    return nodes, by_count.get(nodes, {})


@TESTS.of("small-messages-miss-the-bound")
def small_messages(here: Here) -> Iterator[Finding]:
    nodes, clock_hz = setup()
    bounds = {extent: 2 * equations.bandwidth_time_s(extent, nodes, clock_hz) for extent in EXTENTS}
    printed, simulated = {row["shape"][0]: row["mesh_s"] for row in _printed_of("active packets")}, {}
    for extent in EXTENTS:
        points = by_nodes(here, SIMULATED, "volumetric", extent, LAYERS["active packets"])
        if nodes in points:
            simulated[extent] = points[int(nodes)].time_s
    for evidence, found in ((PRINTED, printed), (SIMULATED, simulated)):
        if len(found) > 1:
            over = {extent: time_s / bounds[extent] for extent, time_s in found.items()}
            times = f"{ratios_text(over)} times the bound at {cubes_text(over)}"
            said = f"active packets take {times} on a mesh of {nodes:g} nodes"
            yield Finding(evidence, rises([-one for one in over.values()]), said)
