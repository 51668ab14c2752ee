"""`fourscore run --only ... --launches N`: part of a campaign now, the rest later."""


import pytest


def shapes(fourscore):
    return sorted("x".join(map(str, record["point"]["shape"])) for record in fourscore.records().values())


def test_only_the_points_with_these_values_are_launched_and_the_rest_later(fourscore):
    suite = fourscore.points(points=3, launches=2)
    said = fourscore("run", suite, "--only", "variant=good,shape=2x4x4")
    assert shapes(fourscore) == ["2x4x4", "2x4x4"]
    assert "4 launches of the campaign were not selected and are missing" in said.stderr
    assert "the same command goes on" not in said.stderr
    fourscore("run", suite, "--only", "shape=1x4x4,shape=2x4x4")
    assert shapes(fourscore) == ["1x4x4"] * 2 + ["2x4x4"] * 2
    assert fourscore.json("run", suite)["missing"] == 0
    assert len(fourscore.finished()) == 6 and len(list(fourscore.archive.glob("campaigns/*"))) == 1
    assert "all as they should be" in fourscore("verify").stdout


def test_each_point_is_launched_at_most_so_often_in_all(fourscore):
    suite = fourscore.points(points=2, launches=5)
    fourscore("run", suite, "--launches", 2)
    assert shapes(fourscore) == ["1x4x4"] * 2 + ["2x4x4"] * 2
    fourscore("run", suite, "--launches", 2)
    assert len(fourscore.finished()) == 4
    fourscore("run", suite, "--launches", 3, "--only", "shape=1x4x4")
    assert shapes(fourscore) == ["1x4x4"] * 3 + ["2x4x4"] * 2


def test_an_interrupted_selection_says_what_it_still_lacks(fourscore):
    said = fourscore("run", fourscore.points(points=3, launches=2), "--launches", 1, "--max-launches", 2)
    assert "1 launches are missing; the same command goes on" in said.stderr
    assert "3 launches of the campaign were not selected" in said.stderr


def test_a_dry_run_lists_what_was_selected(fourscore):
    suite = fourscore.points(points=3, launches=2)
    listed = fourscore.plan(suite, "--only", "shape=3x4x4")["launches"]
    assert [launch["point"]["shape"] for launch in listed] == [[3, 4, 4]] * 2
    assert {launch["launch"] for launch in listed} == {0, 1}


def test_parameters_are_keys_too(fourscore):
    suite = fourscore.suite(
        'name = "s"\nlaunches = 1\nrepetitions = 3\n[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nranks = 1\n'
        'parameters = { pieces = ["1", "2"] }\n'
    )
    fourscore("run", suite, "--only", "parameters.pieces=2")
    assert [record["point"]["parameters"] for record in fourscore.records().values()] == [{"pieces": "2"}]


def test_points_are_selected_by_the_tags_of_all_their_sweeps(fourscore):
    sweep = '[[sweep]]\ntags = "{}"\nvariant = "good"\nshape = {}\nranks = 1\n'
    suite = fourscore.suite(
        'name = "s"\nlaunches = 1\nrepetitions = 3\n' + sweep.format("small", '["4x4x4", "5x5x5"]')
        + sweep.format("odd", '["5x5x5", "7x7x7"]')
    )  # fmt: skip

    def selected(*only):
        return shapes_of(fourscore.plan(suite, "--only", ",".join(only)))

    def shapes_of(said):
        return sorted(launch["point"]["shape"][0] for launch in said["launches"])

    assert selected("tag=small") == [4, 5]
    assert selected("tag=odd") == [5, 7]
    assert selected("tag=odd", "tag=small") == [4, 5, 7]
    assert selected("tag=odd", "shape=7x7x7") == [7]
    said = fourscore("run", suite, "--only", "tag=od", code=2).stderr
    assert "--only takes no point of s, whose points have: tag odd, small" in said
    listed = fourscore("run", fourscore.points(points=1), "--only", "tag=odd", code=2).stderr
    assert "whose points have: no tags" in listed


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ("variant", "expected KEY=VALUE"),
        ("=pencil", "expected KEY=VALUE"),
        ("varient=good", "'varient' is not a key"),
        ("ranks=two", "expected an integer"),
        ("precision=singel", "did you mean 'single'?"),
        ("variant=better", "--only takes no point of s, whose points have: variant good"),
    ],
)
def test_what_cannot_be_selected_is_named(fourscore, only, words):
    assert words in fourscore("run", fourscore.points(), "--only", only, code=2).stderr
    assert not fourscore.archive.exists()
