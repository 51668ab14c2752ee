"""Terms that several models share: what a rank computes and moves in its memory, on its way between exchanges.

FFTs take flops and memory traffic, local transpositions memory traffic; docs/models.md names the papers. Added to
theirs, each with a form that leaves it out: data that a cache holds do not cross the memory bus, and what leaves the
cache of a core crosses that of the node (memory); factors of a length that are not 2 have a rate of their own
(lengths); messages within a node are copies through its memory, and only those between nodes use the link (links).

What a method computes while messages are in flight hides them (overlap). A step that computes C and sends X takes
X - C more where X is longer, else nothing. In k pieces, one of each stays: max(C + X/k, X + C/k). Where a rank has
several pencils, one is transformed while another waits, so its pencils are pieces too. A processor copies and starts
messages itself, so only the bytes on the link are hidden."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from fourscore_analysis.models.base import Form, Forms, Model, Overlap, Question, Term
from fourscore_analysis.models.work import (
    KEPT,
    Exchanged,
    beyond,
    exchanges,
    fft_flops,
    node_bytes,
    pairwise_steps,
    pieces_in_flight,
    pipelined_fields,
    products,
    share_bytes,
    transformed_shares,
    twiddles,
    words_combined,
)

COMPUTED = ("fft", "shuffle", "twiddle", "combine")  # phases
MANY_PIECES = 10**6  # what stays of one is nothing that counts, and no phase takes no time at all
SHAPING = ("cache_bytes", "private_cache_bytes")
COMPUTE = Form("compute", ("max", "sum"), "flops and memory traffic of an FFT at the same time, or one after the other")
MEMORY = Form("memory", ("cached", "paper"), "memory traffic of what the caches do not hold, or of all data")
LENGTHS = Form("lengths", ("factors", "paper"), "a rate of their own for factors that are not 2, or one for all")
NODE_FORMS = (COMPUTE, MEMORY, LENGTHS)
# A fit to one node knows the messages within it; and what it sees of an exchange is what was not hidden.
LINKS = Form("links", ("all", "network"), "all messages use the link, or those between nodes only", "network")
OVERLAP = Form(
    "overlap",
    ("none", "pieces", "perfect"),
    "an exchange takes its whole time; what no computing of the method hides; or what no computing could hide",
    "pieces",
)
FORMS = (*NODE_FORMS, LINKS, OVERLAP)
WORDS_OF_TWIDDLE = 2  # read and written; the roots stay in cache
WORDS_OF_PRODUCT = 2  # read and written; an operator's tables stay in cache


def largest(forms: Forms) -> frozenset[str]:
    return frozenset({"fft"} if forms["compute"] == "max" else ())


def model(forms: tuple[Form, ...] = FORMS, **told: Any) -> Model:
    """One whose ranks do between exchanges what this module says."""
    return Model(forms=forms, shaping=SHAPING, largest=largest, **told)


def node_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """All phases but the exchange."""
    chosen = tuple([forms[form.name] for form in NODE_FORMS])
    return list(_node_terms(question, chosen, tuple([shaping[name] for name in SHAPING])))


@lru_cache(KEPT)  # several models of a method ask the same
def _node_terms(question: Question, chosen: tuple[str, ...], sizes: tuple[float, ...]) -> tuple[Term, ...]:
    forms = {form.name: choice for form, choice in zip(NODE_FORMS, chosen, strict=True)}
    shaping = dict(zip(SHAPING, sizes, strict=True))
    return (
        *fft_terms(question, forms, shaping),
        *moving("twiddle", WORDS_OF_TWIDDLE * twiddles(question), question, forms, shaping),
        *moving("combine", words_combined(question), question, forms, shaping),
        *shuffle_terms(question, forms, shaping),
        *moving("product", WORDS_OF_PRODUCT * products(question), question, forms, shaping),
    )


def fft_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """T_flops = 3 (n^2/P) 5 n log2 n / C_node, T_mem = 3 (n^2/P) A n max(log_Z n, 1) / beta_mem."""
    even, odd = fft_flops(question)
    if forms["lengths"] == "paper":
        even, odd = even + odd, 0.0
    found = [Term("fft", "T_flops", even, (("flop_rate", -1),))]
    if odd:
        found.append(Term("fft", "T_flops, odd factors", odd, (("odd_flop_rate", -1),)))
    log_words = math.log(max(shaping["cache_bytes"] / question.word_bytes, 2))
    shares = zip(question.cell.shape, transformed_shares(question), strict=True)
    passes = sum([part * max(math.log(extent) / log_words, 1.0) for extent, part in shares if extent > 1])
    moved = passes * share_bytes(question) * question.runs
    near, far = _beyond(question, forms, shaping)
    if far:
        found.append(Term("fft", "T_mem", moved * far, (("memory_constant", 1), ("memory_bandwidth", -1)), "memory"))
    if near:
        found.append(Term("fft", "T_cache", moved * near, (("memory_constant", 1), ("cache_bandwidth", -1))))
    return found


def shuffle_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Each all-to-all takes a local transposition, a word read and one written. Where messages hold less, it is of
    narrowed words, which are written before, of whole ones, and read after."""
    all_to_alls = len(exchanges(question)) - pairwise_steps(question)
    share = question.contract.wire_share
    words = 2 * share if share == 1 else 2 * share + 2 * (1 + share)
    return moving("shuffle", words * all_to_alls * question.fields_a_message, question, forms, shaping)


