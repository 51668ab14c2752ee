"""LogGP (alexandrov1995) of the exchanges: latency L, overhead o, gap per byte G.

An exchange of k messages takes L + 2 o + (k - 1) o + bytes G: a rank is busy for o with each message, at either end of
the last one too, and G a byte is the time on its link. The gap g between messages is taken to be at most o, as in the
paper's own all-to-all; bytes G has the bytes of all messages. What a rank does between is that of models/parts.py."""

from __future__ import annotations

from collections.abc import Mapping

from fourscore_analysis.models import parts
from fourscore_analysis.models.base import IN_FLIGHT, Forms, Question, Term
from fourscore_analysis.models.work import VARIANTS


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    found = parts.node_terms(question, forms, shaping)
    sent = parts.sent(question, forms)
    if sent:
        moved = sum(one.bytes for one in sent)
        found.append(Term("exchange", "G", moved, (("link_bandwidth", -1),), IN_FLIGHT))
        found.append(Term("exchange", "L", float(len(sent)), (("latency", 1),)))
        found.append(Term("exchange", "o", sum(one.messages + 1 for one in sent), (("overhead", 1),)))
    return [*found, *parts.copied(question, forms, shaping)]


MODEL = parts.model(
    name="loggp",
    title="exchanges by latency, overhead a message and gap a byte",
    citation="alexandrov1995",
    equations="section 2",
    validity="a network whose capacity is never the limit; all messages of one exchange of equal length",
    variants=VARIANTS,
    terms=terms,
    overlap=parts.overlap,
)
