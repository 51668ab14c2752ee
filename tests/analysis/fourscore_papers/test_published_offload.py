"""Offloaded pencils beside Tables 4.1 and 4.2 of lee2018; those of a stand-in on a page of their own."""

import pytest
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.published import published
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.views.view import View
from fourscore_papers.lee2018.plots import published_offload
from synthetic import Maker, canonical, make_point, read_back

PHASES = {"fft": 0.05, "h2d": 0.5, "d2h": 0.45, "exchange": 1.0}
WORK = {
    "h2d_copies_per_rank": [3, 6],
    "h2d_bytes_per_rank": [1e9, 3e9],
    "ffts_per_rank": [3, 6],
    "d2h_copies_per_rank": [3, 9],
    "d2h_bytes_per_rank": [1e9, 3e9],
}


def record_of(maker: Maker, seconds: float, flags=(), device=True, direction="forward", **parameters) -> dict:
    point = make_point("node", "none", (100,) * 3, direction=direction, parameters=parameters)
    rows = {phase: [[share * seconds / 2] * 3] * 2 for phase, share in PHASES.items()}
    record = maker.with_samples(point, 0, [[seconds] * 3] * 2, rows)
    record["flags"] = list(flags)
    if device:
        record["cost"]["device"] = WORK
    return record


def view_of(records, *paper: str) -> View:
    return View(Campaign("a", "a", read_back(records), paper=paper or ("lee2018/table-4.1",)), 0)


def kinds(maker: Maker, flags=()) -> list[dict]:
    times = {"pageable": 1.0, "pinned": 1.25, "managed": 1.5}
    named = {"offload": "pencil"}
    return [record_of(maker, time, flags, **named, **{"host-memory": kind}) for kind, time in times.items()]


def test_a_stand_ins_copies_are_in_a_figure_of_their_own_and_beside_no_processor():
    maker = Maker(isolate=False)
    on_host = record_of(maker, 2.0, device=False)
    real, emulated = published_offload.pages(view_of([on_host, *kinds(maker), *kinds(maker, ["emulated"])]))
    assert (real.emulated, emulated.emulated) == (False, True)
    assert (len(real.offloaded), len(emulated.offloaded)) == (3, 3)
    assert not {"emulated"} & {flag for point in real.offloaded + real.on_host for flag in point.flags}
    assert (len(real.on_host), emulated.on_host) == (1, [])
    rows = {
        page.emulated: [one.allocation for one in published_offload.ratios(page.offloaded, page.on_host)]
        for page in (real, emulated)
    }
    assert rows == {False: ["default", "pinned", "unified", "no GPU, FFTW"], True: ["default", "pinned", "unified"]}


def test_only_a_campaign_of_these_tables_has_the_figure():
    records = kinds(Maker(isolate=False))
    assert published_offload.pages(view_of(records, "lee2018/table-2.1")) == []
    assert len(published_offload.pages(view_of(records, "lee2018/table-4.2"))) == 1


def test_a_bar_has_the_shares_of_the_busy_time_with_operations_bytes_and_times():
    [page] = published_offload.pages(view_of(kinds(Maker(isolate=False))))
    bar = published_offload.bar_of(page.offloaded[0])
    assert bar.shares == {
        "to the device": pytest.approx(0.5),
        "kernels": pytest.approx(0.05),
        "to the host": pytest.approx(0.45),
    }
    # The rank that copies most has 6 copies, 3 GB in 0.25 s; 9 back.
    there, back = bar.said["to the device"], bar.said["to the host"]
    assert "6 operations, 250 ms in all" in there
    assert "41.7 ms each" in there
    assert "12.0 GB/s" in there
    assert "9 operations, 225 ms in all" in back


def test_published_shares_and_ratios_are_those_of_the_tables():
    bar = published_offload.published_bar(published("lee2018", "table-4.1"))
    assert bar is not None
    assert [round(100 * share, 2) for share in bar.shares.values()] == [56.05, 2.37, 41.32]
    found = published_offload.published_ratios(published("lee2018", "table-4.2"))
    values = {(one.allocation, one.direction): one.value for one in found}
    assert values["default", "forward"] == values["default", "backward"] == 1
    assert values["pinned", "forward"] == pytest.approx(1.663768 / 1.274754)
    assert len(values) == 8


def test_ratios_are_of_points_that_differ_in_the_memory_alone():
    maker = Maker(isolate=False)
    other = [record_of(maker, 9.0, direction="backward", offload="pencil", **{"host-memory": "pinned"})]
    [page] = published_offload.pages(view_of(kinds(maker) + other))
    found = {one.allocation: one.value for one in published_offload.ratios(page.offloaded, page.on_host)}
    assert found == {"default": 1, "pinned": pytest.approx(1.25), "unified": pytest.approx(1.5)}


@pytest.mark.parametrize("flags", [(), ("emulated",)])
def test_a_page_is_drawn_and_says_whether_it_is_emulated(flags, tmp_path):
    view = view_of(kinds(Maker(isolate=False), flags))
    [page] = published_offload.pages(view)
    figure = published_offload.draw(view, page, "Heading")
    figure.savefig(tmp_path / "figure.svg")
    words = " ".join(text.get_text() for text in figure.texts)
    assert ("EMULATED Heading" in words) is bool(flags)
    assert len(figure.axes) == 2


def test_columns_of_different_ranks_are_an_error():
    record = kinds(Maker(isolate=False))[0]
    record["cost"]["device"] = WORK | {"ffts_per_rank": [3]}
    with pytest.raises(RecordError, match=r"cost\.device"):
        parse_record(canonical(record), "a.json")
