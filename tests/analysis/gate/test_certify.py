"""Rates of error from comparisons whose truth is known: what was measured there, and what certifies nothing."""

from __future__ import annotations

import json

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.gate.rates import Share, kept_rates
from synthetic import CANDIDATE, Pairs, make_point, store

POINTS = [make_point(variant, "alltoallv", (128, 128, 128), 4) for variant in ("slab", "pencil")]
SLOWER = {"same": {}, "packed": {"pack": 3.0}, "exchanged": {"exchange": 2.0}}


def certification(archive, comparisons: list[tuple[str, float]], phase: str = "pack"):
    content = {
        "schema": "fourscore.certification",
        "schema_version": 1,
        "phase": phase,
        "machine_hash": "m" * 16,
        "comparisons": [{"name": name, "slower_percent": percent} for name, percent in comparisons],
    }
    file = archive / "certification.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


@pytest.fixture
def archive(tmp_path):
    """Three comparisons of two points: of the same, of a slower pack, and of a slower exchange."""
    for name, slower in SLOWER.items():
        pairs = Pairs(tmp_path / name)
        for point in POINTS:
            pairs.add(point, range(14), slower)
        for side in (pairs.archive / "records").iterdir():
            renamed = tmp_path / "records" / f"{side.name}-{name}"
            renamed.parent.mkdir(exist_ok=True)
            side.rename(renamed)
        ends = {
            end: {"campaign": f"{campaign}-{name}", "label": end, "code_hash": ""}
            for end, campaign in (("base", "gate-aaaaaaaa"), ("candidate", CANDIDATE))
        }
        pairs.archive = tmp_path
        pairs.comparison(14, name=name, **ends)
    return tmp_path


def certify(archive, comparisons, phase: str = "pack") -> int:
    return main(
        [
            "gate",
            "certify",
            "--archive",
            str(archive),
            "--certification",
            str(certification(archive, comparisons, phase)),
        ]
    )


def test_rates_are_counted_by_size_over_comparisons_series_and_phases(archive, capsys):
    comparisons = [("exchanged", 9.0), ("packed", 9.0), ("same", 0.0)]
    assert certify(archive, comparisons) == 0
    rates = kept_rates(archive, "m" * 16)
    assert [rate.slower_percent for rate in rates.rates] == [0.0, 9.0]
    same, slower = rates.rates
    assert (same.red, same.series, same.blamed) == (Share(0, 1), Share(0, 2), Share(0, 0))
    assert (slower.red, slower.series, slower.blamed) == (Share(2, 2), Share(4, 4), Share(2, 4))
    said = capsys.readouterr().out
    assert "2 of 2, 100 %" in said
    assert "2 of 4, 50 %" in said


def test_a_wrong_result_certifies_nothing(archive, capsys):
    [file, *_] = sorted((archive / "records" / f"{CANDIDATE}-packed").iterdir())
    record = json.loads(file.read_text())
    record["verdict"] |= {"status": "wrong", "reason": "error 1e-3"}
    del record["samples"]
    store(archive, record)
    file.write_text(json.dumps(record), encoding="utf-8")
    assert certify(archive, [("packed", 9.0)]) == 2
    assert "1 wrong (error 1e-3): a wrong result certifies nothing" in capsys.readouterr().err
    assert kept_rates(archive, "m" * 16) is None


@pytest.mark.parametrize(
    ("comparisons", "said"),
    [
        ([], "no comparison is finished"),
        ([("nowhere", 1.0)], "No such file"),
        ([("../same", 1.0)], "not starting with - or ."),
        ([("same", "much")], "slower_percent: expected a number, found 'much'"),
    ],
)
def test_what_cannot_be_counted_is_refused(archive, capsys, comparisons, said):
    assert certify(archive, comparisons) == 2
    assert said in capsys.readouterr().err
