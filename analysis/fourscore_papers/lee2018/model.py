"""lee2018: over-decomposition against node-level decomposition, by the messages that each worker handles.

Chapter 3: one object a node sends the messages that objects on every core would send, its workers share what is left
to do, and the rate at which messages arrive says which is better (its Fig. 3.2). Here: bytes over the link, and an
overhead for each message, divided among the workers (threads) of the rank. What a rank does between is that of
models/parts.py."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fourscore_analysis.models import parts
from fourscore_analysis.models.base import IN_FLIGHT, Forms, Question, Term


def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    found = parts.node_terms(question, forms, shaping)
    sent = parts.sent(question, forms)
    if sent:
        moved = math.fsum(one.bytes for one in sent)
        handled = math.fsum(one.messages for one in sent) / question.contract.threads
        found.append(Term("exchange", "bytes", moved, (("link_bandwidth", -1),), IN_FLIGHT))
        found.append(Term("exchange", "messages", handled, (("overhead", 1),)))
    return [*found, *parts.copied(question, forms, shaping)]


MODEL = parts.model(
    name="lee2018",
    title="messages per worker of over-decomposed and of node-level pencils",
    citation="lee2018",
    equations="chapters 2 and 3",
    validity="pencils in space; workers of a rank share its messages evenly",
    variants=("overdecomposed", "node"),
    terms=terms,
    overlap=parts.overlap,
)
