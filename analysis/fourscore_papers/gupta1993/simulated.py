"""1-D transforms of an archive on simulated networks, as families of sizes and ranks."""

from __future__ import annotations

from fourscore_analysis.isoefficiency.points import Family, families
from fourscore_analysis.papers.here import Here

PLATFORMS = {"hypercube": "ncube", "mesh": "ncube-mesh"}  # the paper's machine, and its nodes as a mesh
CUT_THROUGH = "ncube-cut-through"  # its nodes with the other routing
XOR = ("schedule", "xor")  # the order of partners in section 5, of the exchange pairwise


def families_on(here: Here, platform: str, variant: str, layout: str = "transposed") -> list[Family]:
    """The family of a variant on a platform with most points, a rank a node, unordered as in the paper; of several
    the one with the paper's schedule of an all-to-all. Empty where no size could be read off."""
    points = [
        point
        for point in here.points
        if (point.cell.contract.platform, point.method.variant) == (platform, variant)
        and len(point.cell.shape) == 1
        and point.cell.contract.layout == layout
        and point.cell.place.ranks_per_node == 1
        and set(point.method.options) <= {XOR}
    ]
    found = [family for family in families(points)[0] if family.has_curve]
    return sorted(found, key=lambda family: (len(family.measured), XOR in family.first.method.options))[-1:]
