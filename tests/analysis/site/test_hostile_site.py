"""A site of records that mean harm: nothing is unescaped, nothing lies outside the folder, no page is too large."""

from __future__ import annotations

import copy
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import Launch, parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.site import addresses, campaign_data, pages
from fourscore_analysis.site.folder import Known, SiteFolder
from fourscore_analysis.site.overview import about_campaign
from fourscore_analysis.site.writer import SiteWriter
from site_links import Reader, followed
from synthetic import Maker, canonical, make_point
from test_hostile import HOSTILE, places

ROOT = Path(__file__).resolve().parents[3]
PLANTED = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
NAMES = (
    PLANTED,
    "../../../etc/passwd",
    "..",
    "/absolute",
    "a/b",
    "javascript:alert(1)",
    "x" * 900,
    "-rf",
    ".hidden",
    "con",
    "é" * 200,
    "{{ 7 * 7 }}",
    "%2e%2e%2f",
    "",
)


def site_of(folder: Path, *campaigns: Campaign) -> SiteFolder:
    """As publish() makes it, without records on a disk."""
    SiteFolder.make_ready(folder)
    site = SiteFolder.at(folder)
    loaded = {}
    for campaign in campaigns:
        content = campaign_data.as_json(campaign_data.data_of(campaign))
        loaded[campaign.name] = campaign_data.parse(content)
        about = about_campaign(loaded[campaign.name])
        site.campaigns[campaign.name] = Known([], addresses.digest_of(content), about)
        site.stage(f"{addresses.campaign_address(campaign.name)}.json", content, "")
    writer = SiteWriter(site, loaded, parquet=False)
    writer.write()
    site.commit(writer.kept | {f"{addresses.campaign_address(one.name)}.json" for one in campaigns})
    return site


def launch_of(**changes) -> Launch:
    return parse_record(canonical(Maker(isolate=False).ok(make_point(**changes), 0)), "records/c/p-000.json")


def check_harmless(folder: Path) -> None:
    """No element that a template does not have, no attribute that runs, every link within the folder."""
    dead, outside = followed(folder, "*.html")
    assert (dead, outside) == ([], {"data:,"})
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe|object|embed|form)\b", text), page
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', text)), page
        assert not any(link.startswith("javascript:") for link in Reader(text).links)


