"""What the map of link loads draws: exchanges side by side, and what it leaves out."""

from fourscore_analysis.plots import link_loads
from matplotlib.patches import Rectangle
from synthetic import Maker, exchange_load, make_point, simulated, view_of

ROWS = [("+0", 0.4, 0.7), ("-0", 0.3, 0.7), ("+1", 0.0, 0.0)]
COLUMNS = [("+0", 0.0, 0.0), ("-0", 0.0, 0.0), ("+1", 0.5, 0.97)]
LOADS = [exchange_load(ROWS, 1e-4), exchange_load(COLUMNS, 2e-4, "0,1,0 +1")]


def cells_of(axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_host_orders_of_one_problem_stand_side_by_side():
    maker = Maker(isolate=False)
    view = view_of(*(simulated(maker, LOADS, host_order=order) for order in ("row-major", "random")))
    [page] = link_loads.pages(view)
    [one] = page.maps
    assert (one.title, one.kinds) == ("64³ · 16 ranks on 16 nodes, simulated bluegene-l", ["+0", "-0", "+1"])
    assert sorted(name for name, _ in one.blocks) == ["random", "row-major"]
    assert one.subtitle == "pencil/alltoallv"
    axes = link_loads.draw(view, page, "links").axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert [texts.count(text) for text in ("70 %", "97 %", "0 %")] == [4, 2, 6]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1\n100 µs", "2\n200 µs"] * 2
    assert len(cells_of(axes)) == 12
    framed = [cell for cell in cells_of(axes) if cell.get_linewidth() > 0]
    assert len(framed) == 2
    assert all("0,1,0 +1" in cell.get_gid() and "64 links +1" in cell.get_gid() for cell in framed)


def test_the_line_of_a_cell_is_as_long_as_the_mean():
    view = view_of(simulated(Maker(isolate=False), [exchange_load([("+0", 0.25, 0.5), ("-0", 0.5, 0.5)])]))
    [page] = link_loads.pages(view)
    short, long = (line.get_xdata() for line in link_loads.draw(view, page, "links").axes[0].lines)
    assert (short[1] - short[0]) * 2 == long[1] - long[0]


def test_methods_are_named_where_they_differ_and_machines_are_apart():
    maker = Maker(isolate=False)
    methods = [simulated(maker, LOADS[: 1 + (name == "pencil")], name) for name in ("slab", "pencil")]
    view = view_of(*methods, simulated(maker, LOADS, platform="hopper-gemini"))
    [page] = link_loads.pages(view)
    assert sorted(len(one.blocks) for one in page.maps) == [1, 2]
    two = next(one for one in page.maps if len(one.blocks) == 2)
    assert sorted(name for name, _ in two.blocks) == ["pencil/alltoallv", "slab/alltoallv"]
    assert two.columns == 3 + link_loads.GAP


def test_what_has_no_room_is_counted():
    maker = Maker(isolate=False)
    shapes = [(8 * number,) * 3 for number in range(2, link_loads.MOST_MAPS + 4)]
    view = view_of(*(simulated(maker, LOADS, shape=shape) for shape in shapes))
    found = link_loads.pages(view)
    assert sum(len(page.maps) for page in found) == link_loads.MOST_MAPS
    assert {page.left_out for page in found} == {2}
    assert found[0].maps[0].title.startswith(f"{shapes[-1][0]}³")
    texts = [text.get_text() for text in link_loads.draw(view, found[0], "links").texts]
    assert any("2 more points are in the table alone" in text for text in texts)


def test_many_exchanges_and_kinds_are_cut_into_maps():
    maker = Maker(isolate=False)
    bits = [(f"bit {number}", 0.1, 0.2) for number in range(30)]
    view = view_of(*(simulated(maker, [exchange_load(bits)] * 5, name) for name in ("slab", "pencil")))
    maps, left_out = link_loads.maps(view)
    assert left_out == 0
    assert [len(one.kinds) for one in maps] == [15] * 4
    assert maps[0].kinds[-1] == "bit 14"


def test_real_points_have_no_map():
    assert link_loads.pages(view_of(Maker(isolate=False).ok(make_point(), 0))) == []
