"""The models' terms are the papers' equations, and count what the programs count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fourscore_analysis.models.base import models, predict
from fourscore_analysis.models.parts import copied, sent
from fourscore_analysis.models.work import (
    default_grid,
    exchanges,
    fft_flops,
    log2_parts,
    pairwise_steps,
    pencil_cuts,
    pipelined_fields,
    words_combined,
)
from fourscore_papers.czechowski2012 import equations as czechowski2012
from fourscore_papers.gupta1993 import equations as gupta1993
from fourscore_papers.haynes2000 import equations as haynes2000
from synthetic.modelled import TRUE, question

PAPER = {"compute": "sum", "memory": "paper", "lengths": "paper", "network": "full", "messages": "paper"}


def with_fields(one, fields, order):
    contract = replace(one.contract, fields=fields)
    return replace(one, cell=replace(one.cell, contract=contract), method=replace(one.method, field_order=order))


def predicted(name, one, **forms):
    model = models()[name]
    return predict(model, one, TRUE, model.default_forms() | forms)


@pytest.mark.parametrize(("n", "ranks"), [(64, 4), (256, 16), (1024, 64)])
def test_czechowski2012_as_printed_is_equations_1_2_3_and_8(n, ranks):
    edge = int(ranks**0.5)
    found = predicted("czechowski2012", question("pencil", (n,) * 3, ranks, nodes=ranks, grid=(edge, edge)), **PAPER)
    flops = czechowski2012.flops_time_s(n, ranks, TRUE["flop_rate"])
    memory = czechowski2012.memory_time_s(
        n, ranks, TRUE["memory_bandwidth"], TRUE["cache_bytes"], TRUE["memory_constant"]
    )
    assert found.phases["fft"] == pytest.approx(flops + memory)
    assert found.phases["shuffle"] == pytest.approx(czechowski2012.shuffle_time_s(n, ranks, TRUE["memory_bandwidth"]))
    # The paper sends to all, oneself included: among edge of them that is 1/edge too much.
    everything = czechowski2012.network_time_s(n, ranks, TRUE["link_bandwidth"], czechowski2012.FULLY_CONNECTED)
    assert found.phases["exchange"] == pytest.approx(everything * (1 - 1 / edge))


@pytest.mark.parametrize(
    ("network", "kappa"),
    [
        ("bisection", czechowski2012.torus_bisection(3)),
        ("ideal", czechowski2012.torus_ideal(3)),
        ("torus-4", czechowski2012.torus_bisection(4)),
        ("torus-6", czechowski2012.torus_bisection(6)),
    ],
)
def test_a_torus_is_slower_than_a_full_network_as_equations_4_and_5_say(network, kappa):
    one = question("pencil", (512,) * 3, 64, nodes=64, grid=(8, 8))
    full = predicted("czechowski2012", one, **PAPER).phases["exchange"]
    torus = predicted("czechowski2012", one, **(PAPER | {"network": network})).phases["exchange"]
    assert torus / full == pytest.approx(64 ** (1 - kappa))


def test_max_takes_the_larger_of_flops_and_memory():
    one = question("pencil", (256,) * 3, 1)
    most = predicted("czechowski2012", one, **(PAPER | {"compute": "max"})).phases["fft"]
    flops = czechowski2012.flops_time_s(256, 1, TRUE["flop_rate"])
    memory = czechowski2012.memory_time_s(256, 1, TRUE["memory_bandwidth"], TRUE["cache_bytes"], 6.3)
    assert most == pytest.approx(max(flops, memory))


def test_an_accelerator_has_the_copies_of_equation_9_around_every_compute_phase():
    one = question("pencil", (256,) * 3, 16, nodes=16, grid=(4, 4))
    found = predicted("czechowski2012", one, accelerator="copies").phases
    assert found["h2d"] + found["d2h"] == pytest.approx(3 * czechowski2012.pcie_time_s(256, 16, TRUE["pcie_bandwidth"]))


@pytest.mark.parametrize("ranks", [2, 8, 64])
def test_haynes2000_is_equations_4_and_5(ranks):
    for variant, equation in (("rods", haynes2000.traditional_time_s), ("danielson-lanczos", haynes2000.new_time_s)):
        one = question(variant, (64,) * 3, ranks, nodes=ranks)
        found = predicted("haynes2000", one).phases["exchange"]
        assert found == pytest.approx(equation(64**3, ranks, TRUE["latency"], TRUE["link_bandwidth"]))


@pytest.mark.parametrize(("wires", "times"), [("torus", 1), ("mesh", 2)])
def test_eleftheriou2005_is_hops_over_links_and_twice_that_without_wrap_around(wires, times):
    """A plane of 4 x 2 nodes has an edge of 4, which takes p/8 of a link's time: its 8 ranks, the 4 of 2 x 2, and 2."""
    one = question("volumetric", (64,) * 3, 16, nodes=16, grid=(4, 2, 2))
    share = 64**3 * 16 / 16
    hops = share * (1 / 2 * 2 + 3 / 4 * 2 + 7 / 8 * 4) / 8  # what a rank sends to the others, by the edge
    software = (1 + 3 + 7) * TRUE["overhead"]
    found = predicted("eleftheriou2005", one, wires=wires).phases["exchange"]
    assert found == pytest.approx(times * hops / TRUE["link_bandwidth"] + software)


