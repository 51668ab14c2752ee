"""What may be called fastest, and that every flag of the drivers is known to the report and the documents."""

import json
import re
from pathlib import Path

import pytest
from fourscore_analysis.points.claims import LEAST_LAUNCHES, claim, doubts
from fourscore_analysis.points.points import comparisons, group_points
from fourscore_analysis.points.stats import interval_rank
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.flags import FLAGS, doubts_of_time, meanings
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.findings import finding, findings, wins
from fourscore_analysis.tables.transforms import contract_tables
from fourscore_analysis.views.view import View
from synthetic import Maker, campaign_of, canonical, counted, make_point

ROOT = Path(__file__).parents[3]
LARGE = (256, 256, 256)  # not in the cache


def view_of(times: dict[str, list[float]], flags: dict[str, list[str]] | None = None, **point) -> View:
    """A campaign of one comparison: seconds of each launch by variant, flags by variant."""
    maker, records = Maker(isolate=False), []
    for variant, seconds in times.items():
        exchange = "none" if variant == "fftw-mpi" else "alltoallv"
        for launch, value in enumerate(seconds):
            asked = make_point(variant, exchange, **({"shape": LARGE} | point))
            records.append(maker.timed(asked, launch, value, (flags or {}).get(variant, [])))
    return View(campaign_of(records), 0)


def said(*arguments, **changes) -> str:
    return finding(view_of(*arguments, **changes).comparisons)


FIVE, SLOWER, SLOWEST = [1.0, 1.1, 1.2, 1.3, 1.4], [2.0, 2.1, 2.2, 2.3, 2.4], [3.0, 3.1, 3.2, 3.3, 3.4]
MEETING = [1.15, *SLOWER[1:]]  # faster than three of FIVE


def test_a_claim_takes_as_many_launches_as_an_interval():
    assert LEAST_LAUNCHES == 5
    assert interval_rank(LEAST_LAUNCHES)[1] > 0.9
    assert "slab/alltoallv is fastest: 1.20 s" in said({"slab": FIVE, "pencil": SLOWER})
    for few, many in ((FIVE[:4], SLOWER), (FIVE, SLOWER[:4])):
        text = said({"slab": few, "pencil": many})
        assert "fastest" not in text
        assert "has the lowest median" in text
        assert "No basis for a claim" in text
    assert "4 launches, a claim takes 5" in said({"slab": FIVE[:4], "pencil": SLOWER})
    assert "1 launch, a claim takes 5" in said({"slab": [1.0], "pencil": SLOWER})


NEVER_BESIDE_OTHERS = {"simulated", "emulated", "foreign"}  # no time, and comparisons of their own


@pytest.mark.parametrize("flag", [*sorted(set(FLAGS) - NEVER_BESIDE_OTHERS), "brand-new"])
def test_a_flagged_point_is_never_called_fastest(flag):
    text = said({"slab": FIVE, "pencil": SLOWER}, {"slab": [flag]})
    if flag == "open-breakdown":  # the time stands, how it splits does not
        assert "slab/alltoallv is fastest" in text
        return
    assert "fastest" not in text
    assert f"No basis for a claim: flagged {flag}." in text


def test_a_foreign_point_is_compared_with_its_like_alone_and_never_called_fastest():
    mixed = said({"slab": FIVE, "pencil": SLOWER}, {"slab": ["foreign"]})
    alike = said({"slab": FIVE, "pencil": SLOWER}, {"slab": ["foreign"], "pencil": ["foreign"]})
    assert "slab" not in mixed.split("takes")[0]
    assert "fastest" not in mixed + alike
    assert "No basis for a claim: flagged foreign." in alike


def test_phases_that_do_not_add_up_have_no_share():
    maker, rows = Maker(isolate=False), [[1.0] * 3] * 2
    record = maker.with_samples(make_point(shape=LARGE), 0, rows, {"fft": [[0.2] * 3] * 2, "exchange": [[0.3] * 3] * 2})
    for flags, expected in (([], True), (["open-breakdown"], False)):
        record["flags"] = flags
        points = group_points(Campaign("c", "c", [parse_record(canonical(record), "a.json")]))
        assert ("60 % of its time is exchange" in finding(comparisons(points))) == expected


def test_a_rival_that_is_flagged_is_left_out_and_said_so():
    flags = {"pencil": ["in-cache"]}
    text = said({"slab": FIVE, "pencil": SLOWER, "volumetric": SLOWEST}, flags)
    assert "slab/alltoallv is fastest" in text
    assert "next is volumetric/alltoallv at 3.20 s" in text
    assert "Not in the claim: 1 with flags or fewer than 5 launches." in text
    alone = said({"slab": FIVE, "pencil": SLOWER}, flags)
    assert "fastest" not in alone
    assert "no other method is free of flags" in alone


def test_launches_that_meet_those_of_a_flagged_rival_are_a_tie():
    text = said({"slab": FIVE, "pencil": MEETING, "volumetric": SLOWEST}, {"pencil": ["unbound"]})
    assert "fastest" not in text
    assert "the launches do not tell it from pencil/alltoallv" in text


