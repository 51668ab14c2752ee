"""What nodes gain from their devices: equal nodes, and on either side the placement that suits it."""

import pytest
from fourscore_analysis.page.report import section_of
from fourscore_analysis.plots import device_gain as plot
from fourscore_analysis.points.device_gain import device_gains
from fourscore_analysis.tables.device_gain import device_gain_findings, device_gain_rows
from fourscore_analysis.tables.findings import findings
from synthetic import launches_alike, make_point, view_of

DEVICE = {
    "device": {
        "backend": "cuda",
        "emulated": False,
        "ranks_on_it": 1,
        "mpi_takes_its_memory": False,
        "versions": {},
        "identity": {"model": "Imaginary GPU"},
    },
    "ranks": 1,
    "state_before": {},
}


def pencils(
    variant: str, ranks: int, seconds: float, nodes: int = 2, launches: int = 6, flags=(), **look
) -> list[dict]:
    point = make_point(variant, shape=look.pop("shape", (64, 64, 64)), ranks=ranks, nodes=nodes, **look)
    records = launches_alike(point, seconds, launches, flags)
    for record in records:
        if variant.endswith("-gpu"):
            record["resolved"]["devices"] = [DEVICE]
    return records


def test_each_side_has_the_ranks_and_threads_that_suit_it():
    view = view_of(
        pencils("pencil-gpu", 6, 1.0),
        pencils("pencil", 6, 3.0),
        pencils("pencil", 24, 1.2),
        pencils("pencil", 4, 1.5, threads=6),
        pencils("pencil", 24, 0.5, nodes=1),  # other nodes
        pencils("pencil", 24, 0.5, layout="natural"),  # another contract
    )
    [gain] = device_gains(view.points)
    assert (gain.device.cell.ranks, gain.processors.cell.ranks, gain.ratio) == (6, 24, pytest.approx(1.2))
    [row] = device_gain_rows(view)
    assert (row.nodes, row.device_where, row.processors_where, row.ratio) == (
        2,
        "3 ranks a node",
        "12 ranks a node",
        "1.20",
    )
    assert not row.tied
    [sentence] = device_gain_findings(view)
    assert sentence == (
        "At 64³ 2 nodes are 1.20 times as fast with their devices as with their processors: pencil-gpu/alltoallv takes "
        "1.00 s with 3 ranks a node, pencil/alltoallv takes 1.20 s with 12 ranks a node."
    )
    assert sentence in findings(view)
    [found] = section_of(view).counted_json()["device_gains"]
    assert (found["nodes"], found["ratio"], found["told_apart"]) == (2, pytest.approx(1.2), True)
    threads = view_of(pencils("pencil-gpu", 6, 1.0), pencils("pencil", 4, 1.1, threads=6))
    assert device_gain_rows(threads)[0].processors_where == "2 ranks of 6 threads a node"


def test_a_device_that_is_emulated_and_a_lucky_launch_gain_nothing():
    assert (
        device_gains(view_of(pencils("pencil-gpu", 6, 1.0, flags=["emulated"]), pencils("pencil", 24, 1.2)).points)
        == []
    )
    assert device_gains(view_of(pencils("pencil-gpu", 6, 1.0)).points) == []
    view = view_of(pencils("pencil-gpu", 6, 1.0), pencils("pencil", 24, 0.1, launches=1), pencils("pencil", 12, 2.0))
    assert [gain.ratio for gain in device_gains(view.points)] == [pytest.approx(2)]


def test_times_that_are_not_told_apart_are_no_gain():
    view = view_of(pencils("pencil-gpu", 6, 1.0), pencils("pencil", 24, 1.0))
    assert device_gain_rows(view)[0].tied
    assert device_gain_findings(view)[0].endswith("; the launches do not tell the two apart.")


def test_the_plot_has_a_row_for_each_problem_on_each_number_of_nodes(tmp_path):
    lists = [
        pencils(variant, 8 * nodes, seconds, nodes=nodes, shape=shape)
        for variant, seconds in (("pencil-gpu", 1.0), ("pencil", 1.5))
        for nodes in (1, 2)
        for shape in ((64, 64, 64), (128, 128, 128))
    ]
    view = view_of(*lists)
    [[(title, _, rows)]] = plot.pages(view)
    assert title == "Equal nodes"
    assert [(one.device.cell.place.nodes, one.device.cell.shape[0]) for one in rows] == [
        (1, 64),
        (1, 128),
        (2, 64),
        (2, 128),
    ]
    figure = plot.draw(view, plot.pages(view)[0], "heading")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][-1] == "128³, 2 nodes"
    drawn = {round(line.get_xdata()[0], 3) for line in figure.axes[0].lines if line.get_marker() not in ("None", "")}
    assert drawn == {1.0, 1.5}
    assert plot.pages(view_of(*lists[:1])) == []
    figure.savefig(tmp_path / "plot.svg")
