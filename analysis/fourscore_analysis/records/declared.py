"""What a record declares that no noise touches: numbers of each rank that the same program gives each time."""

from __future__ import annotations

from typing import Any

from fourscore_analysis.records.values import amount_of, count_of, each, entries, name_of, read, table_of

Declared = dict[str, tuple[float, ...]]  # by quantity, one value a rank; or one value of all

COST = {
    "messages": "messages_per_rank",
    "control messages": "control_messages_per_rank",
    "bytes sent": "bytes_sent_per_rank",
    "bytes read from neighbours": "bytes_read_shared_per_rank",
}
MEMORY = {"workspace bytes": "workspace_bytes", "plan bytes": "plan_bytes"}
UNTIMED_PLANNER = "estimate"  # the others choose by times, another plan each time


def read_declared(data: dict[str, Any]) -> Declared:
    """What a record that is ok declares. Raises RecordError."""
    cost, memory = read(data, "cost", table_of, {}), read(data, "memory", table_of, {})
    amounts = each(amount_of)
    found = {name: read(cost, key, amounts, ()) for name, key in COST.items()}
    least = read(cost, "least_bytes_per_rank", entries(amounts), {})
    found |= {f"minimum bytes of {phase}": values for phase, values in least.items()}
    found |= {name: read(memory, key, amounts, ()) for name, key in MEMORY.items()}
    plan = read(data, "plan", table_of, {})
    contract = read(read(data, "point", table_of), "contract", table_of)
    if "distinct_plans" in plan and read(contract, "planner", name_of, "") == UNTIMED_PLANNER:
        found["distinct plans"] = (float(read(plan, "distinct_plans", count_of)),)
    return {name: values for name, values in found.items() if values}
