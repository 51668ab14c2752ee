"""What each node does to its launches, as text."""

from __future__ import annotations

from fourscore_analysis.models.slow_nodes import COMPUTING, CONFIDENCE, MARGIN, SLOW, Effect, NodeEffects
from fourscore_analysis.points.units import percent_text, ratio_text
from fourscore_analysis.tables.row import Texts

MOST_ROWS = 24  # per table; the slowest first
MOST_NAMED = 6  # nodes in a sentence
MEASURES = {
    COMPUTING: "computing, over the other nodes of the launch",
    "launches": "launches with it, over launches of the same point without",
}


def node_table(found: NodeEffects) -> Texts | None:
    """None where all launches ran on one node."""
    if not found.hosts:
        return None
    ordered = sorted(found.effects, key=lambda effect: effect.verdict != SLOW)
    rows = [_row(effect) for effect in ordered[:MOST_ROWS]]
    return Texts(conclusion=conclusion(found), rows=rows, left_out=len(ordered[MOST_ROWS:]))


def _row(effect: Effect) -> Texts:
    compared = f"{effect.launches} and {effect.without}" if effect.without else str(effect.launches)
    return Texts(
        node=" + ".join(effect.hosts),
        measure=MEASURES[effect.measure],
        ratio=ratio_text(effect.ratio),
        interval=_interval_text(effect),
        launches=compared,
        verdict=effect.verdict,
        slow=effect.verdict == SLOW,
    )


def _interval_text(effect: Effect) -> str:
    return f"{ratio_text(effect.interval[0])} to {ratio_text(effect.interval[1])}" if effect.interval else "–"


def slow_node_findings(found: NodeEffects) -> list[str]:
    """Node n3 computes 1.31 times as long as the others (95 % interval 1.22 to 1.40, 24 launches): its launches are not
    the code's times. One sentence a node, from the measure that is clearest of it."""
    sentences, told = [], set()
    slow = [effect for effect in found.effects if effect.verdict == SLOW]
    for effect in sorted(slow, key=lambda effect: -effect.interval[0]):
        if told.intersection(effect.hosts):
            continue
        told.update(effect.hosts)
        sentences.append(_sentence(effect, found))
    return sentences


def _sentence(effect: Effect, found: NodeEffects) -> str:
    interval = f"{percent_text(CONFIDENCE)} interval {_interval_text(effect)}, corrected for {len(found.hosts)} nodes"
    ratio, end = ratio_text(effect.ratio), "its launches are not the code's times."
    if effect.measure == COMPUTING:
        return (
            f"Node {effect.hosts[0]} computes {ratio} times as long as the other nodes of its launches "
            f"({interval}; {effect.launches} launches): {end}"
        )
    name = f"node {effect.hosts[0]}"
    if len(effect.hosts) > 1:
        name, end = f"the nodes {', '.join(effect.hosts)}, always together,", end.replace("its", "their")
    return (
        f"Launches with {name} take {ratio} times as long as those of the same points without "
        f"({interval}; {effect.launches} launches with, {effect.without} without): {end}"
    )


def conclusion(found: NodeEffects) -> str:
    """What the table comes to."""
    parts = []
    if found.slow:
        parts.append(f"Slow: {_names(sorted(found.slow))}.")
    elif len(found.untold) < len(found.hosts):
        parts.append(f"No node is shown to be slow, of {len(found.hosts)}.")
    if found.untold:
        whom = "any node" if len(found.untold) == len(found.hosts) else _names(found.untold)
        parts.append(
            f"Whether {whom} is slow cannot be told: there are too few launches, or they differ too much. "
            f"An interval takes {found.least_launches} launches on several nodes with the node, or enough of the same "
            "points with and without it."
        )
    parts.append(
        f"Slow is a node whose whole interval lies above {1 + MARGIN:g}; all intervals together hold with "
        f"{percent_text(CONFIDENCE)}."
    )
    return " ".join(parts)


def _names(hosts) -> str:
    hosts = list(hosts)
    more = f" and {len(hosts) - MOST_NAMED} more" if len(hosts) > MOST_NAMED else ""
    return ", ".join(hosts[:MOST_NAMED]) + more