def test_eleftheriou2005_computes_by_cycles_as_the_paper_counts_them():
    one = question("volumetric", (64, 32, 16), 8, nodes=8, grid=(2, 2, 2))
    found = predicted("eleftheriou2005", one, cycles="paper").phases["fft"]
    assert found == pytest.approx(8 * 64 * 32 * 16 / 8 * (6 + 5 + 4) / TRUE["cycle_rate"])


@pytest.mark.parametrize("ranks", [2, 16, 256])
def test_gupta1993_is_its_overhead_over_p_and_t_c_for_each_butterfly(ranks):
    machine = gupta1993.Machine(TRUE["butterfly_time"], TRUE["word_time"], TRUE["startup_time"])
    n = 2**20
    forms = {"butterflies": "paper"}
    one = question("binary-exchange", (n,), ranks, nodes=ranks, exchange="none")
    found = predicted("gupta1993", one, **forms)
    work = gupta1993.work(machine, n)
    assert found.phases["fft"] + found.phases["combine"] == pytest.approx(work / ranks)
    assert found.phases["exchange"] * ranks == pytest.approx(gupta1993.hypercube_overhead(machine, n, ranks))
    mesh = predicted("gupta1993", one, topology="mesh", **forms).phases["exchange"]
    words = mesh - TRUE["startup_time"] * ranks.bit_length() + TRUE["startup_time"]
    assert words == pytest.approx(2 * TRUE["word_time"] * n / ranks**0.5)


@pytest.mark.parametrize(
    ("variant", "grid", "ranks", "layout", "groups"),
    [
        ("serial", (), 1, "natural", []),
        ("slab", (), 4, "transposed", [4]),
        ("slab", (), 4, "natural", [4, 4]),
        ("pencil", (4, 2), 8, "transposed", [2, 4]),
        ("pencil", (8, 1), 8, "transposed", [8]),
        ("volumetric", (4, 2, 2), 16, "transposed", [2, 4, 8]),
        ("rods", (), 4, "transposed", [4, 4]),
        ("transpose", (4,), 4, "natural", [4, 4]),
        ("danielson-lanczos", (), 8, "transposed", [2, 2, 2]),
        ("binary-exchange", (), 8, "natural", [2] * 6),
    ],
)
def test_exchanges_are_those_of_the_cards_of_the_variants(variant, grid, ranks, layout, groups):
    shape = (2**20,) if variant in ("transpose", "binary-exchange") else (64, 64, 64)
    assert [one.group for one in exchanges(question(variant, shape, ranks, grid=grid, layout=layout))] == groups


