"""Where and with what it was measured: each distinct identity once, what differs, and the ranges of what varies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.points.points import Comparison
from fourscore_analysis.points.units import bytes_text, digits
from fourscore_analysis.records.basics import Run

PARTS = ("machine", "code", "launch")


@dataclass
class IdentityPart:
    """One distinct machine, build or way of launching, with how many launches had it."""

    part: str
    digest: str
    fields: list[tuple[str, str]]
    launches: int
    campaigns: list[str]


@dataclass
class Difference:
    """A field of the identity that is not the same in all launches."""

    field: str
    values: list[tuple[str, int]]  # value as text, launches


def flatten(value: Any, name: str = "") -> dict[str, str]:
    """Nested objects as one level of dotted names; arrays as text."""
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, inner in value.items():
            found.update(flatten(inner, f"{name}.{key}" if name else str(key)))
        return found
    if name.endswith("_bytes") and isinstance(value, int | float):
        return {name.removesuffix("_bytes"): bytes_text(value)}
    if name.endswith("core_maps") and isinstance(value, list):
        return {name: "; ".join(_core_map_text(kind) for kind in value)}
    if name.endswith("core_kinds") and isinstance(value, list):
        return {name: "; ".join(_core_kind_text(kind) for kind in value)}
    if name.endswith("caches") and isinstance(value, list):
        return {name: ", ".join(_cache_text(cache) for cache in value)}
    if isinstance(value, list):
        return {name: ", ".join(_short(item) for item in value) or "none"}
    return {name: "–" if value in ("", None) else str(value)}


def _short(value: Any) -> str:
    return "+".join(str(inner) for inner in value) if isinstance(value, list) else str(value)


def _core_map_text(kind: Any) -> str:
    """ "nodes 0-3: 0, 1", the cores of each rank of these nodes."""
    if not isinstance(kind, dict) or not isinstance(kind.get("cores"), list):
        return str(kind)
    return f"nodes {kind.get('nodes', '?')}: {', '.join(str(cores) for cores in kind['cores'])}"


def _core_kind_text(kind: Any) -> str:
    """ "8 cores, IntelAtom, L1 32 KiB for 1"."""
    if not isinstance(kind, dict):
        return str(kind)
    caches = kind["caches"] if isinstance(kind.get("caches"), list) else []
    words = [f"{kind.get('cores', '?')} cores", kind.get("type"), *map(_cache_text, caches)]
    return ", ".join(str(word) for word in words if word)


def _cache_text(cache: Any) -> str:
    if not isinstance(cache, dict):
        return str(cache)
    size = cache.get("bytes")
    text = bytes_text(size) if isinstance(size, int | float) else str(size)
    return f"L{cache.get('level', '?')} {text} for {cache.get('shared_by', '?')}"


def identity_parts(launches_of: dict[str, list[Run]]) -> list[IdentityPart]:
    """Each distinct machine, build and launch of the measured launches, once, with machines of nodes that differ from
    the first. `launches_of` is by campaign."""
    found: dict[tuple[str, str], IdentityPart] = {}

    def count(part: str, digest: str, value: Any, campaign: str, nodes: str = "") -> None:
        if (part, digest) not in found:
            fields = [("nodes", nodes)] if nodes else []
            found[part, digest] = IdentityPart(part, digest, fields + list(flatten(value).items()), 0, [])
        entry = found[part, digest]
        entry.launches += 1
        if campaign not in entry.campaigns:
            entry.campaigns.append(campaign)

    for campaign, launches in launches_of.items():
        for launch in launches:
            if launch.status != "ok":
                continue
            for part in PARTS:
                if digest := getattr(launch, f"{part}_hash"):
                    count(part, digest, launch.identity.get(part, {}), campaign)
            for nodes, machine in launch.identity.get("other_machines", {}).items():
                count("machine", f"{launch.machine_hash}, nodes {nodes}", machine, campaign, nodes)
    return sorted(found.values(), key=lambda entry: PARTS.index(entry.part))


def differences(launches: Iterable[Run], part: str) -> list[Difference]:
    """Fields of an identity's `part` that differ between the measured launches."""
    counts: dict[str, int] = defaultdict(int)
    identities: dict[str, dict[str, str]] = {}
    for launch in launches:
        digest = getattr(launch, f"{part}_hash")
        if launch.status == "ok" and digest:
            counts[digest] += 1
            if digest not in identities:
                identities[digest] = flatten(launch.identity.get(part, {}))
    if len(identities) < 2:
        return []
    found = []
    for name in dict.fromkeys(name for fields in identities.values() for name in fields):
        values: dict[str, int] = defaultdict(int)
        for digest, fields in identities.items():
            values[fields.get(name, "absent")] += counts[digest]
        if len(values) > 1:
            found.append(Difference(name, sorted(values.items(), key=lambda item: -item[1])))
    return found


def launch_differences(found: Iterable[Comparison]) -> list[Difference]:
    """Fields of the launch that differ within a comparison, where they should not."""
    merged: dict[str, dict[str, int]] = {}
    for comparison in found:
        launches = [launch for point in comparison.points for launch in point.measured]
        if len({launch.launch_hash for launch in launches}) < 2:
            continue
        for difference in differences(launches, "launch"):
            values = merged.setdefault(difference.field, defaultdict(int))
            for text, count in difference.values:
                values[text] += count
    return [Difference(name, sorted(values.items(), key=lambda item: -item[1])) for name, values in merged.items()]


def volatile_ranges(launches: Iterable[Run]) -> list[tuple[str, str]]:
    """What is kept but never compared: numbers as minimum and maximum, texts as the distinct values."""
    collected: dict[str, list[Any]] = defaultdict(list)
    for launch in launches:
        for name, value in launch.volatile.items():
            if name == "hosts" and isinstance(value, list):
                collected[name] += sorted({str(host) for host in value})
            elif name in ("nodes_before", "nodes_after") and isinstance(value, dict):
                for quantity, over_nodes in value.items():
                    if isinstance(over_nodes, dict):
                        ends = [over_nodes[end] for end in ("min", "max") if end in over_nodes]
                        collected[f"{name.removeprefix('nodes_')}, all nodes: {quantity}"] += ends
            elif name == "environment" and isinstance(value, dict):
                collected[name].append(" ".join(f"{key}={value[key]}" for key in sorted(value)))
            else:
                collected[name].append(value)
    return [(name, _range(name, values)) for name, values in collected.items()]


def _range(name: str, values: list[Any]) -> str:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        low, high = min(values), max(values)
        return digits(low) if low == high else f"{digits(low)} to {digits(high)}"
    texts = sorted({str(value) for value in values if value not in ("", None)})
    if name.endswith("_at") and len(texts) > 1:
        return f"{texts[0]} to {texts[-1]}"
    if len(texts) > 6:
        return f"{', '.join(texts[:6])} and {len(texts) - 6} more"
    return ", ".join(texts) or "–"
