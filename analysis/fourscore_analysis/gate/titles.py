"""What a series is called: method, shape and ranks, and whatever else tells it from the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fourscore_analysis.gate.history import Series
from fourscore_analysis.points.units import ranks_text, shape_text

IN_TITLE = ("variant", "exchange", "shape", "ranks", "component", "benchmark", "machine")


def give_titles(series: Sequence[Series]) -> None:
    """Gives each its title: pencil/alltoallv at 128³, 4 ranks; single. Those of one point share theirs, and differ in
    their place."""
    by_base: dict[str, list[Series]] = defaultdict(list)
    for one in series:
        by_base[_base(one.keys)].append(one)
    for base, members in by_base.items():
        names = dict.fromkeys(name for one in members for name in one.keys if name not in IN_TITLE)
        telling = [name for name in names if len({one.keys.get(name, "") for one in members}) > 1]
        for one in members:
            words = [_word(name, one.keys[name]) for name in telling if one.keys.get(name)]
            one.title = "; ".join([base, *([", ".join(words)] if words else [])])

    _give_places(series)


def _give_places(series: Sequence[Series]) -> None:
    by_panel: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for one in series:
        by_panel[one.panel].append(one)
    for members in by_panel.values():
        machines = {one.machine_hash for one in members}
        ways = {(one.machine_hash, one.launch_hash) for one in members}
        for one in members:
            words = [f"machine {one.machine_hash[:8]}"] if len(machines) > 1 else []
            words += [f"launched as {one.launch_hash[:8]}"] if len(ways) > len(machines) else []
            one.place = ", ".join(words)


def _word(name: str, value: str) -> str:
    return f"{name} {value}" if value.replace("x", "").isdigit() else value


def _base(keys: dict[str, str]) -> str:
    ranks = ranks_text(int(keys["ranks"])) if keys.get("ranks", "").isdecimal() else ""
    if "component" in keys:
        return ", ".join(word for word in (f"{keys['component']} {keys.get('benchmark', '')}".strip(), ranks) if word)
    method = keys.get("variant", "?")
    if keys.get("exchange", "none") != "none":
        method += f"/{keys['exchange']}"
    extents = keys.get("shape", "").split("x")
    shape = shape_text(tuple(int(one) for one in extents)) if all(one.isdecimal() for one in extents) else "?"
    return f"{method} at {shape}, {ranks}"