def test_bytes_and_messages_are_those_that_a_record_declares():
    """Records of pencil at 64^3 on 2 ranks and 1-D transforms of 4096 on 2, as fft_bench counts them."""
    [sent] = exchanges(question("pencil", (64, 64, 64), 2, grid=(2, 1)))
    assert (sent.bytes, sent.messages) == (1048576, 1)
    [sent] = exchanges(question("binary-exchange", (4096,), 2, exchange="none"))
    assert (sent.bytes, sent.messages) == (32768, 1)
    [sent] = exchanges(question("transpose", (4096,), 2, grid=(2,)))
    assert (sent.bytes, sent.messages) == (16384, 1)


@pytest.mark.parametrize(
    ("variant", "grid", "options", "more", "moved", "messages"),
    [
        ("pencil-overlap", (2, 2), (), {}, 1048576, 8),
        ("pencil-overlap", (4, 1), (), {}, 786432, 12),
        ("pencil-overlap", (2, 2), (), {"layout": "natural"}, 2097152, 16),
        ("pencil-overlap", (2, 2), (("pieces", "3"),), {}, 1048576, 6),
        ("overdecomposed", (2, 2), (), {}, 1048576, 20),
        ("overdecomposed", (4, 1), (), {}, 786432, 48),
        ("overdecomposed", (1, 4), (), {}, 786432, 12),
        ("overdecomposed", (2, 2), (("decomposition", "4x6"),), {}, 1048576, 30),
        ("overdecomposed", (2, 2), (("pencils", "6"),), {}, 1048576, 42),
        ("node", (2, 2), (), {"threads": 2}, 1048576, 4),
        ("node", (2, 2), (("style", "charm"),), {"threads": 2}, 1048576, 2),
        ("volumetric", (2, 2, 1), (), {"layout": "natural"}, 1835008, 5),
        ("volumetric", (2, 2, 1), (("redistributions", "separate"),), {"layout": "natural"}, 2097152, 4),
        ("pencil-gpu", (4, 1), (), {}, 786432, 3),
        ("slab-gpu", (), (), {}, 786432, 3),
    ],
)
def test_pieces_pencils_and_segments_are_counted_as_fft_bench_declares_them(
    variant, grid, options, more, moved, messages
):
    """Counts for 64^3 on 4 ranks, as fft_bench counted them (2026-11-26)."""
    sent = exchanges(question(variant, (64,) * 3, 4, grid=grid, options=options, **more))
    assert (sum(one.bytes for one in sent), sum(one.messages for one in sent)) == (moved, messages)


@pytest.mark.parametrize(
    ("ranks", "grid", "options", "moved", "messages", "groups"),
    [
        (4, (), (("radix", "4"),), 49152, 3, [4]),
        (4, (), (("radix", "4"), ("stages", "pairwise")), 32768, 2, [2, 2]),
        (4, (), (("radix", "4"), ("pieces", "2")), 49152, 6, [4]),
        (8, (), (("radix", "4"),), 32768, 4, [2, 4]),
        (16, (), (("radix", "8"),), 32768, 8, [2, 8]),
        (16, (8, 2), (("radix", "4"),), 20480, 5, [2, 2, 4]),
    ],
)
def test_stages_of_a_higher_radix_are_counted_as_fft_bench_declares_them(ranks, grid, options, moved, messages, groups):
    """Counts for 4096 points, as fft_bench counted them (2026-11-27); the last for 64x64."""
    shape = (64, 64) if grid else (4096,)
    one = question("binary-exchange", shape, ranks, grid=grid, exchange="none", options=options)
    sent = exchanges(one)
    assert (sum(step.bytes for step in sent), sum(step.messages for step in sent)) == (moved, messages)
    assert [step.group for step in sent] == groups
    assert pairwise_steps(one) == len(groups)
    assert words_combined(one) == sum(group + 1 for group in groups)


