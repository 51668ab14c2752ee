"""Histories: what changed, between which revisions, by how much; machines are never crossed, expected changes never
count."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.gate.archive_history import History, Question, read_history
from fourscore_analysis.gate.history import Finding
from fourscore_analysis.gate.revisions import Revisions
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.tables.history import history_json, history_text
from synthetic import make_point
from synthetic.histories import HistoryMaker, revision_of

POINT = make_point("pencil", "alltoallv", (64, 64, 64), 2)
OTHER = make_point("slab", "p2p", (64, 64, 64), 2)
NOISE = 0.01


def noisy(seconds: float, seed: int = 1, noise: float = NOISE):
    """A time of build and launch: the same for the same seed."""

    def value(build: int, launch: int) -> float:
        return seconds * float(np.exp(np.random.default_rng((seed, build, launch)).normal(0, noise)))

    return value


def stepping(steps: dict[int, float], seed: int = 1, noise: float = NOISE):
    """A second, times the factor of each step at or before the build."""
    value = noisy(1.0, seed, noise)
    return lambda build, launch: value(build, launch) * float(np.prod([f for at, f in steps.items() if at <= build]))


@pytest.fixture
def maker(tmp_path) -> HistoryMaker:
    return HistoryMaker(tmp_path / "archive")


def ask(maker: HistoryMaker, **question) -> History:
    return read_history(maker.archive, Question(**question))


def where(finding: Finding) -> tuple[str, str]:
    return finding.before.revision, finding.after.revision


def command(maker: HistoryMaker, *arguments: str) -> int:
    page = maker.archive.parent / "history.html"
    return main(["history", "--archive", str(maker.archive), "-o", str(page), *arguments])


def context(maker: HistoryMaker, **content) -> str:
    file = maker.archive.parent / "context.json"
    file.write_text(json.dumps(content))
    return f"--context={file}"


def acknowledgement(first: int, last: int, **series: str) -> dict:
    return {
        "file": "expected.toml",
        "line": 7,
        "series": series,
        "first": revision_of(first)[:10],
        "last": revision_of(last)[:10],
        "reason": "more accurate",
    }


def test_a_slowdown_is_named_with_the_revisions_around_it_its_size_and_p(maker):
    maker.builds(POINT, 40, stepping({25: 1.08}))
    maker.builds(OTHER, 40, noisy(1.0, 2))
    history = ask(maker)
    [finding] = history.slowdowns
    assert where(finding) == (revision_of(24), revision_of(25))
    assert finding.builds_since == 15  # 25 to 39: the one that brought it is the first
    assert "; 15 builds since" in history_text(history) or ", 15 builds since" in history_text(history)
    assert finding.series.title == "pencil/alltoallv at 64³, 2 ranks"
    assert finding.interval[0] < 1.08 < finding.interval[1]
    assert finding.ratio == pytest.approx(1.08, abs=0.01)
    assert max(finding.p, finding.launches_p) < 0.01
    said = history_text(history)
    assert f"slower after {revision_of(24)[:10]}, up to {revision_of(25)[:10]} (2026-01-26)" in said
    assert "1 slowdown to look at" in said


def test_histories_of_one_launch_a_revision_work(maker):
    maker.builds(POINT, 40, stepping({25: 1.08}), launches=1)
    [finding] = ask(maker).slowdowns
    assert where(finding) == (revision_of(24), revision_of(25))


def test_newest_slowdowns_come_first_those_of_one_build_by_size(maker):
    points = [make_point("pencil", exchange, (64, 64, 64), 2) for exchange in ("alltoallv", "p2p", "shared")]
    for seed, (point, steps) in enumerate(zip(points, ({20: 1.3}, {30: 1.06}, {30: 1.12}), strict=True)):
        maker.builds(point, 45, stepping(steps, seed), launches=1)
    history = ask(maker)
    assert [one.series.keys["exchange"] for one in history.slowdowns] == ["shared", "p2p", "alltoallv"]
    assert [one.series.keys["exchange"] for one in history.judged] == ["shared", "p2p", "alltoallv"]


def test_a_change_of_machine_is_drawn_and_never_crossed(maker):
    maker.builds(POINT, 40, stepping({20: 1.5}), cpu=lambda build: "Old 1" if build < 20 else "New 2")
    history = ask(maker)
    assert len(history.judged) == 2
    assert history.findings == []
    assert {place.text for place in history.places.values()} == {"Old 1, 8 cores", "New 2, 8 cores"}
    assert [one.field for one in history.differences] == ["cpu_model"]
    assert len({one.series.place for one in history.judged}) == 2
    assert all(one.series.place.startswith("machine ") for one in history.judged)
    assert command(maker) == 0
    assert "measured elsewhere from here" in (maker.archive.parent / "history.html").read_text()


def test_simulated_launches_are_no_history(maker):
    maker.builds(POINT, 20, noisy(1.0), flags=lambda build: ["simulated"] if build % 2 else [], launches=1)
    [judged] = ask(maker).judged
    assert len(judged.series.builds) == 10


def test_a_slowdown_that_was_made_up_for_does_not_count(maker):
    maker.builds(POINT, 60, stepping({20: 1.1, 40: 1 / 1.1}), launches=1)
    history = ask(maker)
    assert history.slowdowns == []
    found = [(one.kind, one.standing) for one in history.findings if one.kind != "small"]
    assert found == [("slowdown", False), ("improvement", True)]
    assert "made up for since" in history_text(history)


def test_a_slow_drift_is_reported_as_one(maker):
    value = noisy(1.0)
    maker.builds(POINT, 60, lambda build, launch: value(build, launch) * 1.002**build, launches=1)
    [finding] = ask(maker).findings
    assert finding.drift
    assert finding.counts
    assert finding.ratio == pytest.approx(1.002**59, abs=0.02)
    assert where(finding) == (revision_of(0), revision_of(59))


def test_changes_below_the_margin_do_not_count(maker):
    maker.builds(POINT, 60, stepping({30: 1.01}, noise=0.001), launches=1)
    history = ask(maker)
    assert [one.kind for one in history.findings] == ["small"]
    assert [one.kind for one in ask(maker, margin=0.005).findings] == ["slowdown"]


def test_a_bimodal_series_is_named_and_never_counts(maker):
    value = noisy(1.0, noise=0.003)

    def two_modes(build: int, launch: int) -> float:
        by_chance = 1.08 if np.random.default_rng((9, build, launch)).random() < 0.5 else 1.0
        return value(build, launch) * by_chance * (1.2 if build >= 30 else 1.0)

    maker.builds(POINT, 60, two_modes)
    history = ask(maker)
    assert [one.bimodal for one in history.judged] == [True]
    assert history.slowdowns == []
    assert any(one.ratio == pytest.approx(1.2, abs=0.05) for one in history.findings)
    assert "bimodal: counts for nothing" in history_text(history)


def test_an_acknowledged_change_is_shown_with_its_reason_and_does_not_count(maker, capsys):
    maker.builds(POINT, 40, stepping({25: 1.08}), launches=1)
    maker.builds(OTHER, 40, stepping({25: 1.08}, 2), launches=1)
    acknowledged = [acknowledgement(24, 25, variant="pen*", ranks="2")]
    history = ask(maker, acknowledgements=acknowledged)
    assert [one.series.keys["variant"] for one in history.slowdowns] == ["slab"]
    assert "acknowledged: more accurate (expected.toml:7)" in history_text(history)
    both = context(maker, acknowledgements=[acknowledgement(25, 25)])
    assert command(maker, "--fail-on-slowdown") == 1
    assert command(maker, "--fail-on-slowdown", both) == 0
    assert "0 slowdowns to look at; also: 2 acknowledged" in capsys.readouterr().out


def test_an_acknowledgement_of_other_revisions_changes_nothing_and_is_named(maker):
    maker.builds(POINT, 40, stepping({25: 1.08}), launches=1)
    history = ask(maker, acknowledgements=[acknowledgement(3, 20)])
    assert len(history.slowdowns) == 1
    assert history.notes == ["expected.toml:7: acknowledges no change"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"first": "0123456789"}, "first: '0123456789' is no revision"),
        ({"first": revision_of(4), "last": revision_of(3)}, "the revision of 'first' comes after that of 'last'"),
        ({"series": {"variand": "pencil"}}, "'variand' is no key of any series"),
    ],
)
def test_an_acknowledgement_that_cannot_be_is_an_error_with_file_and_line(maker, wrong, said, capsys):
    maker.builds(POINT, 6, noisy(1.0), launches=1)
    assert command(maker, context(maker, acknowledgements=[acknowledgement(1, 2) | wrong])) == 2
    error = capsys.readouterr().err
    assert "expected.toml:7: " in error
    assert said in error


def test_revisions_stand_in_the_order_of_the_repository(maker):
    """Measured from the newest to the oldest, as who looks for a cause does."""
    maker.builds(POINT, 40, stepping({25: 1.08}), launches=1, day=lambda build: 100 - build)
    in_order = [revision_of(build) for build in range(40)]
    [finding] = ask(maker, revisions=in_order, repository="here").slowdowns
    assert where(finding) == (revision_of(24), revision_of(25))
    [finding] = ask(maker).findings
    assert finding.kind == "improvement"


def test_a_repository_without_the_revisions_is_refused_and_one_with_some_is_reported(maker, capsys):
    maker.builds(POINT, 12, noisy(1.0), launches=1)
    assert command(maker, context(maker, repository="elsewhere", revisions=["f" * 40])) == 2
    assert "--repo elsewhere has none of the 12 revisions of the archive" in capsys.readouterr().err
    history = ask(maker, revisions=[revision_of(build) for build in range(10)], repository="here")
    assert [build.revision for build in history.builds] == [revision_of(build) for build in range(12)]
    [note] = history.notes
    shown = ", ".join(revision_of(build)[:10] for build in (10, 11))
    assert note == f"2 of 12 revisions are not in here and stand where they were measured: {shown}"
    [note] = ask(maker, revisions=[revision_of(build) for build in range(8)], repository="here").notes
    assert note.startswith("4 of 12 revisions")
    assert note.endswith(f": {', '.join(revision_of(build)[:10] for build in (8, 9, 10))} ...")


def test_dirty_and_unknown_builds_are_shown_where_they_belong(maker):
    maker.builds(POINT, 3, noisy(1.0), launches=1)
    maker.launch(POINT, 50, 0, 1.0, revision=revision_of(1), dirty=True, day=20)
    maker.launch(POINT, 51, 0, 1.0, revision="unknown", day=0.5)
    history = ask(maker)
    names = [build.name for build in history.builds]
    assert names[0] == revision_of(0)[:10]
    assert names[1].startswith("unknown (build ")
    assert names[2:] == [revision_of(1)[:10], f"{revision_of(1)[:10]} with changes", revision_of(2)[:10]]


def test_a_revision_is_found_by_its_beginning_where_that_is_clear():
    revisions = Revisions(["abcdef0123", "abcdef0199", "1234567890"])
    assert revisions.place("1234567") == 2
    assert revisions.place("abcdef01") is None
    assert revisions.place("123456") is None


def test_one_revision_alone_has_no_change(maker, capsys):
    maker.builds(POINT, 1, noisy(1.0))
    assert command(maker, "--fail-on-slowdown") == 0
    said = capsys.readouterr().out
    assert "0 slowdowns to look at; also: 1 series of one build" in said


def test_an_archive_without_times_is_refused(maker, tmp_path, capsys):
    (tmp_path / "archive" / "records").mkdir(parents=True)
    assert command(maker) == 2
    assert "holds no record yet" in capsys.readouterr().err
    file = maker.launch(POINT, 0, 0, 1.0)
    file.write_text(file.read_text().replace('"status":"ok"', '"status":"wrong"'))
    assert command(maker) == 2
    assert "has a time: 1 wrong" in capsys.readouterr().err


@pytest.mark.parametrize("time", ["NaN", "null", "0", "-1.0", '"1"'])
def test_a_time_that_is_none_is_named_and_left_out(maker, time, capsys):
    maker.builds(POINT, 12, noisy(1.0), launches=1)
    file = maker.launch(POINT, 5, 3, 1.0)
    record = json.loads(file.read_text())
    record["samples"]["time_s"] = "HERE"
    file.write_text(json.dumps(record).replace('"HERE"', f"[{time}, 1.0, 1.0]"))
    assert command(maker) == 0
    assert f"{file.relative_to(maker.archive)} is not used" in capsys.readouterr().err


def test_series_are_chosen_by_patterns_of_their_keys(maker, capsys):
    maker.builds(POINT, 3, noisy(1.0), launches=1)
    maker.builds(OTHER, 3, noisy(1.0), launches=1)
    assert [one.series.keys["variant"] for one in ask(maker, series={"exchange": "all*"}).judged] == ["pencil"]
    assert command(maker, "--series", "variant=node") == 2
    assert "is variant=node" in capsys.readouterr().err
    assert command(maker, "--series", "colour=red") == 2
    assert "--series: 'colour' is no key of any series here; there are:" in capsys.readouterr().err


def test_titles_name_what_tells_series_apart(maker):
    for precision in ("double", "single"):
        point = make_point("pencil", "alltoallv", (64, 64, 64), 2, precision=precision)
        maker.builds(point, 2, noisy(1.0), launches=1)
    titles = {one.series.title for one in ask(maker).judged}
    assert titles == {"pencil/alltoallv at 64³, 2 ranks; double", "pencil/alltoallv at 64³, 2 ranks; single"}


def test_json_has_every_launch_with_its_record(maker):
    maker.builds(POINT, 14, stepping({7: 1.3}))
    data = json.loads(json.dumps(history_json(ask(maker))))
    [series] = data["series"]
    assert [len(build["launches"]) for build in series["builds"]] == [3] * 14
    records = [one["record"] for build in series["builds"] for one in build["launches"]]
    assert len(set(records)) == 42
    assert all((maker.archive / record).is_file() for record in records)
    [finding] = series["findings"]
    assert (finding["before"]["revision"], finding["after"]["revision"]) == (revision_of(6), revision_of(7))
    assert finding["counts"]


def test_a_retried_launch_that_failed_is_no_result(maker):
    file = maker.launch(POINT, 0, 0, 1.0)
    failed = json.loads(file.read_text())
    failed["verdict"]["status"] = "failed"
    del failed["samples"]
    file.write_text(json.dumps(failed))
    again = maker.launch(POINT, 0, 1, 1.0)
    record = json.loads(again.read_text())
    record["campaign"]["retry_of"] = 0
    again.write_text(json.dumps(record))
    assert ask(maker).ended == {}


def test_the_repository_may_hold_a_hundred_thousand_revisions():
    names = [f"{number:040x}" for number in range(100_000)]
    revisions = Revisions(names)
    assert revisions.place(names[77_777]) == 77_777


def test_wrong_options_are_reported_with_what_is_expected(maker, tmp_path, capsys):
    maker.builds(POINT, 2, noisy(1.0), launches=1)
    for wrong in (["--series", "variant"], ["--margin", "-1"], ["--margin", "x"]):
        with pytest.raises(SystemExit) as ended:
            command(maker, *wrong)
        assert ended.value.code == 2
    assert command(maker, "--json", str(tmp_path / "history.html")) == 2
    assert command(maker, "--json", str(tmp_path / "none" / "h.json")) == 2
    assert "no folder" in capsys.readouterr().err


def test_the_archive_of_another_is_refused(tmp_path):
    with pytest.raises(InputError, match="no archive at"):
        read_history(Path(tmp_path / "none"), Question())


def test_texts_of_records_are_shown_and_never_obeyed(maker):
    hostile = "</script><script>alert(1)</script>$x_"
    point = make_point(hostile, "p2p", (64, 64, 64), 2)
    maker.builds(point, 14, stepping({7: 1.3}), launches=1)
    assert command(maker) == 0
    page = (maker.archive.parent / "history.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
