"""Times of a record against those of its ranks: what agrees, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from fourscore_analysis.records.basics import check_slowest, check_spans, median_of
from fourscore_analysis.records.transforms import median_rows, parse_record
from fourscore_analysis.records.values import RecordError
from synthetic import Maker, canonical, make_point

OF_RANKS = np.array([[1.0, 2.0], [3.0, 1.0]])  # [rank][repetition]


@pytest.mark.parametrize(
    ("time_s", "synchronised", "said"),
    [
        ((3.0, 2.0), False, ""),
        ((3.0 + 1e-6, 2.0), False, ""),
        ((3.0 + 1e-4, 2.0), False, "a time is not that of the slowest rank"),
        ((3.0,), False, "samples disagree in size: 1 times, 2 of each rank"),
        ((3.0, 2.0), True, ""),
        ((4.0, 3.0), True, ""),
        ((4.0 * (1 + 1e-6), 3.0), True, ""),
        ((4.0 * (1 + 2e-6), 3.0), True, "a time is not between the slowest rank's and the sum over ranks"),
        ((3.5, 2.9), True, ""),
        ((2.9, 2.0), True, "a time is not between the slowest rank's and the sum over ranks"),
        ((3.5, 3.1), True, "a time is not between the slowest rank's and the sum over ranks"),
    ],
)
def test_a_time_is_that_of_the_slowest_rank_or_at_most_the_sum_where_iterations_were_synchronised(
    time_s, synchronised, said
):
    check = lambda: check_slowest(time_s, OF_RANKS, synchronised)  # noqa: E731
    if not said:
        check()
        return
    with pytest.raises(RecordError, match=said):
        check()


@pytest.mark.parametrize(
    ("time_s", "skew_s", "fits"),
    [
        ((3.0, 2.0), (0.0, 0.0), True),
        ((3.5, 2.0), (0.5, 0.0), True),
        ((3.5, 2.0), (0.4, 0.0), False),
        ((2.5, 2.0), (9.0, 0.0), False),
        ((3.0 + 1.9e-3, 2.0), (0.0, 0.0), True),  # the clock is known to 1 ms on both ends
        ((3.0 + 2.1e-3, 2.0), (0.0, 0.0), False),
        ((3.0 - 1.9e-3, 2.0), (0.0, 0.0), True),
        ((3.0 - 2.1e-3, 2.0), (0.0, 0.0), False),
        ((3.0, 2.0), (0.0,), False),
        ((3.0,), (0.0, 0.0), False),
    ],
)
def test_a_span_is_the_slowest_rank_and_at_most_the_skew_of_the_start(time_s, skew_s, fits):
    if fits:
        check_spans(time_s, OF_RANKS, skew_s, 1e-3)
        return
    with pytest.raises(RecordError, match="samples disagree"):
        check_spans(time_s, OF_RANKS, skew_s, 1e-3)


@pytest.mark.parametrize("clock", [None, {"uncertainty_s": 0.5}])
def test_a_span_of_a_record_is_held_to_the_clock_that_it_names(clock):
    record = Maker(isolate=False).ok(make_point(), 0)
    samples = record["samples"]
    samples |= {"time_is": "span", "start_skew_s": [0.0] * len(samples["time_s"])}
    samples.pop("clock", None)
    if clock:
        samples["clock"] = clock
    samples["time_s"] = [one + 0.9 for one in samples["time_s"]]
    if clock:
        assert parse_record(canonical(record), "a.json").time_s[0] > 0.9
    else:
        with pytest.raises(RecordError, match="not that of the slowest rank and the skew of the start"):
            parse_record(canonical(record), "a.json")


@pytest.mark.parametrize("with_skew", [True, False])
def test_the_time_of_the_longest_rank_is_held_to_that_whatever_the_skew(with_skew):
    record = Maker(isolate=False).ok(make_point(), 0)
    samples = record["samples"]
    samples["time_is"] = "longest rank"
    samples["time_s"] = np.max(samples["rank_total_s"], axis=0).tolist()
    samples["start_skew_s"] = [9.0] * len(samples["time_s"])
    if not with_skew:
        del samples["start_skew_s"]
    assert parse_record(canonical(record), "a.json").time_s == tuple(samples["time_s"])
    samples["time_s"][0] *= 1.01
    with pytest.raises(RecordError, match=r"a time is not that of the slowest rank$"):
        parse_record(canonical(record), "a.json")


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two():
    assert [median_of(values) for values in ([3.0], [4.0, 1.0], [9.0, 1.0, 2.0], [9.0, 1.0, 2.0, 4.0])] == [
        3,
        2.5,
        2,
        3,
    ]
    with pytest.raises(ValueError, match="no samples"):
        median_of([])
    rows = np.random.default_rng(1).random((3, 4, 5))
    assert np.array_equal(median_rows(rows), np.median(rows, axis=-1))
    assert np.allclose(median_rows(rows[..., :4]), np.median(rows[..., :4], axis=-1))