@pytest.mark.parametrize(
    ("variant", "grid", "options", "copied"),
    [
        ("pencil-gpu", (2, 2), (), 3145728),
        ("pencil-gpu", (4, 1), (), 2097152),  # two local transforms
        ("slab-gpu", (), (), 2097152),
        ("pencil-gpu", (2, 2), (("staging", "resident"),), 1048576),  # what is sent
        ("pencil-gpu", (2, 2), (("messages", "device"), ("staging", "resident")), 0),
        ("node", (2, 2), (("offload", "pencil"),), 3145728),
        ("pencil", (2, 2), (), 0),
    ],
)
def test_what_computes_on_an_accelerator_copies_what_fft_bench_counts(variant, grid, options, copied):
    one = question(variant, (64,) * 3, 4, grid=grid, options=options)
    model = models()["czechowski2012"]
    terms = model.terms(one, model.default_forms(), TRUE)
    for phase in ("h2d", "d2h"):
        assert sum(term.amount for term in terms if term.phase == phase) == copied


@pytest.mark.parametrize(
    ("shape", "grid", "options", "cuts"),
    [
        ((64, 64, 64), (2, 2), (), (8, 2)),
        ((64, 64, 64), (2, 2), (("pencils", "6"),), (12, 2)),
        ((64, 8, 64), (1, 4), (), (4, 4)),  # the second cut is of y and z: 8 of y are there
        ((8, 64, 64), (4, 1), (("pencils", "8"),), (8, 4)),
        ((8, 64, 8), (4, 1), (("pencils", "16"),), (8, 8)),
        ((2, 4, 64), (1, 2), (("pencils", "4"),), (2, 4)),
        ((2, 4, 64), (1, 2), (("pencils", "8"),), (1, 2)),  # eight do not fit: 2 x 8 needs 8 of y
        ((64, 64, 64), (2, 2), (("decomposition", "16x4"),), (16, 4)),
    ],
)
def test_states_are_cut_in_as_many_pencils_as_fit(shape, grid, options, cuts):
    assert pencil_cuts(question("overdecomposed", shape, 4, grid=grid, options=options)) == cuts


def test_pencils_with_copies_and_pencil_gpu_are_one_model():
    pencil, on_gpu = (question(variant, (64,) * 3, 16, grid=(4, 4)) for variant in ("pencil", "pencil-gpu"))
    with_copies = predicted("czechowski2012", pencil, accelerator="copies")
    assert predicted("czechowski2012", on_gpu).phases == with_copies.phases


NETWORK = {"links": "network"}


@pytest.mark.parametrize(
    ("variant", "grid", "ranks", "nodes", "away"),
    [
        ("slab", (), 64, 1, []),  # nothing leaves the node
        ("slab", (), 64, 64, [1.0]),
        ("slab", (), 64, 8, [56 / 63]),  # 7 of the 63 others are here
        ("pencil", (8, 8), 64, 8, [1.0]),  # a row of the grid fills a node, a column has one rank on each
        ("pencil", (8, 8), 64, 16, [4 / 7, 1.0]),  # half a row
        ("pencil", (16, 4), 64, 8, [14 / 15]),  # two rows on a node: of a column two ranks
        ("danielson-lanczos", (), 8, 2, [1.0]),  # the partner 4 ranks away
    ],
)
def test_only_messages_to_other_nodes_use_the_network(variant, grid, ranks, nodes, away):
    one = question(variant, (256,) * 3, ranks, nodes=nodes, grid=grid)
    forms = models()["czechowski2012"].default_forms() | NETWORK
    assert [found.away for found in sent(one, forms)] == pytest.approx(away)
    whole = sum(found.bytes for found in exchanges(one))
    leaving = sum(found.bytes for found in sent(one, forms))
    name = "haynes2000" if variant == "danielson-lanczos" else "czechowski2012"
    terms = models()[name].terms(one, models()[name].default_forms() | NETWORK | {"memory": "paper"}, TRUE)
    copied = sum(term.amount for term in terms if term.phase == "exchange" and "in memory" in term.name)
    assert copied == pytest.approx(2 * (whole - leaving))  # read and written


