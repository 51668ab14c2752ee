"""czechowski2012, Eqs 1 to 5 and 8: the transpose method, by what a node computes, moves in its memory and sends.

As printed: T_flops = 3 (n^2/P) 5 n log2 n / C_node; T_mem = 3 (n^2/P) A n max(log_Z n, 1) / beta_mem; T_shuffle = 2 .
2 n^3 / (P beta_mem); T_net = 2 n^3 / (P beta_link), or on a torus 2 n^3 / (P^(1 - 1/d) beta_link). With an
accelerator, T_PCIe = 2 n^3 / (P beta_PCIe) for each compute phase (Eq. 9): half to it, half back.

What is added to it here, each with a form that leaves it out, is in models/parts.py; and that exchanges send to others
only, n^3/P (1 - 1/p) among p ranks (the paper has many), that each message costs its latency, and that within a node an
exchange is a copy, which also crosses its memory."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fourscore_analysis.models import parts
from fourscore_analysis.models.base import IN_FLIGHT, Form, Forms, Question, Term
from fourscore_analysis.models.work import CHAINS, ON_DEVICE, copies_to_device, exchanges, local_transforms, share_bytes

A_ITEM = "section-3.1.2"  # prints the constant A
# How the time of an all-to-all grows with the nodes of a torus, beyond that of a full network: P to the power of this.
TORUS = {"bisection": 1 / 3, "ideal": 1 / 6, "torus-4": 1 / 4, "torus-5": 1 / 5, "torus-6": 1 / 6}
FORMS = (
    *parts.FORMS,
    Form(
        "network",
        ("full", *TORUS),
        "fully connected; a torus of 3 dimensions, bound by its bisection or ideally placed; or of more dimensions",
    ),
    Form("messages", ("latency", "paper"), "each message costs its latency, or nothing"),
    Form("transposes", ("memory", "none"), "local transpositions cross the memory (Eq. 8), or take no time (Fig. 5)"),
    Form("accelerator", ("none", "copies"), "computes where the data are, or beyond a bus: copied there and back"),
)


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    node = parts.node_terms(question, forms, shaping)
    if forms["transposes"] == "none":
        node = [term for term in node if term.phase != "shuffle"]
    return [
        *node,
        *net_terms(question, forms, shaping),
        *(copy_terms(question) if forms["accelerator"] == "copies" or copies_to_device(question) else ()),
    ]


def copy_terms(question: Question) -> list[Term]:
    """Eq. 9 for each local transform: pencils have three, as printed. Where data stay on the device, only what is sent
    is copied, or nothing."""
    if question.method.option("staging") == "resident":
        by_host = question.method.option("messages") != "device"
        moved = math.fsum(one.bytes for one in exchanges(question)) if by_host else 0.0
    else:
        moved = local_transforms(question) * share_bytes(question) * question.runs
    return [Term(phase, "T_PCIe", moved, (("pcie_bandwidth", -1),)) for phase in ("h2d", "d2h")] if moved else []


def net_terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    """Eq. 3; Eqs 4 and 5 on a torus."""
    sent, found = parts.sent(question, forms), []
    if sent:
        moved = math.fsum(one.bytes for one in sent)
        spread = 1.0 if forms["network"] == "full" else float(question.cell.place.nodes) ** TORUS[forms["network"]]
        found.append(Term("exchange", "T_net", moved * spread, (("link_bandwidth", -1),), IN_FLIGHT))
        if forms["messages"] == "latency":
            found.append(Term("exchange", "T_latency", math.fsum(one.messages for one in sent), (("latency", 1),)))
    return [*found, *parts.copied(question, forms, shaping)]


MODEL = parts.model(
    name="czechowski2012",
    title="transpose method: flops, memory, local transpositions, network",
    citation="czechowski2012",
    equations="Eqs 1 to 5, 8, 9",
    validity="chains of 1-D FFTs and all-to-alls; the paper: powers of two, one process a node, data beyond the caches",
    variants=(*CHAINS, *ON_DEVICE),
    terms=terms,
    forms=FORMS,
    overlap=parts.overlap,
)