def moving(phase: str, words: float, question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Terms for moving `words` words of each element of the rank once."""
    if not words:
        return []
    moved = words * share_bytes(question)
    found = through(phase, moved, question, forms, shaping)
    if forms["memory"] == "cached":
        found.insert(0, Term(phase, f"T_{phase}, in core", moved, (("core_bandwidth", -1),)))
    return found


def through(phase: str, moved: float, question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """What these bytes of all the rank's data take beyond its own cache."""
    near, far = _beyond(question, forms, shaping)
    if near < 1 and phase == "exchange" and forms["links"] == "network" and forms["memory"] == "cached":
        near = 1.0  # what another core has comes by the cache of the node, however small it is
    found = [Term(phase, f"T_{phase}, in cache", moved * near, (("cache_bandwidth", -1),))] if near else []
    if far:
        found.append(Term(phase, f"T_{phase}, in memory", moved * far, (("memory_bandwidth", -1),)))
    return found


def sent(question: Question, forms: Forms) -> list[Exchanged]:
    """The exchanges that use the link, with what uses it: all, or what leaves the node."""
    if forms["links"] == "all":
        return list(exchanges(question))
    leaving = [one for one in exchanges(question) if one.away]
    return [replace(one, bytes=one.bytes * one.away, messages=one.messages * one.away) for one in leaving]


def copied(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Within a node an exchange is a copy: read and written, it goes through the caches and memory. Where all messages
    use the link, copies beside them are counted on one node, the one place where that is known."""
    if forms["links"] == "all":
        one_node = question.cell.place.nodes == 1 and forms["memory"] == "cached"
        moved = math.fsum(one.bytes for one in exchanges(question)) if one_node else 0.0
    else:
        moved = math.fsum(one.bytes * (1 - one.away) for one in exchanges(question))
    return through("exchange", 2 * moved, question, forms, shaping) if moved else []


def overlap(question: Question, forms: Forms) -> Overlap | None:
    """In pencil-overlap, the transforms along the first axis need all pieces: they overlap nothing. Where the overlap
    is perfect, the longer of computing and messages is all that is left. One of several pipelined fields computes while
    messages of another are on their way, where the exchange does not block."""
    if forms["overlap"] == "perfect":
        return Overlap(MANY_PIECES, dict.fromkeys(COMPUTED, 1.0))
    fields = pipelined_fields(question)
    pieces = pieces_in_flight(question) * fields
    if forms["overlap"] != "pieces" or pieces < 2:
        return None
    axes = len(question.cell.shape)
    share = (axes - 1) / axes if question.method.variant == "pencil-overlap" and fields == 1 else 1.0
    return Overlap(pieces, {"fft": share, "shuffle": 1.0})


def _beyond(question: Question, forms: Forms, shaping: Mapping[str, float]) -> tuple[float, float]:
    """The parts of the data passed over that leave a core's cache, and the node's."""
    if forms["memory"] == "paper":
        return 0.0, 1.0
    return _beyond_caches(question, shaping["private_cache_bytes"], shaping["cache_bytes"])


@lru_cache(4)  # each phase of a question asks the same
def _beyond_caches(question: Question, private_cache_bytes: float, cache_bytes: float) -> tuple[float, float]:
    near = beyond(private_cache_bytes, share_bytes(question) * question.arrays)
    return near, beyond(cache_bytes, node_bytes(question))
