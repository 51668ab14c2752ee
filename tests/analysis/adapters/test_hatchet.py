"""Launches as trees that Hatchet and Thicket read."""

from __future__ import annotations

import math
import pathlib

import pytest
from fourscore_analysis.adapters.hatchet import ROOT, graph_frames, literals, thicket
from fourscore_analysis.records.archive import InputError

ARCHIVE = pathlib.Path(__file__).parents[3] / "docs" / "example" / "archive"


def test_each_launch_is_a_tree_whose_phases_add_up_to_its_time():
    found = list(literals(ARCHIVE))
    assert len(found) == 30
    for [tree], known in found:
        assert tree["frame"]["name"] == ROOT
        names = [child["frame"]["name"] for child in tree["children"]]
        assert ("fft" in names) == (known["variant"] != "fftw-mpi")  # which is timed as a whole
        assert len(set(names)) == len(names)
        inside_s = math.fsum(child["metrics"]["time"] for child in tree["children"]) + tree["metrics"]["time"]
        assert inside_s == pytest.approx(tree["metrics"]["time (inc)"], rel=0.25)  # medians of each
        assert known["ranks"] >= 1
        assert known["variant"]
    assert len({(known["point_id"], known["launch"]) for _, known in found}) == 30


def test_an_unknown_campaign_is_named():
    with pytest.raises(InputError, match="nowhere"):
        list(literals(ARCHIVE, ["nowhere"]))


def test_thicket_takes_them():
    pytest.importorskip("thicket", reason="Thicket is not installed")
    assert len(graph_frames(ARCHIVE)) == 30
    found = thicket(ARCHIVE)
    assert len(found.metadata) == 30
    assert len(found.groupby("variant")) > 1
