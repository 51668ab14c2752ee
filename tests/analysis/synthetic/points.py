"""The points of made-up campaigns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synthetic.transforms import make_point

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


def size_points() -> Iterator[dict[str, Any]]:
    """Enough sizes and counts of ranks for a model."""
    for extent in (16, 32, 64, 96, 128):
        for ranks in (1, 2):
            yield make_point("pencil", "alltoallv", (extent,) * 3, ranks)


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
            for variant in ("danielson-lanczos", "rods"):
                yield make_point(variant, "p2p", (extent,) * 3, ranks)


NODE_METHODS = (("slab", "alltoallv"), ("pencil", "alltoallv"), ("pencil", "p2p"), ("fftw-mpi", "none"))


def strong_node_points() -> Iterator[dict[str, Any]]:
    """Ranks grow on one node, then nodes are added; and 8 ranks on more nodes, one of them in another order."""
    for variant, exchange in NODE_METHODS:
        for ranks in (1, 2, 4):
            yield make_point(variant, exchange, (128, 128, 128), ranks)
        for nodes in (1, 2, 4, 8):
            yield make_point(variant, exchange, (128, 128, 128), 8 * nodes, nodes=nodes)
        for nodes in (2, 4):
            yield make_point(variant, exchange, (128, 128, 128), 8, nodes=nodes)
        yield make_point(variant, exchange, (128, 128, 128), 8, nodes=4, placement_of_ranks="cyclic")


def weak_node_points() -> Iterator[dict[str, Any]]:
    for nodes in (1, 2, 4, 8):
        for variant, exchange in NODE_METHODS:
            yield make_point(variant, exchange, (64 * nodes, 64, 64), 4 * nodes, nodes=nodes)


def grid_points() -> Iterator[dict[str, Any]]:
    """Every grid of 16 ranks with every exchange, on one node and on four."""
    for nodes in (2, 4):
        for grid in ([1, 16], [2, 8], [4, 4], [8, 2], [16, 1]):
            for exchange in ("alltoallv", "alltoallw", "p2p", "shared"):
                yield make_point("pencil", exchange, (64, 64, 64), 16, nodes=nodes, grid=grid)


PAPER_ITEMS = (
    "czechowski2012/figure-4",
    "eleftheriou2005/table-1",
    "gupta1993/figure-2",
    "haynes2000/section-5",
    "lee2018/figure-3.3",
)


def paper_points() -> Iterator[dict[str, Any]]:
    """Few points of each of PAPER_ITEMS."""
    yield make_point("pencil", ranks=4)
    for ranks in (1, 2):
        yield make_point("volumetric", "alltoallv", (32, 32, 32), ranks, layout="natural")
        for variant, exchange in (("binary-exchange", "none"), ("transpose", "alltoallv")):
            yield make_point(variant, exchange, (65536,), ranks, precision="single")
        yield make_point("overdecomposed", "none", (64, 64, 64), ranks, direction="backward")
        yield make_point("node", "none", (64, 64, 64), 1, threads=ranks, direction="backward")
    for ranks in (2, 4):
        for variant in ("danielson-lanczos", "rods"):
            yield make_point(variant, "p2p", (16, 16, 16), ranks)


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
