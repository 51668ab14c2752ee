"""eleftheriou2005: the volumetric method on a torus, by hops, links and their use.

T = V_received N_hops / (N_links BW f): among p nodes of a line N_hops = p/4 and N_links = 2, of a plane p/2 and 4 (p
is its edge), so that both are p/8. Without wrap-around (mesh) twice the time. The paper assumes f = 0.8; here
link_bandwidth is BW f of one link in one direction. The software's part is an overhead for each message. Compute, as
the paper counts: 8 N log2 N cycles for each 1-D FFT; else that of models/parts.py."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fourscore_analysis.models import parts
from fourscore_analysis.models.base import Form, Forms, Question, Term
from fourscore_analysis.models.work import default_grid, share

CYCLES = 8  # per n log2 n of a 1-D FFT
FORMS = (
    *parts.FORMS,
    Form("wires", ("torus", "mesh"), "with wrap-around, or without: twice the time"),
    Form("cycles", ("node", "paper"), "compute by flops and memory, or by 8 N log2 N cycles"),
)


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    found = parts.node_terms(question, forms, shaping)
    if forms["cycles"] == "paper":
        cycles = CYCLES * share(question) * question.runs * sum(math.log2(extent) for extent in question.cell.shape)
        found = [term for term in found if term.phase != "fft"]
        found.append(Term("fft", "8 N log2 N", cycles, (("cycle_rate", -1),)))
    sent = parts.sent(question, forms)
    if sent:
        moved = math.fsum(one.bytes * _edge(one.group, question) / 8 for one in sent)
        found.append(
            Term(
                "exchange", "hops and links", moved * (2 if forms["wires"] == "mesh" else 1), (("link_bandwidth", -1),)
            )
        )
        found.append(Term("exchange", "software", math.fsum(one.messages for one in sent), (("overhead", 1),)))
    if forms["links"] == "network":
        found += parts.copied(question, forms, shaping)
    return found


def _edge(group: int, question: Question) -> float:
    """Nodes along the longer side of the line or plane that a redistribution is within."""
    px, py, pz = (*(question.grid or default_grid("volumetric", question.ranks)), 1, 1, 1)[:3]
    for a, b in ((px, py), (py, pz), (px, pz)):
        if a > 1 and b > 1 and a * b == group:
            return float(max(a, b))
    return float(group)


MODEL = parts.model(
    name="eleftheriou2005",
    title="volumetric method on a torus: hops, links and software",
    citation="eleftheriou2005",
    equations="performance analysis, and bounds of Table 1",
    validity="a torus or mesh of the extents of the process grid; long messages",
    variants=("volumetric",),
    terms=terms,
    forms=FORMS,
)
