"""What the plot and the tables of isoefficiency say."""

import re

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.isoefficiency import plots as plot
from fourscore_analysis.isoefficiency.points import EFFICIENCIES
from fourscore_analysis.isoefficiency.tables import isoefficiency_tables, lacking
from fourscore_analysis.page import figures
from synthetic import Known, Maker, known_records, line_points, make_point, store, view_of

KNOWN = Known(t_c=2e-9, t_s=3e-6, t_w=1.2e-9)


def records_of(points, launches=5, noise=0.02):
    def time_s(point):
        return KNOWN.time_s(point["variant"], point["shape"][0], point["ranks"])

    return known_records(Maker("a-11111111", "a"), points, time_s, launches=launches, noise=noise)


def lines(ranks=(1, 2, 4, 8), variants=("binary-exchange", "transpose")):
    return line_points([2**power for power in range(8, 21, 2)], ranks, variants)


def marks(axes) -> str:
    return "\n".join(artist.get_gid() or "" for artist in axes.get_children())


def test_a_row_has_the_efficiencies_and_the_sizes_that_keep_them(tmp_path):
    view = view_of(records_of(lines()))
    [rows] = plot.pages(view)
    assert [row.family.label for row in rows] == ["binary-exchange", "transpose/alltoallv"]
    figure = plot.draw(view, rows, "heading")
    figure.savefig(tmp_path / "figure.svg")
    for row, left, right in zip(rows, figure.axes[::2], figure.axes[1::2], strict=True):
        assert marks(left).count("efficiency: ") == len(row.family.measured)
        inside = [need for level in EFFICIENCIES for need in row.family.needs(level) if need.inside]
        assert inside
        assert marks(right).count("E = ") == len(inside)
        assert "95 % interval" in marks(left)
        assert [line for line in right.lines if line.get_linestyle() == ":"]


def test_a_campaign_without_several_sizes_and_ranks_is_not_drawn():
    assert plot.pages(view_of(records_of(lines(ranks=(1,))))) == []
    assert plot.pages(view_of(records_of(lines(ranks=(2, 4))))) == []
    one_size = line_points([4096], (1, 2, 4))
    assert plot.pages(view_of(records_of(one_size))) == []
    assert isoefficiency_tables(view_of(records_of(one_size)))[0].needs == []


def test_the_table_has_sizes_bounds_and_the_models():
    points = line_points([2**power for power in range(10, 21)], (1, 2, 4, 8), ["binary-exchange"])
    [table] = isoefficiency_tables(view_of(records_of(points, noise=0.0)))
    by_place = {(row.efficiency, row.ranks): row for row in table.needs}
    assert by_place["0.5", 2].size == "< 1,024"
    assert by_place["0.5", 2].interval == "< 1,024"
    kept = by_place["0.66", 8]
    assert re.fullmatch(r"\d[\d,]*", kept.size)
    assert kept.interval == f"{kept.size}"
    assert float(kept.model.replace(",", "")) == pytest.approx(float(kept.size.replace(",", "")), rel=0.05)
    constants = "t_c = 2.00 ns, t_s = 3.00 µs, t_w = 1.20 ns"
    assert table.model == f"gupta1993, Eq. 4 with {constants}, fitted to these points: threshold 0.62"
    assert table.against == "itself on 1 rank"


def test_a_speedup_beyond_the_ranks_has_a_negative_overhead():
    points = [make_point("slab", "alltoallv", (64,) * 3, ranks) for ranks in (1, 2)]
    records = known_records(Maker(), points, lambda point: (1.0, 0.4)[point["ranks"] - 1], launches=1)
    [[row]] = [table.rows for table in isoefficiency_tables(view_of(records))]
    assert (row.speedup, row.efficiency, row.overhead, row.fraction, row.function) == (
        "2.50",
        "1.25",
        "−200 ms",
        "−0.200",
        "0.800",
    )


def test_efficiencies_can_be_chosen(reported, monkeypatch):
    monkeypatch.setattr(figures, "all_plots", lambda: [plot.PLOT])
    records = records_of(lines(variants=["binary-exchange"]), launches=1)
    [campaign], page = reported(records, "--efficiency", "0.9,0.45")
    assert {one["efficiency"] for one in campaign["isoefficiency"][0]["isoefficiency"]} == {0.45, 0.9}
    for text in ("E = 0.45", "E = 0.9"):
        assert text in page


@pytest.mark.parametrize("text", ["0.5,1", "0", "many", "", "nan", "0.1,0.2,0.3,0.4,0.5,0.6"])
def test_a_wrong_efficiency_ends_with_2_and_says_what_was_expected(tmp_path, capsys, text):
    store(tmp_path, Maker().ok(make_point(), 0))
    with pytest.raises(SystemExit) as ended:
        main(["report", "--archive", str(tmp_path), "-o", str(tmp_path / "p.html"), f"--efficiency={text}"])
    assert ended.value.code == 2
    assert "is not 1 to 5 numbers between 0 and 1" in capsys.readouterr().err


def test_a_report_has_tables_and_json_and_says_what_is_missing(reported):
    records = records_of(lines(variants=["binary-exchange"]))
    records += [Maker("a-11111111", "a").ok(make_point("slab", "alltoallv", (64,) * 3, ranks), 0) for ranks in (2, 4)]
    [campaign], text = reported(records)
    for part in ("Isoefficiency: the size that keeps", "Scaled speedup", "Speedup and overhead over one rank"):
        assert part in text
    assert re.search(r"slab/(<wbr>)?alltoallv: no time on 1 rank under the same contract", text)
    [found] = campaign["isoefficiency"]
    assert found["method"] == "binary-exchange"
    assert {one["ranks"] for one in found["isoefficiency"]} == {2, 4, 8}
    [(reason, methods)] = lacking(view_of(records))
    assert (methods, reason.split(",")[0]) == ("slab/alltoallv", "no time on 1 rank under the same contract")
