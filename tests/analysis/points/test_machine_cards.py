"""A card for each machine: what it has of the records, and how machines are named and told apart."""

import pytest
from fourscore_analysis.points.machine_cards import machine_cards
from synthetic import ETHERNET, Maker, component_records, elsewhere, make_point, read_back, simulated_records


def test_a_card_has_what_the_records_say_of_the_machine():
    maker = Maker(isolate=False)
    records = [maker.ok(make_point(ranks=ranks), launch) for ranks in (4, 2) for launch in range(2)]
    [card] = machine_cards(read_back([*records, *component_records(maker, 1)]))
    assert card.name == "Imaginary 9000 @ 2.60GHz, 8 cores"
    assert (card.processor, card.cores, card.nodes, card.ranks) == ("Imaginary 9000 @ 2.60GHz", 8, 1, (1, 2, 4))
    assert (card.mpis, card.libraries) == (("Open MPI v4.1.4",), ("fftw-3.3.10-sse2-avx",))
    assert (card.compilers, card.revisions) == (("GNU 12.2.0",), ("3f2c9b1",))
    assert card.caches == "L1 32.0 KiB for 1, L2 1.00 MiB for 1, L3 32.0 MiB for 8"
    assert card.first < card.last
    assert card.real
    assert [one.what for one in card.reached] == ["memory", "flops", "exchange"]
    memory = card.reached[0]
    assert memory.rate.rate == pytest.approx(4e9)  # 8 GB/s over the root of 4 ranks
    assert memory.text == "4.00 GB/s a core (streaming-copy, 4 cores at once)"


def test_machines_of_one_name_are_told_apart_by_their_digest():
    maker = Maker(isolate=False)
    records = [maker.ok(make_point(), 0), elsewhere(maker.ok(make_point(), 1), {"memory_bytes": 50000000000})]
    cards = machine_cards(read_back(records))
    assert len({card.name for card in cards}) == 2
    assert all(card.name == f"Imaginary 9000 @ 2.60GHz, 8 cores ({card.digest[:6]})" for card in cards)


def test_simulated_and_emulated_machines_say_so():
    maker = Maker(isolate=False)
    point = make_point(platform="ethernet-100mbit")
    [card] = machine_cards(read_back(simulated_records(maker, [point], lambda _: 1e-3, ETHERNET)))
    assert (card.name, card.simulated, card.real) == ("simulated ethernet-100mbit", True, False)
    [described] = machine_cards(read_back([elsewhere(maker.ok(make_point(), 0), {"described_by": "HWLOC_SYNTHETIC"})]))
    [flagged] = machine_cards(read_back([maker.ok(make_point(), 0, flags=["emulated"])]))
    [partly] = machine_cards(read_back([maker.ok(make_point(), 0, flags=["emulated"]), maker.ok(make_point(), 1)]))
    assert (described.real, flagged.real, partly.real) == (False, False, True)


def test_a_machine_that_says_nothing_or_nonsense_has_a_card():
    machine = {"cpu_model": ["x"], "cores": "many", "caches": 3, "gpus": "none"}
    record = elsewhere(Maker().ok(make_point(), 0), machine, mpi=[], references=["a"], revision=3)
    [card] = machine_cards(read_back([record]))
    assert (card.name, card.cores, card.devices, card.mpis, card.revisions) == ("unknown", 0, (), (), ())


def test_launches_that_failed_make_no_card():
    assert machine_cards(read_back([Maker().ended(make_point(), 0, "failed", "it broke")])) == []
