"""Verdicts in words: percentages with as many digits as mean something."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from fourscore_analysis.gate.blame import PhaseChange
from fourscore_analysis.gate.sentences import blame_sentence, change_text, sentence, share_text
from fourscore_analysis.gate.verdict import NO_CHANGE, REGRESSION, UNDECIDED, Verdict


@pytest.mark.parametrize(
    ("ratio", "interval", "text"),
    [
        (1.31, (1.27, 1.35), "+31 % [27, 35]"),
        (1.024, (1.011, 1.038), "+2.4 % [1.1, 3.8]"),
        (1.0994, None, "+9.9 %"),
        (1.0996, None, "+10 %"),
        (0.9, (0.85, 1.001), "-10 % [-15, 0]"),
        (0.9999, (0.999, 1.0001), "+0.0 % [-0.1, 0.0]"),
    ],
)
def test_a_change_has_a_sign_and_its_interval(ratio, interval, text):
    assert change_text(ratio, interval) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.05, "5 %"),
        (0.024, "2.4 %"),
        (0.0204, "2 %"),
        (0.0206, "2.1 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.123, "12 %"),
    ],
)
def test_a_share_has_a_decimal_only_where_it_is_small_and_not_whole(share, text):
    assert share_text(share) == text


@pytest.mark.parametrize(
    ("word", "has_change", "could_be_seen"),
    [(UNDECIDED, True, True), (UNDECIDED, False, False), (REGRESSION, True, False), (NO_CHANGE, True, False)],
)
def test_only_what_is_not_decided_says_what_would_have_been_seen(word, has_change, could_be_seen):
    change = SimpleNamespace(
        ratio=1.1, interval=None, base_s=1e-3, candidate_s=1.1e-3, launches=(14, 14), alike_within=0.02
    )
    series = SimpleNamespace(title="slab at 64³", paired=True)
    one = Verdict(series, word, "a reason", change if has_change else None, detectable=0.08, pairs_needed=40)
    said = sentence(one)
    assert ("a slowdown of 8 % would have been seen (80 %); 5 % takes about 40 pairs" in said) is could_be_seen
    assert ("+10 %, 1.00 ms to 1.10 ms, 14 pairs" in said) is has_change
    assert (", within 2 %" in said) is (word == NO_CHANGE)
    assert said.startswith("slab at 64³: ")
    assert said.endswith("a reason")


@pytest.mark.parametrize(
    ("word", "interval", "detectable", "hides", "by_power"),
    [
        ("regression", (1.1, 1.3), 0.08, 0, 0),
        ("improvement", (0.7, 0.9), 0.08, 0, 0),
        ("undecided", (0.9, 1.03), 0.08, 0.03, 0.08),
        ("undecided", (0.9, 1.3), 0.08, 0.08, 0.08),
        ("undecided", (0.7, 0.9), 0.08, 0, 0.08),
        ("undecided", None, 0.08, 0.08, 0.08),
        ("no change", (0.99, 1.01), 0.08, 0.01, 0.08),
        ("bimodal", (0.99, 1.01), 0.08, math.inf, math.inf),
        ("not comparable", (0.99, 1.01), 0.08, math.inf, math.inf),
    ],
)
def test_a_series_may_hide_what_its_interval_and_its_power_do_not_exclude(word, interval, detectable, hides, by_power):
    one = Verdict(SimpleNamespace(), word, change=SimpleNamespace(interval=interval), detectable=detectable)
    assert (one.could_hide(), one.could_hide(by_power=True)) == pytest.approx((hides, by_power))


@pytest.mark.parametrize(("runs", "hides"), [([], 0), (["a launch"], math.inf)])
def test_what_the_base_never_had_hides_nothing(runs, hides):
    assert Verdict(SimpleNamespace(base=SimpleNamespace(runs=runs)), "missing").could_hide() == hides


def phase(name: str, word: str, ratio: float | None = 1.31) -> PhaseChange:
    return PhaseChange(name, word, ratio, (1.27, 1.35) if ratio else None, 0.01, 1e-3, 1e-3, 2e-3)


def test_at_most_three_phases_are_blamed_and_what_did_not_change_is_named():
    phases = [
        phase("pack", "slower"),
        phase("h2d", "slower", None),
        phase("unpack", "cannot tell"),
        phase("fft", "slower"),
        phase("twiddle", "unchanged"),
        phase("exchange", "unchanged"),
        phase("the rest", "not tested", None),
    ]
    assert blame_sentence(SimpleNamespace(phases=phases)) == (
        "pack +31 % [27, 35]; h2d 1.00 ms to 2.00 ms; unpack +31 % [27, 35] (not told from none); exchange, twiddle "
        "unchanged"
    )
    assert blame_sentence(SimpleNamespace(phases=[])) == ""
