"""czechowski2012, Eqs 1 to 5 and 8: the transpose method, by what a node computes, moves in its memory and sends.

As printed: T_flops = 3 (n^2/P) 5 n log2 n / C_node; T_mem = 3 (n^2/P) A n max(log_Z n, 1) / beta_mem;
T_shuffle = 2 . 2 n^3 / (P beta_mem); T_net = 2 n^3 / (P beta_link), or on a torus 2 n^3 / (P^(1 - 1/d) beta_link).

What is added, each with a form of its own name to leave it out: only the part of data that a cache does not hold is
moved in memory (the paper has problems far beyond the caches); factors of a length that are not 2 have their own rate
(it has powers of two); exchanges send to others only, n^3/P (1 - 1/p) of p ranks (it has many), and each message costs
its latency; within a node an exchange is a copy through memory."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fourscore_analysis.models.base import Form, Forms, Model, Question, Term
from fourscore_analysis.models.work import (
    CHAINS,
    beyond,
    exchanges,
    fft_flops,
    node_bytes,
    share,
    share_bytes,
)

TORUS = {"bisection": 1 / 3, "ideal": 1 / 6, "torus-4": 1 / 4, "torus-5": 1 / 5, "torus-6": 1 / 6}
FORMS = (
    Form("compute", ("max", "sum"), "T_flops and T_mem at the same time (max) or one after the other"),
    Form("memory", ("cached", "paper"), "memory traffic of what a cache does not hold, or of all data"),
    Form("lengths", ("factors", "paper"), "a rate of their own for factors that are not 2, or one for all"),
    Form(
        "network",
        ("full", "bisection", "ideal", "torus-4", "torus-5", "torus-6"),
        "fully connected; or a torus of 3 dimensions bound by its bisection, or with ideal placement; or of more",
    ),
    Form("messages", ("latency", "paper"), "each message costs its latency, or nothing"),
)


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Per rank; every term of one phase."""
    return [
        *compute_terms(question, forms, shaping),
        *shuffle_terms(question, forms, shaping),
        *net_terms(question, forms, shaping),
    ]


def memory_part(question: Question, forms: Forms, shaping: Mapping[str, float]) -> float:
    """Of data passed over, that crosses the memory bus."""
    return 1.0 if forms["memory"] == "paper" else beyond(shaping["cache_bytes"], node_bytes(question))


def compute_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Eqs 1 and 2."""
    even, odd = fft_flops(question)
    if forms["lengths"] == "paper":
        even, odd = even + odd, 0.0
    found = [Term("fft", "T_flops", even, (("flop_rate", -1),))]
    if odd:
        found.append(Term("fft", "T_flops, odd factors", odd, (("odd_flop_rate", -1),)))
    cache_words = max(shaping["cache_bytes"] / question.word_bytes, 2)
    passes = sum(max(math.log(extent) / math.log(cache_words), 1.0) for extent in question.cell.shape if extent > 1)
    moved = passes * share_bytes(question) * question.runs
    part = memory_part(question, forms, shaping)
    if part:
        found.append(Term("fft", "T_mem", moved * part, (("memory_constant", 1), ("memory_bandwidth", -1)), "memory"))
    near = beyond(shaping["private_cache_bytes"], share_bytes(question)) if forms["memory"] == "cached" else 0.0
    if near:
        found.append(Term("fft", "T_cache", moved * near, (("cache_bandwidth", -1),)))
    return found


def shuffle_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Eq. 8: each exchange takes a local transposition, a word read and one written."""
    moved = 2 * share(question) * question.word_bytes * len(exchanges(question))
    part = memory_part(question, forms, shaping)
    found = []
    if moved and forms["memory"] == "cached":
        found.append(Term("shuffle", "T_shuffle, in cache", moved, (("cache_bandwidth", -1),)))
    if moved and part:
        found.append(Term("shuffle", "T_shuffle", moved * part, (("memory_bandwidth", -1),)))
    return found


def net_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Eq. 3; Eqs 4 and 5 on a torus."""
    sent = exchanges(question)
    moved = math.fsum(one.bytes for one in sent)
    if not moved:
        return []
    spread = 1.0 if forms["network"] == "full" else float(question.cell.place.nodes) ** TORUS[forms["network"]]
    found = [Term("exchange", "T_net", moved * spread, (("link_bandwidth", -1),))]
    if forms["messages"] == "latency":
        found.append(Term("exchange", "T_latency", math.fsum(one.messages for one in sent), (("latency", 1),)))
    if question.cell.place.nodes == 1 and forms["memory"] == "cached":
        part = memory_part(question, forms, shaping)
        if part:
            found.append(Term("exchange", "T_net, through memory", 2 * moved * part, (("memory_bandwidth", -1),)))
    return found


def largest(forms: Forms) -> frozenset[str]:
    return frozenset({"fft"} if forms["compute"] == "max" else ())


def reason_against(question: Question) -> str | None:
    if question.method.variant not in CHAINS:
        return f"{question.method.variant} does not transpose; the model is of the transpose method"
    return None


MODEL = Model(
    name="czechowski2012",
    title="transpose method: flops, memory, local transpositions, network",
    citation="czechowski2012",
    equations="Eqs 1 to 5, 8",
    validity="chains of 1-D FFTs and all-to-alls; the paper: powers of two, one process a node, data beyond the caches",
    variants=CHAINS,
    terms=terms,
    reason_against=reason_against,
    shaping=("cache_bytes", "private_cache_bytes"),
    forms=FORMS,
    largest=largest,
)
