"""The published machines: their balance, and what their files cannot predict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fourscore_analysis.models.machines import Machine
from fourscore_analysis.models.predictions import LackingError
from fourscore_analysis.models.work import ON_DEVICE, VARIANTS
from fourscore_analysis.points.units import digits
from fourscore_analysis.tables.columns import columns
from fourscore_analysis.views.fits import Choice
from fourscore_analysis.views.predictions import Wanted, source_of_machine

BALANCES = (("memory_bandwidth", "C/beta_mem"), ("link_bandwidth", "C/beta_link"))
# What is asked of each, on several nodes: as many ranks as every variant takes.
CUBE, LINE, RANKS = (1024, 1024, 1024), (2**20,), 64
ASKED = (*VARIANTS, *ON_DEVICE)
SHOWN = "pencil"  # the variant shown for a machine that predicts nothing
ON_A_LINE, ALONE = ("binary-exchange", "transpose"), ("serial", "serial-gpu")


def lacking_of(machine: Machine) -> dict[str, tuple[str, ...]]:
    """What each variant that cannot be predicted needs of the file; by variant."""
    found = {}
    for variant in ASKED:
        shape = LINE if variant in ON_A_LINE else CUBE
        ranks = 1 if variant in ALONE else RANKS * machine.ranks_per_node
        try:
            source_of_machine(machine, Wanted(shape, Choice(variant=variant)), ranks)
        except LackingError as error:
            found[variant] = error.names
    return found


def machines_text(machines: Sequence[Machine]) -> str:
    rows = [["name", "year", "nodes", *(title for _, title in BALANCES), "predicts", "what it is"]]
    lacking = {one.name: lacking_of(one) for one in machines}
    for one in machines:
        balances = [_balance_text(one.balance(name)) for name, _ in BALANCES]
        told = len(ASKED) - len(lacking[one.name])
        predicts = f"{told} of {len(ASKED)} variants" if told else "nothing"
        rows.append([one.name, str(one.year or "–"), str(one.nodes or "–"), *balances, predicts, one.description])
    lines = [*columns(rows, 0), "", "C/beta: flops for each byte; –: its source does not give both"]
    lines += [
        "",
        "not predicted, and the parameters that it takes; give them in a file of your own, or as --given:",
    ]
    return "\n".join([*lines, *(line for one in machines for line in _lacking_lines(one.name, lacking[one.name]))])


def _lacking_lines(name: str, lacking: Mapping[str, tuple[str, ...]]) -> list[str]:
    if len(lacking) == len(ASKED):
        return [f"  {name}: nothing is; {SHOWN} takes {', '.join(lacking[SHOWN])}"]
    by_names: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for variant, names in lacking.items():
        by_names[names].append(variant)
    told = [f"{', '.join(variants)} ({', '.join(names)})" for names, variants in by_names.items()]
    return [f"  {name}: {', '.join(told)}"] if told else []


def machines_json(machines: Sequence[Machine]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "description": one.description,
            "source": one.source,
            "year": one.year,
            "nodes": one.nodes,
            "ranks_per_node": one.ranks_per_node,
            "forms": one.forms,
            "parameters": {name: _quantity_json(value) for name, value in one.parameters.items()},
            "balance": {title: one.balance(name) for name, title in BALANCES},
            "not_predicted": {variant: list(names) for variant, names in lacking_of(one).items()},
        }
        for one in machines
    ]


def _balance_text(value: float | None) -> str:
    return f"{digits(value)} flop/B" if value is not None else "–"


def _quantity_json(one: Any) -> dict[str, Any]:
    return {"value": one.value, "interval": list(one.interval) if one.interval else None, "source": one.source}