def test_ten_thousand_hostile_launches_make_harmless_pages_below_300_kb(tmp_path):
    sound = launch_of()
    launches = []
    for number in range(2500):
        name = NAMES[number % len(NAMES)]
        method = replace(sound.method, variant=f"variant {number % 28}{name}", exchange=NAMES[number % 3] or "none")
        place = replace(sound.place, ranks=2 + number // 28)
        identity = {part: dict(values) for part, values in sound.identity.items()}
        identity["machine"]["cpu_model"] = PLANTED
        launches += [
            replace(
                sound,
                file=f"records/c/{number}-{launch:03d}.json",
                launch=launch,
                point_id=f"{number:016x}",
                method=method,
                place=place,
                cell=replace(sound.cell, place=place),
                identity=identity,
                reason=PLANTED,
                flags=(name,) if name.isprintable() else (),
                median_s=sound.median_s * (1 + 0.01 * launch),
            )
            for launch in range(4)
        ]
    site_of(tmp_path / "site", Campaign("c", "c", launches))
    sizes = {page: page.stat().st_size for page in (tmp_path / "site").rglob("*.html")}
    assert max(sizes.values()) < 300_000
    assert len([page for page in sizes if page.parent.name == "methods"]) == 28 * 3 or len(sizes) > 28
    cut = [page for page in sizes if "more rows</strong>" in page.read_text(encoding="utf-8")]
    assert cut  # a page of 2,500 points loses rows, and its data has them
    assert all(len(json.loads(page.with_suffix(".json").read_text())["rows"]) == 2500 for page in cut)
    check_harmless(tmp_path / "site")
    assert {path.name for path in tmp_path.iterdir()} == {"site"}


@pytest.mark.parametrize("name", [name for name in NAMES if name])
def test_a_hostile_name_of_a_campaign_or_machine_stays_in_the_folder(tmp_path, name):
    machine_hash = name if name.isprintable() else "x"
    launch = replace(launch_of(), machine_hash=machine_hash)
    site_of(tmp_path / "site", Campaign(name, name, [launch]))
    assert {path.name for path in tmp_path.iterdir()} == {"site"}
    found = {path.relative_to(tmp_path / "site").parts[0] for path in (tmp_path / "site").rglob("*")}
    assert {one for one in found if not one.endswith((".html", ".json", ".css"))} == {
        "data",
        "machines",
        "problems",
        "methods",
    }
    check_harmless(tmp_path / "site")


def test_no_value_at_any_place_of_a_record_stops_the_site(tmp_path):
    """As of the report: it is refused as unreadable, or what is left becomes pages."""
    random.seed(21)
    maker = Maker(isolate=False)
    kinds = [maker.ok(make_point(), 0), maker.ok(make_point(instances=2, parameters={"pieces": "2"}), 1)]
    by_kind = [list(places(record)) for record in kinds]
    sound = parse_record(canonical(kinds[0]), "records/c/b.json")
    used = []
    for number in range(400):
        record = copy.deepcopy(kinds[number % 2])
        *above, key = random.choice(by_kind[number % 2])
        place = record
        for step in above:
            place = place[step]
        place[key] = random.choice(HOSTILE)
        try:
            run = parse_record(json.dumps(record).replace("Infinity", "1e999"), f"records/c/{number}.json")
        except RecordError:
            continue
        used.append(run)
    assert len(used) > 80
    launches = [run for run in used if isinstance(run, Launch)]
    site_of(tmp_path / "site", Campaign("c", "c", [sound, *launches]))
    check_harmless(tmp_path / "site")


def test_addresses_are_by_the_rule_of_the_document_and_never_change():
    """These very addresses are out in the world: a change of the rule breaks them."""
    launch = launch_of(shape=(128, 128, 128))
    assert addresses.machine_address(launch.machine_hash) == f"machines/{launch.machine_hash}"
    problem = "problems/128x128x128-c2c-double-forward-6d8131fc3885"
    assert addresses.problem_address(addresses.problem_of(launch.cell)) == problem
    assert f"`{problem}.html`" in (ROOT / "docs/publish.md").read_text(encoding="utf-8")
    assert addresses.method_address(launch.method) == "methods/slab-alltoallv-fftw-a87335bbe56c"
    assert addresses.campaign_address("strong-1a2b3c4d") == "data/campaigns/strong-1a2b3c4d"


def test_different_subjects_have_different_addresses_of_plain_characters():
    launch = launch_of()
    methods = [replace(launch.method, variant=name, parameters=other) for name in NAMES for other in ("", "A", "a")]
    found = [addresses.method_address(method) for method in methods]
    assert len({address.lower() for address in found}) == len(found)
    found += [addresses.machine_address(name) for name in NAMES if name]
    found += [addresses.campaign_address(name) for name in NAMES if name]
    assert all(re.fullmatch(r"(?:machines|methods|data/campaigns)/[A-Za-z0-9_][A-Za-z0-9._-]*", one) for one in found)
    assert max(map(len, found)) < 160


def test_a_list_of_many_is_cut_into_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ENTRIES_A_PAGE", 3)
    launches = [
        replace(launch_of(shape=(8 * number, 8, 8)), file=f"records/c/{number}.json", point_id=f"{number:016x}")
        for number in range(1, 9)
    ]
    site_of(tmp_path, Campaign("c", "c", launches))
    lists = [tmp_path / "problems.html", tmp_path / "problems-2.html", tmp_path / "problems-3.html"]
    linked = [link for page in lists for link in Reader(page.read_text()).links if link.startswith("problems/")]
    assert len(set(linked)) == 8
    check_harmless(tmp_path)
