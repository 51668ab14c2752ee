"""Several fields of one problem: in the record, in each order, and what cannot be."""

from __future__ import annotations

import math
import re

import pytest
from conftest import Bench, launched, skip_reason, skip_unless_here

QUICK = ("--planner", "estimate", "--repetitions", "3")
ORDERS = ("together", "in-turn", "pipelined")


PENCIL = ("--variant", "pencil", "--shape", "12x10x9", *QUICK)


def test_each_order_has_the_work_of_all_fields_and_messages_of_its_own(bench: Bench) -> None:
    orders = ((*PENCIL, "--fields", "3", "--isolate", "--timeline", "--field-order", order) for order in ORDERS)
    one, *all_orders = bench.records(PENCIL, *orders, ranks=3)
    assert not {"fields", "field_order"} & one["point"].keys()
    for order, three in zip(ORDERS, all_orders, strict=True):
        assert (three["point"]["fields"], three["point"]["field_order"]) == (3, order)
        assert three["credited_flops"] == pytest.approx(3 * 5 * 1080 * math.log2(1080))
        assert three["cost"]["flops"] == pytest.approx(3 * one["cost"]["flops"])
        assert three["cost"]["bytes_sent_per_rank"] == [3 * sent for sent in one["cost"]["bytes_sent_per_rank"]]
        times = 1 if order == "together" else 3
        assert three["cost"]["messages_per_rank"] == [times * sent for sent in one["cost"]["messages_per_rank"]]
        assert three["cost"]["model_messages_per_rank"] == times * one["cost"]["model_messages_per_rank"]
        for phase, least in one["cost"]["least_bytes_per_rank"].items():
            assert three["cost"]["least_bytes_per_rank"][phase] == [3 * of_rank for of_rank in least]
        assert three["memory"]["local_data_bytes"] == [3 * held for held in one["memory"]["local_data_bytes"]]
        assert three["memory"]["plan_bytes"] == [3 * held for held in one["memory"]["plan_bytes"]]
        names = {check["name"] for check in three["verification"]["checks"]}
        assert {"plane-waves", "message-volume", "impulse", "dft", "inverse", "last-timed-run", "each-run"} <= names


def test_equal_points_of_one_field_are_one(bench: Bench) -> None:
    one = (*PENCIL, "--fields", "1", "--field-order", "pipelined")
    three = (*PENCIL, "--fields", "3", "--field-order", "together")
    plain, same, other = (record["point_id"] for record in bench.records(PENCIL, one, three, ranks=2))
    assert same == plain != other


REAL = (*PENCIL, "--kind", "r2c", "--direction", "roundtrip", "--instances", "2", "--precision", "single", "--fields", "3")


@launched(2, *((*REAL, "--field-order", order) for order in ORDERS))
def test_fields_of_real_data_go_there_and_back_in_several_instances(record: dict) -> None:
    assert record["credited_flops"] == pytest.approx(2 * 2 * 3 * 2.5 * 1080 * math.log2(1080))
    assert len(record["samples"]["instance_time_s"]) == 2
    assert all(0 < half < whole for half, whole in zip(record["samples"]["forward_s"], record["samples"]["time_s"]))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--fields", "0"), r"--fields '0': expected an integer from 1 to 64"),
        (("--fields", "65"), r"--fields '65': expected an integer from 1 to 64"),
        (("--fields", "three"), r"--fields 'three': expected an integer from 1 to 64"),
        (("--field-order", "in-turns"), r"--field-order 'in-turns', did you mean 'in-turn'\?: expected one of together"),
    ],
)
def test_what_is_no_number_or_order_of_fields_is_refused(bench: Bench, asked: tuple[str, ...], said: str) -> None:
    assert re.search(said, bench.refused("--variant", "slab", "--shape", "8x8x8", *asked))


@pytest.mark.parametrize(
    ("variant", "order", "said"),
    [
        ("node", "together", "expected the order in-turn or pipelined"),
        ("fftw-mpi", "pipelined", "runs each as a whole: expected the order in-turn"),
    ],
)
def test_an_order_that_a_variant_has_not_is_skipped(bench: Bench, variant: str, order: str, said: str) -> None:
    asked = ("--variant", variant, "--shape", "8x8x8", "--fields", "3", "--field-order", order)
    record = bench.record(*asked, ranks=2, faulty=False)
    skip_unless_here(record["verdict"])
    assert said in skip_reason(record)


LARGE = ("--variant", "pencil", "--shape", "2048x1024x1024", "--fields", "64", "--field-order")


@launched(2, *((*LARGE, order) for order in ORDERS))
def test_fields_that_do_not_fit_the_memory_are_skipped_with_both_numbers(record: dict) -> None:
    # Two arrays of 64 fields of 32 GiB, and the inverse's.
    expected = r"need at least 8.00 TiB, and [\d.]+ \w+ can be had of"
    assert re.search(expected, skip_reason(record))


@launched(2, ("--variant", "slab", "--shape", "8x8x8", "--fields", "3", "--direction", "convolution"))
def test_a_convolution_takes_one_field(record: dict) -> None:
    assert "a convolution of 3 fields" in skip_reason(record)
