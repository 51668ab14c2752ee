"""fourscore verify --rules: a campaign of the shipped suite keeps the run rules, and what differs is named."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import statistics

import pytest
from fourscore_command import Fourscore, changed

SUITE = pathlib.Path(__file__).parents[2] / "suites/procurement.toml"


def on_two_cores(fourscore: Fourscore) -> Fourscore:
    """With a machine of two cores, and fake variants of the suite's names, which take 10 ms."""
    fourscore.suite('name = "two-cores"\nlauncher = "local"\n[nodes]\ncount = 1\ncores = 2\n', "two-cores.toml")
    fourscore.environment |= {"FAKE_GOOD": "fftw-mpi", "FAKE_MOVES": "slab pencil", "FAKE_FACTOR": "10"}
    return fourscore


@pytest.fixture
def fourscore(fourscore):
    return on_two_cores(fourscore)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory) -> pathlib.Path:
    """The archive of a whole campaign."""
    fourscore = on_two_cores(Fourscore(tmp_path_factory.mktemp("campaign")))
    run(fourscore)
    return fourscore.archive


@pytest.fixture
def kept(fourscore, campaign):
    """With a campaign that keeps the rules."""
    shutil.copytree(campaign, fourscore.archive)
    return fourscore


def run(fourscore, *words: str, code: int = 0) -> None:
    fourscore("run", "procurement", "--machine", "two-cores.toml", "--campaign", "c", "--quiet", *words, code=code)


def verdict(fourscore, *words: str, code: int = 1) -> dict:
    return fourscore.json("verify", "c", "--rules", *words, code=code)["rules"]["c"]


def rates_of(fourscore, shape: list[int]) -> dict[str, float]:
    """GFLOP/s of each variant on two ranks: by the median of the medians of five launches of ten samples."""
    times: dict[str, list[float]] = {}
    for record in fourscore.records().values():
        if (record["point"]["shape"], record["point"]["ranks"]) == (shape, 2):
            times.setdefault(record["point"]["variant"], []).append(statistics.median(record["samples"]["time_s"]))
    assert {len(medians) for medians in times.values()} == {5}
    return {variant: 5 * 2**24 * 24 / statistics.median(medians) / 1e9 for variant, medians in times.items()}


def reasons(fourscore) -> str:
    return "\n".join(verdict(fourscore)["reasons"])


def test_a_campaign_of_the_suite_keeps_the_rules_and_has_figures_of_merit(kept):
    fourscore = kept
    said = verdict(fourscore, code=0)
    assert (said["kept"], said["reasons"], said["nodes"], said["cores"]) == (True, [], 1, 2)
    weak, strong = said["figures"]
    assert [(one["test"], one["point"]["shape"], one["point"]["ranks"]) for one in (weak, strong)] == [
        ("weak", [512, 256, 128], 2),
        ("strong", [256, 256, 256], 2),
    ]
    for figure in (weak, strong):
        rates = rates_of(fourscore, figure["point"]["shape"])
        variant = figure["point"]["variant"]
        assert variant == max(("slab", "pencil"), key=lambda name: rates[name])
        assert figure["gflops"] == pytest.approx(rates[variant])
        assert figure["reference_gflops"] == pytest.approx(rates["fftw-mpi"])
        assert figure["time_s"] * figure["gflops"] * 1e9 == pytest.approx(5 * 2**24 * 24)
    assert said["gflops"] == pytest.approx((weak["gflops"] * strong["gflops"]) ** 0.5)
    assert said["reference_gflops"] == pytest.approx((weak["reference_gflops"] * strong["reference_gflops"]) ** 0.5)
    text = fourscore("verify", "--rules").stdout  # the newest campaign of that suite
    assert "c keeps the run rules, on 1 node of 2 cores" in text
    assert re.search(r"weak +(slab|pencil) 512x256x128, 2 ranks", text)
    assert "figure of merit" in text
    assert "rules" not in fourscore.json("verify", "c")


def test_the_size_for_clusters_has_points_of_its_own(fourscore):
    run(fourscore, "--size", "cluster")
    said = verdict(fourscore, code=0)
    assert [one["point"]["shape"] for one in said["figures"]] == [[512, 512, 512], [1024, 1024, 1024]]


def test_another_suite_is_refused(fourscore):
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet")
    assert reasons(fourscore) == "it measures the suite 's'; expected procurement"
    assert "does not keep the run rules" in fourscore("verify", "c", "--rules", code=1).stdout


def test_a_changed_copy_of_the_suite_is_refused(fourscore):
    copy = fourscore.suite(SUITE.read_text().replace("launches = 5", "launches = 4").replace('check = "all"', 'check = "spots"'))
    fourscore("run", copy, "--machine", "two-cores.toml", "--campaign", "c", "--quiet", "--only", "variant=slab")
    said = reasons(fourscore)
    assert "its suite is another text" in said
    assert "it has 4 launches a point; expected 5" in said
    assert "4 launches with a result; expected 5" in said