def test_a_flagged_reference_is_said_beside_the_ratio():
    text = said({"slab": FIVE, "fftw-mpi": SLOWER, "pencil": SLOWEST}, {"fftw-mpi": ["in-cache"]})
    assert "0.55 of the time of fftw-mpi (but that: flagged in-cache)" in text


def test_a_finding_prefers_a_problem_whose_times_are_sound():
    """The largest is flagged: the claim is of the next, and rests on its launches."""
    sound, flagged = (
        view_of({"slab": FIVE, "pencil": SLOWER}),
        view_of({"slab": FIVE, "pencil": SLOWER}, {"slab": ["oversubscribed"]}, shape=(512, 512, 512)),
    )
    assert finding([*sound.comparisons, *flagged.comparisons]).startswith(
        "At 256³ on 2 ranks slab/alltoallv is fastest"
    )


def test_only_claims_are_counted_as_wins():
    sure = view_of({"slab": FIVE, "pencil": SLOWER}).comparisons
    tie = view_of({"slab": FIVE, "pencil": MEETING}, shape=(128,) * 3).comparisons
    few = view_of({"slab": FIVE[:2], "pencil": SLOWER[:2]}, shape=(64,) * 3).comparisons
    assert wins([*sure, *tie, *few]).startswith("Fastest in 1 of 3 comparisons: slab/alltoallv 1; the others are ties")
    assert wins([*tie, *few]).startswith("In none of 2 comparisons is a method shown to be fastest")
    assert [claim(one).holds for one in (*sure, *tie, *few)] == [True, False, False]


def test_a_table_of_lowest_medians_marks_those_that_are_claims():
    for flags, expected in (({}, True), ({"slab": ["cold"]}, False)):
        [table] = contract_tables(view_of({"slab": FIVE, "pencil": SLOWER}, flags))
        assert [row.fastest for row in table.summary] == [expected]
        assert table.summary[0].launches == 5


def test_counted_traffic_is_ranked_as_its_launches_allow():
    """Not where a simulation counted: that is the same each time."""
    for simulated in (True, False):
        maker = Maker(isolate=False)
        records = [
            counted(maker.ok(make_point(variant, shape=LARGE), 0), simulated=simulated)
            for variant in ("slab", "pencil")
        ]
        launches = [parse_record(canonical(record), "a.json") for record in records]
        sentences = findings(View(Campaign("c", "c", launches), 0))
        [traffic] = [sentence for sentence in sentences if sentence.startswith("Memory traffic")]
        assert ("No basis for a claim: 1 launch, a claim takes 5." in traffic) != simulated


def test_what_is_emulated_is_ranked_with_nothing_that_is_not():
    """Nor are its launches those of the same point without the stand-in."""
    maker, records = Maker(isolate=False), []
    for variant in ("slab", "pencil"):
        for launch in range(2):
            flags = ["emulated"] if variant == "slab" and launch else []
            records.append(maker.timed(make_point(variant, shape=LARGE), launch, 1.0, flags))
    view = View(campaign_of(records), 0)
    ranked = {one.setting: {point.label for point in one.ranked} for one in view.comparisons}
    assert ranked == {"": {"slab/alltoallv", "pencil/alltoallv"}, "emulated": {"slab/alltoallv"}}
    assert [table.contract.endswith("emulated") for table in contract_tables(view)] == [False, True]
    assert all(len(point.measured) == (2 if point.method.variant == "pencil" else 1) for point in view.points)


def flags_of_the_drivers() -> set[str]:
    header = (ROOT / "core/flags.hpp").read_text(encoding="utf-8")
    found = set(re.findall(r'^    \{"([a-z-]+)", ', header.split("flag_table{{")[1].split("}};")[0], re.MULTILINE))
    assert len(found) >= 8
    return found


def test_every_flag_of_the_drivers_is_known_everywhere_a_reader_looks():
    found = flags_of_the_drivers()
    assert found == set(FLAGS) - {"mixed-launch", "slow-node"}  # those are the report's own
    measuring = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
    assert found == set(
        re.findall(r"^\| `([a-z-]+)` \|", measuring.split("## Flags")[1].split("\n## ")[0], re.MULTILINE)
    )
    schema = json.loads((ROOT / "results/run-record.schema.json").read_text(encoding="utf-8"))
    assert found == set(schema["properties"]["flags"]["items"]["enum"])


def test_a_flag_that_this_version_does_not_know_is_a_doubt_and_explained():
    assert doubts_of_time(["open-breakdown", "brand-new", "cold"]) == ["brand-new", "cold"]
    assert "not known" in meanings(["brand-new"])["brand-new"]
    assert "emulated" not in meanings([])
    assert "emulated" in meanings(["emulated"])
    [point] = view_of({"slab": FIVE}, {"slab": ["brand-new"]}).points
    assert doubts(point) == ("flagged brand-new",)
