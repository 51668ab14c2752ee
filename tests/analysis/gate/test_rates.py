"""Rates of error of the gate on one machine: as text, and as they are kept for the next comparison."""

import json

import pytest
from fourscore_analysis.gate.rates import Rate, Rates, Share, keep_rates, kept_rates, rates_json, sentence_of, text_of

RATES = Rates(
    "m" * 16,
    "pack",
    (
        Rate(0, Share(0, 10), Share(1, 200), Share(0, 0)),
        Rate(5, Share(9, 10), Share(29, 30), Share(27, 29)),
    ),
)


@pytest.mark.parametrize(
    ("share", "low", "high", "text"),
    [
        (Share(0, 10), 0.0, 0.3085, "0 of 10, 0 % [0, 31]"),  # 1 - 0.025^(1/10)
        (Share(10, 10), 0.6915, 1.0, "10 of 10, 100 % [69, 100]"),
        (Share(29, 30), 0.8278, 0.9992, "29 of 30, 97 % [83, 100]"),
        (Share(0, 0), 0.0, 1.0, "none of none"),
    ],
)
def test_a_share_has_the_interval_of_clopper_and_pearson(share, low, high, text):
    assert share.interval == pytest.approx((low, high), abs=1e-4)
    assert share.text() == text


def test_a_table_has_a_line_for_each_size_and_blame_only_where_something_was_slowed():
    head, columns, same, slower = text_of(RATES).splitlines()
    assert head == f"machine {'m' * 16}; slowed phase: pack; 95 % intervals"
    assert columns.split() == ["candidate", "comparisons", "red", "series", "called", "slower", "blame", "is", "right"]
    assert same.split("  ")[1] == "the same"
    assert same.endswith("1 of 200, 0 % [0, 3]          -")
    assert slower.startswith(
        "  5 % slower    9 of 10, 90 % [55, 100]     29 of 30, 97 % [83, 100]      27 of 29, 93 % ["
    )
    assert columns.index("comparisons") == same.index("0 of 10") == slower.index("9 of 10")


def test_every_report_has_a_sentence_of_them():
    assert sentence_of(RATES) == (
        "Certified on this machine: a build compared with itself was red in 0 of 10, 0 % [0, 31]; of series slower by "
        "5 % it found 29 of 30, 97 % [83, 100]."
    )
    assert [RATES.of(percent) for percent in (0, 5, 7)] == [*RATES.rates, None]


def test_what_is_kept_of_a_machine_is_read_again_and_of_no_other(tmp_path):
    file = keep_rates(tmp_path, RATES)
    assert file.parent.name == "certifications"
    assert kept_rates(tmp_path, RATES.machine_hash) == RATES
    assert kept_rates(tmp_path, "other") is None
    kept = json.loads(file.read_text())
    assert kept == json.loads(json.dumps(rates_json(RATES)))
    assert kept["rates"][1]["series"] == {"count": 29, "of": 30, "interval": [*Share(29, 30).interval]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": -1, "of": 3},
        {"count": 4, "of": 3},
        {"count": 1.5, "of": 3},
        {"of": 3},
        None,
    ],
)
def test_kept_rates_that_cannot_be_are_none(tmp_path, wrong):
    file = keep_rates(tmp_path, RATES)
    data = json.loads(file.read_text())
    data["rates"][0]["red"] = wrong
    file.write_text(json.dumps(data))
    assert kept_rates(tmp_path, RATES.machine_hash) is None


def test_kept_rates_of_another_schema_are_none(tmp_path):
    file = keep_rates(tmp_path, RATES)
    for key, value in (("schema", "fourscore.gate-plan"), ("schema_version", 2)):
        file.write_text(json.dumps(rates_json(RATES) | {key: value}))
        assert kept_rates(tmp_path, RATES.machine_hash) is None
    file.write_text("no JSON")
    assert kept_rates(tmp_path, RATES.machine_hash) is None
