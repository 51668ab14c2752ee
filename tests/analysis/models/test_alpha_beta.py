"""alpha and beta come back from times that were made of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from fourscore_analysis.models.alpha_beta import WORD_BYTES, alpha_betas, estimate, line, of_exchanges
from fourscore_analysis.records.basics import Place

SIZES = [8 * 4**i for i in range(12)]
ALPHA_S, BETA = 2e-6, 5e9
FOUR_RANKS = Place(4)


@dataclass
class Bench:
    kernel: str
    phase: str
    size: float
    time_s: tuple[float, ...]
    steps: float = 1

    def label(self, name: str) -> str:
        return self.phase if name == "phase" else ""

    def number(self, name: str) -> float | None:
        return {"size_bytes": self.size, "steps": self.steps}.get(name)


@dataclass
class Run:
    benchmarks: list[Bench]
    component: str = "pairwise_bench"
    place: Place = FOUR_RANKS
    machine_hash: str = "m"


def launch(seed: int, noise: float = 0.0, repetitions: int = 5, steps: float = 1, kernel: str = "sendrecv") -> Run:
    drawn = random.Random(seed)

    def time(size: float) -> float:
        return steps * (ALPHA_S + size / BETA) * (1 + noise * drawn.uniform(-1, 1))

    return Run([Bench(kernel, "1", size, tuple(time(size) for _ in range(repetitions)), steps) for size in SIZES])


def test_a_line_without_noise_is_found_exactly() -> None:
    alpha, byte = line(SIZES, [ALPHA_S + size / BETA for size in SIZES])
    assert alpha == pytest.approx(ALPHA_S, rel=1e-9)
    assert 1 / byte == pytest.approx(BETA, rel=1e-9)


def test_large_messages_do_not_drown_the_latency() -> None:
    """5 % more time for the largest message is 100 times alpha, and alpha hardly moves."""
    times = [ALPHA_S + size / BETA for size in SIZES]
    times[-1] *= 1.05
    alpha, _ = line(SIZES, times)
    assert alpha == pytest.approx(ALPHA_S, rel=0.01)


def test_the_interval_over_launches_holds_the_truth_and_narrows_with_their_number() -> None:
    few, many = ([launch(seed, noise=0.1) for seed in range(count)] for count in (3, 12))
    (three,), (twelve,) = alpha_betas(few), alpha_betas(many)
    assert three.of_launches
    assert (three.replicates, twelve.replicates) == (3, 12)
    low, high = twelve.alpha_s.interval
    assert low < ALPHA_S < high
    assert low < twelve.alpha_s.value < high
    assert high - low < three.alpha_s.interval[1] - three.alpha_s.interval[0]
    assert twelve.beta == pytest.approx(BETA, rel=0.05)
    assert twelve.worst < 0.15


def test_the_repetitions_of_a_single_launch_are_the_replicates() -> None:
    (found,) = alpha_betas([launch(3, noise=0.05, repetitions=7)])
    assert not found.of_launches
    assert found.replicates == 7
    assert found.alpha_s.interval is not None
    (alone,) = alpha_betas([launch(3, repetitions=1)])
    assert alone.alpha_s.interval is None
    assert alone.as_json()["alpha_interval_s"] is None


def test_a_round_trip_is_two_messages() -> None:
    (found,) = alpha_betas([launch(1, steps=2, kernel="pingpong")])
    assert found.kernel == "pingpong"
    assert found.alpha_s.value == pytest.approx(ALPHA_S, rel=1e-6)


def test_kernels_phases_ranks_and_machines_are_kept_apart() -> None:
    two = launch(1)
    two.benchmarks += launch(1, kernel="pingpong", steps=2).benchmarks
    two.benchmarks += [Bench("sendrecv", "0", b.size, b.time_s) for b in launch(2).benchmarks]
    other = launch(1)
    other.machine_hash = "n"
    found = alpha_betas([two, other])
    assert [(f.machine_hash, f.kernel, f.phase) for f in found] == [
        ("m", "pingpong", "1"), ("m", "sendrecv", "0"), ("m", "sendrecv", "1"), ("n", "sendrecv", "1")]  # fmt: skip


def test_the_words_are_those_of_the_papers() -> None:
    (found,) = alpha_betas([launch(1)])
    assert found.t_s == pytest.approx(ALPHA_S)
    assert found.t_w == pytest.approx(WORD_BYTES / BETA)
    content = found.as_json()
    assert content["beta_bytes_per_s"] == pytest.approx(BETA)
    assert content["phase"] == 1
    assert content["beta_interval"][0] <= content["beta_bytes_per_s"] * (1 + 1e-9)


def test_two_sizes_make_a_line_and_its_interval_is_students() -> None:
    """Three launches with 1, 2 and 3 us and 4, 5 and 6 ns a byte: t of 97.5 % at two degrees of freedom is 4.303."""

    def launches(spread: float) -> list[Run]:
        made = []
        for number in (-1, 0, 1):
            times = {size: (2 + number) * 1e-6 + (5 + spread * number) * 1e-9 * size for size in (1000, 8000)}
            made.append(Run([Bench("sendrecv", "0", size, (time,)) for size, time in times.items()]))
        return made

    (found,) = alpha_betas(launches(1))
    half = 4.30265 / 3**0.5
    assert found.alpha_s.interval == pytest.approx((2e-6 - half * 1e-6, 2e-6 + half * 1e-6), rel=1e-4)
    assert found.byte_s.interval == pytest.approx((5e-9 - half * 1e-9, 5e-9 + half * 1e-9), rel=1e-4)
    content = found.as_json()
    assert content["beta_bytes_per_s"] == pytest.approx(2e8)
    assert content["beta_interval"] == pytest.approx([1e9 / (5 + half), 1e9 / (5 - half)], rel=1e-4)
    assert (content["replicates"], content["replicates_are"], content["word_bytes"]) == (3, "launches", 16)
    (wide,) = alpha_betas(launches(4))  # a byte might take no time at all
    assert wide.as_json()["beta_interval"] is None


def test_exchanges_take_the_fit_on_the_most_ranks_that_are_there() -> None:
    def fitted(ranks: int, alpha_s: float, kernel: str = "sendrecv", phase: str = "0", **place) -> Run:
        benches = [Bench(kernel, phase, size, (alpha_s + size / BETA,)) for size in (1000, 8000)]
        return Run(benches, place=Place(ranks, **place))

    found = alpha_betas(
        [
            fitted(2, 1e-6),
            fitted(4, 2e-6),
            fitted(4, 4e-6, phase="1"),
            fitted(8, 8e-6),
            fitted(4, 9e-6, kernel="pingpong"),
            fitted(8, 16e-6, nodes=2),
        ]
    )
    for ranks, alpha_s in ((2, 1e-6), (4, 3e-6), (8, 8e-6)):  # the mean over phases
        assert of_exchanges(found, "m", Place(ranks)) == pytest.approx((alpha_s, 1 / BETA))
    assert of_exchanges(found, "m", Place(8, nodes=2)) == pytest.approx((16e-6, 1 / BETA))
    assert of_exchanges(found, "m", Place(1)) is None
    assert of_exchanges(found, "n", Place(4)) is None


def test_a_line_that_does_not_follow_is_named() -> None:
    run = launch(1)
    slow = run.benchmarks[6]
    run.benchmarks[6] = Bench(slow.kernel, slow.phase, slow.size, tuple(3 * time for time in slow.time_s))
    (found,) = alpha_betas([run])
    assert found.worst_bytes == SIZES[6]
    assert 0.3 < found.worst < 0.7


def test_one_size_and_other_programs_give_nothing() -> None:
    one = launch(1)
    one.benchmarks = one.benchmarks[:1]
    other = launch(1)
    other.component = "alltoall_bench"
    assert alpha_betas([one, other]) == []


def test_lines_and_estimates_of_nothing_are_refused() -> None:
    for sizes, times in (([8], [1.0]), ([8, 8], [1.0, 2.0]), ([8, 16], [1.0])):
        with pytest.raises(ValueError, match="a line through"):
            line(sizes, times)
    with pytest.raises(ValueError, match="not positive"):
        line([8, 16], [0.0, 1.0])
    with pytest.raises(ValueError, match="no values"):
        estimate([])
