"""What is set beside a paper's numbers: of one contract, machine and build, and never a lucky launch."""

from fourscore_analysis.papers.here import Here, comparable
from fourscore_analysis.points.points import fastest
from fourscore_papers.eleftheriou2005.numbers import figure_3_here, figure_4_here, table_1_here
from fourscore_papers.haynes2000.numbers import crossings_here
from synthetic import Maker, campaign_of, make_point

CUBE = (128, 128, 128)


def here_of(*counted: tuple[dict, int]) -> Here:
    """Points, each with its number of launches."""
    maker = Maker("a-11111111", "a")
    records = [
        maker.ok(point, launch, flags=["simulated"] if "platform" in point else None)
        for point, launches in counted
        for launch in range(launches)
    ]
    return Here(None, [campaign_of(records)])


def test_a_series_joins_one_contract_alone():
    points = [(make_point("volumetric", shape=CUBE, ranks=ranks, layout="natural"), 1) for ranks in (1, 2)]
    points += [(make_point("volumetric", shape=CUBE, ranks=ranks, layout="transposed"), 1) for ranks in (1, 2, 4)]
    series = comparable(here_of(*points).transforms("volumetric"), lambda point: point.cell.ranks)
    assert [(point.cell.ranks, point.cell.contract.layout) for point in series] == [
        (ranks, "transposed") for ranks in (1, 2, 4)
    ]
    series = comparable(here_of(*points[:4]).transforms("volumetric"), lambda point: point.cell.ranks)
    assert {point.cell.contract.layout for point in series} == {"natural"}


def test_a_method_with_fewer_launches_than_others_is_not_the_fastest():
    here = here_of((make_point("pencil", "shared"), 1), (make_point("pencil", "alltoallv"), 3))
    assert fastest(here.transforms("pencil")).method.exchange == "alltoallv"
    assert fastest([]) is None


def test_other_precisions_kinds_and_directions_are_not_the_papers():
    others = [{"precision": "single"}, {"kind": "r2c"}, {"direction": "backward"}, {"instances": 2}]
    others += [{"wire": "single"}, {"fields": 3}]
    assert here_of(*((make_point(**other), 1) for other in others)).transforms("slab") == []


def test_times_of_a_simulated_machine_are_apart_from_those_of_real_ones():
    def volumetric(ranks: int, **place: str | int) -> tuple[dict, int]:
        return make_point("volumetric", shape=CUBE, ranks=ranks, nodes=ranks, **place), 1

    torus = {"platform": "bluegene-l"}
    here = here_of(
        volumetric(2),
        *(volumetric(ranks, **torus) for ranks in (8, 2, 4)),
        volumetric(16, **torus, host_order="random"),
        volumetric(4, platform="bluegene-l-mesh"),
        volumetric(32, **torus, fields=3, field_order="together"),
    )
    [real] = here.transforms("volumetric")
    assert (real.cell.ranks, real.cell.contract.platform) == (2, "none")
    found = here.simulated("bluegene-l", "volumetric", CUBE)
    assert [point.cell.ranks for point in found] == [2, 4, 8]
    assert here.simulated("ncube", "volumetric", CUBE) == []


def test_fftw_is_compared_in_one_layout_on_one_rank():
    points = [(make_point(name, shape=CUBE, ranks=1, layout="natural"), 2) for name in ("volumetric", "fftw-mpi")]
    here = here_of(*points)
    [found] = figure_3_here(here)
    ours, theirs = (here.transforms(name)[0].time_s for name in ("volumetric", "fftw-mpi"))
    assert found.value == 100 * (ours / theirs - 1)
    assert found.launches == 2
    assert list(figure_3_here(here_of(points[0]))) == []


def test_a_speedup_needs_one_rank_and_more():
    one, four = ((make_point("volumetric", shape=CUBE, ranks=ranks), 1) for ranks in (1, 4))
    here = here_of(one, four)
    [found] = figure_4_here(here)
    times = {point.cell.ranks: point.time_s for point in here.transforms("volumetric")}
    assert (found.row, found.value) == (1, times[1] / times[4])
    assert list(figure_4_here(here_of(four))) == []


def test_both_methods_of_haynes2000_meet_on_the_same_cube_and_ranks_alone():
    points = [make_point(name, shape=(16, 16, 16), ranks=4) for name in ("danielson-lanczos", "rods")]
    points += [make_point("rods", shape=(32, 32, 32), ranks=4), make_point("danielson-lanczos", ranks=8)]
    here = here_of(*((point, 1) for point in points))
    [found] = crossings_here(here)
    new, traditional = (here.transforms(name, (16, 16, 16))[0].time_s for name in ("danielson-lanczos", "rods"))
    assert (found.extent, found.ranks, found.ratio) == (16, 4, new / traditional)


def test_points_on_the_papers_nodes_come_first_and_others_say_where_the_papers_were():
    """Table 1 of eleftheriou2005 is of 512 nodes with one rank each."""
    packed = make_point("volumetric", "alltoallv", CUBE, 512, nodes=8)
    [alone] = table_1_here(here_of((packed, 1)))
    assert "512 ranks on 8 nodes (there on 512 nodes)" in alone.what
    spread = make_point("volumetric", "alltoallv", CUBE, 512, nodes=512)
    [beside] = table_1_here(here_of((packed, 3), (spread, 1)))
    assert "(there" not in beside.what
    assert "512 nodes" in beside.what