def test_a_part_of_the_suite_is_refused(fourscore):
    run(fourscore, "--only", "variant=slab", "--only", "ranks=2")
    said = reasons(fourscore)
    assert "pencil 512x256x128, 2 ranks: 0 launches with a result; expected 5" in said
    assert "slab 256x256x128, 1 rank: 0 launches" in said
    assert "slab 512x256x128, 2 ranks" not in said


def test_a_launch_that_failed_is_refused_until_it_is_tried_again(fourscore):
    fourscore.environment["FAKE_ABORTS"] = "pencil"
    run(fourscore, "--only", "variant=pencil", code=1)
    assert re.search(r"pencil \S+, 2 ranks, launch 0 and 9 more launches: failed: .*signal", reasons(fourscore))
    fourscore.environment["FAKE_ABORTS"] = ""
    run(fourscore, "--only", "variant=pencil", "--retry", "failed")
    assert "pencil" not in reasons(fourscore)


CHANGES = [
    ("flags", ["unbound", "in-cache"], "flagged unbound: a rank of several"),
    ("flags", ["foreign"], "flagged foreign: "),
    ("sampling/check", "spots", 'check is "spots"; expected "all"'),
    ("sampling/repetitions", 3, "repetitions is 3; expected 10"),
    ("sampling/warmup", 0, "warmup is 0; expected 1"),
    ("verification/ok", False, "its result was not verified"),
    ("verification/checked_by", "ab", "it relies on the checks of another launch; expected its own"),
    ("sampling/launches_before", 2, "its MPI job had measured other launches before it"),
    ("verified_by", "program", 'verified_by is "program"; expected "harness"'),
    ("verdict", {"status": "wrong", "reason": "the inverse differs"}, "wrong: the inverse differs"),
    ("failed_parts", {"isolate": {"status": "failed", "reason": "x"}}, "a part of it failed"),
    ("provenance/code_hash", "0" * 16, 'another program than the campaign\'s ("0000000000000000")'),
    ("provenance/machine_hash", "0" * 16, "another machine than the campaign's"),
    ("provenance/identity/code/dirty_sha256", "ab", "its program was built of changed sources"),
    ("samples/time_s", [], "4 launches with a result; expected 5"),
]


def put(path: pathlib.Path, place: str, value: object) -> None:
    with changed(path) as content:
        inner = content
        *way, last = place.split("/")
        for key in way:
            inner = inner[int(key)] if isinstance(inner, list) else inner[key]
        inner[last] = value
        path.unlink()


def test_what_a_record_says_against_the_rules_is_named_with_its_launch(kept):
    fourscore = kept
    path = sorted(fourscore.archive.glob("records/c/*-000.json"))[0]
    before = path.read_text()
    for place, value, expected in CHANGES:
        put(path, place, value)
        said = reasons(fourscore)
        assert expected in said, (place, said)
        assert ", launch 0: " in said or "launches with a result" in said
        path.write_text(before)
    assert verdict(fourscore, code=0)["kept"]
    put(path, "flags", ["in-cache"])  # a large cache is the machine's own
    assert verdict(fourscore, code=0)["kept"]


def test_what_campaign_json_says_against_the_rules_is_named(kept):
    fourscore = kept
    path = fourscore.archive / "campaigns/c/campaign.json"
    before = path.read_text()
    points = json.loads(before)["points"]
    slab, other = (next(i for i, p in enumerate(points) if (p["point"]["variant"] == "slab") == is_slab) for is_slab in (True, False))
    for place, value, expected in (
        ("suite_sha256", "0" * 64, "its suite is another text (SHA-256 000000000000)"),
        ("suite_text", "x", "its suite is another text"),
        ("counters", {"backend": "papi"}, 'its counters are "papi"; expected "none"'),
        ("size", "huge", "expected one of: node, cluster"),
        ("points", points[1:], "it lacks the point "),
        (f"points/{other}/skipped", "not built", " is skipped: not built"),
        (f"points/{slab}/point/exchange", "shared", "and the suite does not"),
        ("points", "x", "is not of the schema"),
    ):
        put(path, place, value)
        assert expected in reasons(fourscore), place
        path.write_text(before)
    put(path, f"points/{slab}/skipped", "more ranks than planes")
    assert verdict(fourscore, code=(0, 1))["kept"]  # the one variant that may be
    path.write_text("no JSON")
    assert "its campaign.json cannot be read" in reasons(fourscore)


def test_nothing_is_judged_without_the_suite(kept, tmp_path):
    (tmp_path / "suites").mkdir()
    kept.environment["FOURSCORE_SUITES"] = str(tmp_path / "suites")
    assert "no suite procurement.toml" in kept("verify", "c", "--rules", code=3).stderr


def test_a_name_is_wanted_where_no_campaign_is_of_the_suite(fourscore):
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet")
    assert "procurement" in fourscore("verify", "--rules", code=2).stderr
