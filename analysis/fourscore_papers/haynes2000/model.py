"""haynes2000, section 5: log2 P pairwise phases (Eq. 5) in place of two all-to-alls (Eq. 4).

Traditional, `rods`: tau = 2 (P - 1) (alpha + n u / (beta P^2)). New, `danielson-lanczos`: tau = log2 P (alpha +
n u / (beta P)). The section is about communication alone; what a rank does between is that of models/parts.py, and one
combination of two arrays for each pairwise phase."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fourscore_analysis.models import parts
from fourscore_analysis.models.base import Forms, Question, Term


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    found = parts.node_terms(question, forms, shaping)
    sent = parts.sent(question, forms)
    if sent:
        moved = math.fsum(one.bytes for one in sent)
        found.append(Term("exchange", "n u / beta", moved, (("link_bandwidth", -1),)))
        found.append(Term("exchange", "alpha", math.fsum(one.messages for one in sent), (("latency", 1),)))
    return [*found, *parts.copied(question, forms, shaping)]


MODEL = parts.model(
    name="haynes2000",
    title="pairwise phases or all-to-alls: latency and bandwidth of a simultaneous send and receive",
    citation="haynes2000",
    equations="Eqs 4 and 5",
    validity="a network in which pairs do not disturb each other; P a power of two for danielson-lanczos",
    variants=("danielson-lanczos", "rods"),
    terms=terms,
)