@pytest.mark.parametrize("name", [name for name, model in models().items() if not model.specialise])
def test_ranks_of_one_node_are_not_charged_the_network(name):
    model = models()[name]
    shape = (2**20,) if set(model.variants) <= {"binary-exchange", "transpose"} else (256,) * 3
    for variant in model.variants or ("pencil",):
        if variant in ("serial", "serial-gpu", "binary-exchange", "transpose") and len(shape) == 3:
            continue
        one = question(variant, shape, 64, nodes=1, grid=default_grid(variant, 64))
        terms = model.terms(one, model.default_forms(of_file=True), TRUE)
        used = {parameter for term in terms for parameter, _ in term.powers}
        assert not used & {"link_bandwidth", "latency", "word_time", "startup_time", "overhead"}, variant
        assert any(term.phase == "exchange" for term in terms), variant


@pytest.mark.parametrize(
    ("forms", "nodes", "copies"),
    [
        ({"links": "all", "memory": "cached"}, 1, True),
        ({"links": "all", "memory": "paper"}, 1, False),
        ({"links": "all", "memory": "cached"}, 2, False),
        ({"links": "network", "memory": "cached"}, 1, True),
        ({"links": "network", "memory": "paper"}, 1, True),
        ({"links": "network", "memory": "cached"}, 4, False),  # nothing stays on a node
    ],
)
def test_copies_within_a_node_are_counted_where_they_are_known(forms, nodes, copies):
    one = question("slab", (256,) * 3, 4, nodes=nodes)
    found = copied(one, models()["czechowski2012"].default_forms() | forms, TRUE)
    assert bool(found) == copies
    assert {term.phase for term in found} <= {"exchange"}


OVERLAP = {"links": "network", "overlap": "pieces", **PAPER}


