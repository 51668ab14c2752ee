"""Points that would tell more, as a suite for `fourscore run`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fourscore_analysis.models.base import Question
from fourscore_analysis.records.cells import OTHER_WORK, Contract, Method
from fourscore_analysis.views.fits import MethodFit

# Keys of a sweep that are a field of the contract of the same name.
TEXT_KEYS = ("layout", "buffers", "precision", "kind", "direction", "planner")


def suite_text(found: Sequence[MethodFit]) -> str:
    """TOML; "" where nothing is to be measured."""
    sweeps = []
    for one in found:
        by_ranks: dict[int, list[Question]] = defaultdict(list)
        for question in one.suggested:
            by_ranks[question.ranks].append(question)
        method, contract = one.series.method, one.series.contract
        sweeps += [sweep_text(method, contract, ranks, members) for ranks, members in sorted(by_ranks.items())]
    return whole_suite(sweeps, "fourscore fit --suggest", "points that tell more of the parameters of the models")


def whole_suite(sweeps: Sequence[str], command: str, description: str) -> str:
    """TOML; "" without sweeps."""
    if not sweeps:
        return ""
    head = [
        f"# Points that would tell more, as `{command}` chose them.",
        'name = "suggested"',
        f'description = "{description}"',
        "launches = 3",
        "repetitions = 20",
        "warmup = 2",
        "max_time_s = 5",
        "time_limit_s = 300",
        'check = "spots"',
    ]
    return "\n".join(head) + "\n\n" + "\n".join(sweeps)


def sweep_text(method: Method, contract: Contract, ranks: int, questions: Sequence[Question]) -> str:
    shapes = ", ".join(f'"{"x".join(str(extent) for extent in question.cell.shape)}"' for question in questions)
    lines = ["[[sweep]]", f'variant = "{method.variant}"']
    if method.exchange not in ("", "none"):
        lines.append(f'exchange = "{method.exchange}"')
    if method.local_fft not in ("", "none"):
        lines.append(f'local_fft = "{method.local_fft}"')
    lines += [f"shape = [{shapes}]", f"ranks = {ranks}"]
    lines += [f'{key} = "{getattr(contract, key)}"' for key in TEXT_KEYS]
    if contract.operator:
        lines.append(f'operator = "{contract.operator}"')
    if contract.wire != "as-is":
        lines.append(f'wire = "{contract.wire}"')
    if method.active_ranks:
        lines.append(f'active_ranks = "{method.active_ranks}"')
    if contract.threads != 1:
        lines.append(f"threads = {contract.threads}")
    if contract.instances != 1:
        lines += [f"instances = {contract.instances}", f'placement = "{method.placement}"']
    if contract.fields != 1:
        lines += [f"fields = {contract.fields}", f'field_order = "{method.field_order}"']
    work = ((key, getattr(contract, key)) for key in OTHER_WORK)
    lines += [f'{key} = "{value}"' for key, value in (*work, *contract.further) if value]
    if method.options:
        inner = ", ".join(f'{name} = "{value}"' for name, value in method.options)
        lines.append(f"parameters = {{ {inner} }}")
    return "\n".join(lines) + "\n"
