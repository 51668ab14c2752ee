"""gupta1993: 1-D FFTs by binary exchange or by transposition, T = t_c (n/p) log2 n + T_comm.

Binary exchange (Eq. 4 over p): log2 p (t_s + t_w n/p) on a hypercube; on a mesh 2 t_w n / sqrt p for all steps
together (Eq. 8 over p). Two-dimensional transposition (Eq. 11 over p): t_s (p - 1) + t_w n/p. A word is an element.
The paper's single t_c is for every butterfly, wherever it is done (form butterflies = paper); else what a rank computes
is that of models/parts.py."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fourscore_analysis.models import parts
from fourscore_analysis.models.base import Form, Forms, Question, Term
from fourscore_analysis.models.work import pairwise_steps, share

FORMS = (
    *parts.FORMS,
    Form("butterflies", ("node", "paper"), "compute by flops and memory, or t_c for each butterfly"),
    Form("topology", ("hypercube", "mesh"), "of the network"),
)
WORD_BYTES = 16


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    found = parts.node_terms(question, forms, shaping)
    if forms["butterflies"] == "paper":
        mine, steps = share(question) * question.runs, pairwise_steps(question)
        found = [
            Term("fft", "t_c (n/p) log2 n", mine * (math.log2(question.elements) - steps), (("butterfly_time", 1),))
        ]
        if steps:
            found.append(Term("combine", "t_c (n/p) log2 n", mine * steps, (("butterfly_time", 1),)))
    sent = parts.sent(question, forms)
    if sent:
        words = math.fsum(one.bytes for one in sent) / WORD_BYTES
        if forms["topology"] == "mesh" and pairwise_steps(question):
            words *= 2 * math.sqrt(question.ranks) / math.log2(question.ranks)
        found.append(Term("exchange", "t_w", words, (("word_time", 1),)))
        found.append(Term("exchange", "t_s", math.fsum(one.messages for one in sent), (("startup_time", 1),)))
    if forms["butterflies"] == "node" or forms["links"] == "network":
        found += parts.copied(question, forms, shaping)
    return found


MODEL = parts.model(
    name="gupta1993",
    title="1-D FFTs: butterflies, message startup and words on a hypercube or mesh",
    citation="gupta1993",
    equations="Eqs 4, 8 and 11",
    validity="one dimension, powers of two; p at most sqrt n for the transposition",
    variants=("binary-exchange", "transpose"),
    terms=terms,
    forms=FORMS,
)