@pytest.mark.parametrize("link", [1e10, 1e8])  # computing is the longer, or the network
@pytest.mark.parametrize(("ranks", "pieces"), [(64, 1), (64, 4), (64, 16), (4096, 16)])
def test_overlap_leaves_the_longer_and_one_piece_of_the_shorter(ranks, pieces, link):
    edge = int(ranks**0.5)
    asked = ((256,) * 3, ranks)
    true, model = TRUE | {"link_bandwidth": link}, models()["czechowski2012"]
    forms = model.default_forms() | OVERLAP
    apart = predict(model, question("pencil", *asked, nodes=ranks, grid=(edge, edge)), true, forms)
    options = (("pieces", str(pieces)),)
    one = question("pencil-overlap", *asked, nodes=ranks, grid=(edge, edge), options=options)
    most = min(pieces, 256 // edge)  # a rank has so many planes
    together = predict(model, one, true, forms)
    network = apart.phases["exchange"]
    meanwhile = 2 / 3 * apart.phases["fft"] + apart.phases["shuffle"]  # the first axis needs all pieces
    rest = apart.phases["fft"] / 3
    assert (network > meanwhile) == (link == 1e8)
    longest = max(meanwhile + network / most, network + meanwhile / most)
    assert together.total_s == pytest.approx(rest + longest)


def test_many_pieces_take_the_larger_of_computing_and_network_as_gupta1993_and_czechowski2012_have_it():
    """gupta1993, appendix E: t_w - t_c is left, or nothing; czechowski2012: max(T_mem, T_net)."""
    for link in (1e9, 1e12):
        true = TRUE | {"link_bandwidth": link}
        model = models()["czechowski2012"]
        one = question("overdecomposed", (4096,) * 3, 64, nodes=64, grid=(8, 8), options=(("pencils", "4096"),))
        forms = model.default_forms() | OVERLAP
        found = predict(model, one, true, forms)
        alone = predict(model, question("pencil", (4096,) * 3, 64, nodes=64, grid=(8, 8)), true, forms).phases
        computing = alone["fft"] + alone["shuffle"]
        assert found.total_s == pytest.approx(max(computing, alone["exchange"]), rel=1e-3)


@pytest.mark.parametrize("link", [1e9, 1e12])  # the network is the longer, or computing
def test_a_perfect_overlap_leaves_the_longer_of_computing_and_network_of_any_method(link):
    true, model = TRUE | {"link_bandwidth": link}, models()["czechowski2012"]
    one = question("pencil", (4096,) * 3, 64, nodes=64, grid=(8, 8))
    forms = model.default_forms() | OVERLAP
    alone = predict(model, one, true, forms).phases
    assert len(alone) == 3
    found = predict(model, one, true, forms | {"overlap": "perfect"})
    assert found.total_s == pytest.approx(max(alone["fft"] + alone["shuffle"], alone["exchange"]), rel=1e-5)


def test_real_data_take_half_of_everything_and_single_precision_half_of_the_bytes():
    full = question("slab", (64,) * 3, 4)
    for changes, flops, moved in (({"kind": "r2c"}, 0.5, 0.5), ({"precision": "single"}, 1, 0.5)):
        other = question("slab", (64,) * 3, 4, **changes)
        assert sum(fft_flops(other)) == pytest.approx(flops * sum(fft_flops(full)))
        assert exchanges(other)[0].bytes == pytest.approx(moved * exchanges(full)[0].bytes)


def test_smaller_messages_take_half_of_the_bytes_and_a_pass_to_make_and_one_to_read_them():
    full, narrowed = question("slab", (64,) * 3, 4), question("slab", (64,) * 3, 4, wire="single")
    assert exchanges(narrowed)[0].bytes == pytest.approx(exchanges(full)[0].bytes / 2)
    assert exchanges(narrowed)[0].messages == exchanges(full)[0].messages
    whole, less = predicted("czechowski2012", full).phases, predicted("czechowski2012", narrowed).phases
    assert less["fft"] == pytest.approx(whole["fft"])
    assert less["shuffle"] == pytest.approx(2 * whole["shuffle"])  # 1 + 0.5 and 0.5 + 0.5 and 0.5 + 1 words, not 1 + 1


def test_fields_together_share_messages_and_in_turn_repeat_them():
    one = question("pencil", (64,) * 3, 4, grid=(2, 2))
    together, in_turn = (with_fields(one, 3, order) for order in ("together", "in-turn"))
    assert exchanges(in_turn) == exchanges(one) * 3
    assert [(each.messages, each.bytes) for each in exchanges(together)] == [
        (each.messages, 3 * each.bytes) for each in exchanges(one)
    ]
    assert fft_flops(together) == fft_flops(in_turn) == tuple(3 * flops for flops in fft_flops(one))
    times = [predicted("czechowski2012", each, **PAPER).phases for each in (one, together, in_turn)]
    for phase in ("fft", "shuffle"):
        assert times[1][phase] == pytest.approx(3 * times[0][phase])
        assert times[2][phase] == pytest.approx(3 * times[0][phase])


@pytest.mark.parametrize(("exchange", "fields"), [("p2p", 3), ("ialltoallv", 3), ("alltoallv", 1), ("pairwise", 1)])
def test_pipelined_fields_overlap_where_the_exchange_does_not_block(exchange, fields):
    one = with_fields(question("pencil", (64,) * 3, 4, grid=(2, 2)), 3, "pipelined")
    one = replace(one, method=replace(one.method, exchange=exchange))
    assert pipelined_fields(one) == fields


def test_a_round_trip_is_two_transforms():
    once, twice = (question("slab", (64,) * 3, 4, direction=way) for way in ("forward", "roundtrip"))
    assert predicted("czechowski2012", twice).total_s == pytest.approx(2 * predicted("czechowski2012", once).total_s)


def test_a_convolution_is_a_round_trip_and_its_product():
    there_and_back = predicted("czechowski2012", question("slab", (64,) * 3, 4, direction="roundtrip"))
    poisson = question("slab", (64,) * 3, 4, direction="convolution", operator="poisson")
    found = predicted("czechowski2012", poisson)
    product = [(term, seconds) for term, seconds in found.terms if term.phase == "product"]
    assert {term.name for term, _ in product} >= {"T_product, in core"}
    assert product[0][0].amount == 2 * 64**3 / 4 * 16  # read and written
    assert found.total_s == pytest.approx(there_and_back.total_s + sum(seconds for _, seconds in product))


TRUNCATED = {
    "direction": "convolution",
    "operator": "dealias-2/3",
    "options": (("truncation", "before-exchange"),),
}


def test_truncated_exchanges_move_the_modes_that_stay():
    slab = exchanges(question("slab", (18, 20, 22), 2, layout="natural", **TRUNCATED))
    assert [one.bytes for one in slab] == pytest.approx([16 * cut * 13 * 15 / 4 for cut in (18, 11) * 2])
    pencil = exchanges(question("pencil", (18, 20, 22), 4, grid=(2, 2), kind="r2c", **TRUNCATED))
    # Models count the halved axis as n/2 elements, and not as n/2 + 1.
    moved = [16 * 18 * cut * (8 / 12) * 11 / 4 / 2 for cut in (20, 13)]
    assert [one.bytes for one in pencil] == pytest.approx(moved * 2)


def test_truncated_transforms_compute_what_stays():
    whole, less = (sum(fft_flops(question("slab", (16,) * 3, 2, **terms))) for terms in ({}, TRUNCATED))
    assert less == pytest.approx(2 * whole * (2 + (11 / 16) ** 2) / 3)


def test_a_gradient_brings_back_a_field_for_each_axis():
    once, one, three = (
        question("slab", (64,) * 3, 4, **terms)
        for terms in (
            {},
            {"direction": "convolution", "operator": "scale"},
            {"direction": "convolution", "operator": "gradient"},
        )
    )
    assert [each.runs for each in (once, one, three)] == [1, 2, 4]
    assert question("slab", (64, 64), 4, direction="convolution", operator="gradient").runs == 3
    assert sum(fft_flops(three)) == 4 * sum(fft_flops(once))
    amounts = [
        sum(term.amount for term, _ in predicted("czechowski2012", asked).terms if term.phase == "product")
        for asked in (once, one, three)
    ]
    assert amounts == [0, pytest.approx(amounts[2] / 3), amounts[2]]


@pytest.mark.parametrize(("extent", "even", "odd"), [(64, 6, 0), (48, 4, 1.585), (81, 0, 6.34), (1, 0, 0)])
def test_lengths_are_split_into_their_power_of_two_and_the_rest(extent, even, odd):
    assert log2_parts(extent) == pytest.approx((even, odd), abs=1e-3)


@pytest.mark.parametrize(
    ("variant", "ranks", "grid"),
    [
        ("pencil", 12, (4, 3)),
        ("pencil", 7, (7, 1)),
        ("volumetric", 8, (2, 2, 2)),
        ("volumetric", 1, (1, 1, 1)),
        ("slab", 8, ()),
    ],
)
def test_a_grid_that_nobody_chose_is_as_square_as_its_divisors_allow(variant, ranks, grid):
    assert default_grid(variant, ranks) == grid


def test_a_phase_whose_parameter_is_not_known_is_left_out_and_said():
    known = {name: value for name, value in TRUE.items() if name != "link_bandwidth"}
    model = models()["czechowski2012"]
    found = predict(model, question("slab", (64,) * 3, 4), known, model.default_forms())
    assert found.lacking == {"exchange": ("link_bandwidth",)}
    assert set(found.phases) == {"fft", "shuffle"}
