"""`fourscore predict` and `advise`: the question reaches the analysis as it was asked, with or without an archive."""


import pytest

ASKED = ["--variant", "pencil", "--shape", "4096x4096x4096"]


def test_a_published_machine_is_asked_without_an_archive(fourscore):
    words = [*ASKED, "--machine", "czechowski2012-gpu-2010", "--ranks", "4096", "--nodes", "4096", "--grid", "64x64"]
    more = ["--precision", "single", "--layout", "natural", "--form", "network=full", "--form", "compute=sum"]
    [found] = fourscore.json("predict", *words, *more, "--given", "memory_constant=7")
    assert (found["shape"], found["ranks"], found["nodes"], found["grid"]) == ([4096] * 3, 4096, 4096, [64, 64])
    assert (found["contract"]["precision"], found["contract"]["layout"]) == ("single", "natural")
    forms = found["prediction"]["forms"]
    assert found["prediction"]["extrapolated"] == []
    assert (forms["network"], forms["compute"]) == ("full", "sum")
    seconds = {term["name"]: term["seconds"] for term in found["prediction"]["terms"]}
    assert seconds["T_mem"] == pytest.approx(3 * 4096**2 * 7 * 8 / 144e9)


def test_machines_are_listed_and_a_projection_is_drawn_where_it_was_asked_for(fourscore):
    assert "frontier" in fourscore("predict", "--list-machines").stdout
    drawn = fourscore.folder / "projected.png"
    words = [*ASKED, "--project", "czechowski2012", "--years", "2010:2012", "--beside", "frontier", "-o", drawn]
    assert "projected for 2012" in fourscore("predict", *words).stdout
    assert drawn.read_bytes().startswith(b"\x89PNG")


def test_what_was_measured_too_little_is_not_predicted_and_ends_with_1(measured):
    out = measured("predict", "--variant", "good", "--shape", "9x4x4", "--ranks", 1, code=1).stdout
    assert "not predicted: " in out
    found = measured.json("advise", "--shape", "9x4x4", "--ranks", "1:4", code=1)
    assert [group["ranks"] for group in found["groups"]] == [1, 2, 4]


def test_more_nodes_than_the_machine_has_are_marked(fourscore):
    words = [*ASKED, "--machine", "czechowski2012-gpu-2010", "--ranks", "8192"]
    assert "has 7770 nodes, fewer than this takes" in fourscore("predict", *words).stdout
