"""A campaign as a site publishes it: each launch with its point, identity and time, without samples. The same file is
what later runs read in place of the records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from fourscore_analysis.points.machine_cards import machine_cards
from fourscore_analysis.records.archive import Campaign, Unreadable
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell, Contract, Method
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.records.values import RecordError, each, entries, list_of, parse_json, read, table_of, text_of
from fourscore_analysis.site.addresses import canonical

SCHEMA, SCHEMA_VERSION = "fourscore.published-campaign", 1
COLUMNS = (
    "file", "point", "identity", "launch", "retry_of", "status", "reason", "flags", "verified_by", "started_at",
    "resolved_grid", "median_s", "min_s", "max_s", "plan_s", "error",
)  # fmt: skip
HASHES = ("machine_hash", "code_hash", "launch_hash", "identity_hash")
LONGEST_REASON = 300  # characters of what a launch says of its end


@dataclass
class CampaignData:
    name: str
    suite: str
    launches: list[Launch] = field(default_factory=list)
    components: int = 0  # records of components alone
    reached: dict[str, list[str]] = field(default_factory=dict)  # by machine: what components alone reached there
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def newest(self) -> str:
        """When its last launch began; "" where no record says."""
        return max((started_at(one) for one in self.launches), default="")


def started_at(launch: Launch) -> str:
    return str(launch.volatile.get("started_at") or "")


def data_of(campaign: Campaign) -> CampaignData:
    cards = machine_cards(campaign.components)
    return CampaignData(
        name=campaign.name,
        suite=campaign.suite,
        launches=campaign.launches,
        components=len(campaign.components),
        reached={card.digest: [f"{one.what}: {one.text}" for one in card.reached] for card in cards},
        unreadable=campaign.unreadable,
    )


class _Numbered:
    """Texts in the order of their first use; two keys of one text have one number."""

    def __init__(self, value_of: Callable[[Any], Any]) -> None:
        self.texts: dict[str, int] = {}
        self._numbers: dict[Any, int] = {}
        self._value_of = value_of

    def number(self, key: Any) -> int:
        if key not in self._numbers:
            self._numbers[key] = self.texts.setdefault(canonical(self._value_of(key)), len(self.texts))
        return self._numbers[key]


def as_json(data: CampaignData) -> bytes:
    """Points and identities once each, launches as rows; the same bytes for the same launches."""
    points = _Numbered(lambda one: {"point_id": one[0], "cell": asdict(one[1]), "method": asdict(one[2])})
    identities = _Numbered(lambda one: dict(zip(HASHES, one[0], strict=True)) | {"parts": parts[one[1]]})
    parts = {id(one.identity): one.identity for one in data.launches}
    rows = []
    for one in sorted(data.launches, key=lambda one: one.file):
        rows.append(
            [
                one.file,
                points.number((one.point_id, one.cell, one.method)),
                identities.number((tuple(getattr(one, name) for name in HASHES), id(one.identity))),
                one.launch,
                one.retry_of,
                one.status,
                one.reason[:LONGEST_REASON],
                sorted({*one.flags, *(["simulated"] if one.simulated else [])}),
                one.verified_by,
                started_at(one),
                one.resolved_grid,
                one.median_s if math.isfinite(one.median_s) else None,
                min(one.time_s, default=None),
                max(one.time_s, default=None),
                one.plan_s,
                one.error,
            ]
        )
    head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "campaign": data.name, "suite": data.suite}
    head |= {
        "components": data.components,
        "reached": data.reached,
        "unreadable": [[one.file, one.reason] for one in data.unreadable],
    }
    text = canonical(head | {"columns": COLUMNS, "launches": rows})
    lists = {"points": points.texts, "identities": identities.texts}  # they are canonical already
    more = "".join(f',"{name}":[{",".join(texts)}]' for name, texts in lists.items())
    return f"{text[:-1]}{more}}}\n".encode()


def parse(content: bytes) -> CampaignData:
    """Raises RecordError where it is no such file, or one of another version."""
    data = table_of(parse_json(content))
    if data.get("schema") != SCHEMA or data.get("schema_version") != SCHEMA_VERSION:
        raise RecordError(f'"schema" and "schema_version" are not "{SCHEMA}" and {SCHEMA_VERSION}')
    try:
        points = [_point_of(one) for one in read(data, "points", list_of)]
        identities = read(data, "identities", list_of)
        columns = tuple(read(data, "columns", list_of))
        suite = read(data, "suite", text_of)
        rows = (dict(zip(columns, row, strict=True)) for row in read(data, "launches", list_of))
        return CampaignData(
            name=read(data, "campaign", text_of),
            suite=suite,
            launches=[_launch(row, points, identities, suite) for row in rows],
            components=int(data["components"]),
            reached=read(data, "reached", entries(each(text_of))),
            unreadable=[Unreadable(text_of(file), text_of(reason)) for file, reason in data["unreadable"]],
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"damaged: {error!r}"[:200]) from None


def _point_of(data: dict[str, Any]) -> tuple[str, Cell, Method]:
    of_cell, of_method = data["cell"], data["method"]
    further = tuple((name, value) for name, value in of_cell["contract"].get("further", ()))  # earlier files lack it
    contract = Contract(**of_cell["contract"] | {"further": further})
    cell = Cell(contract, tuple(map(int, of_cell["shape"])), Place(**of_cell["place"]))
    options = tuple((name, value) for name, value in of_method["options"])
    return text_of(data["point_id"]), cell, Method(**of_method | {"options": options})


def _launch(row: dict[str, Any], points: list, identities: list[dict[str, Any]], suite: str) -> Launch:
    point_id, cell, method = points[row["point"]]
    identity = identities[row["identity"]]
    time_s = tuple(row[name] for name in ("min_s", "max_s") if row[name] is not None)
    return Launch(
        file=text_of(row["file"]),
        place=cell.place,
        suite=suite,
        point_id=point_id,
        launch=row["launch"],
        order=0,
        retry_of=row["retry_of"],
        status=text_of(row["status"]),
        reason=text_of(row["reason"]),
        flags=tuple(row["flags"]),
        verified_by=text_of(row["verified_by"]),
        machine_hash=text_of(identity["machine_hash"]),
        code_hash=text_of(identity["code_hash"]),
        launch_hash=text_of(identity["launch_hash"]),
        identity_hash=text_of(identity["identity_hash"]),
        volatile={"started_at": text_of(row["started_at"])},
        identity=table_of(identity["parts"]),
        cell=cell,
        method=method,
        resolved_grid=text_of(row["resolved_grid"]),
        time_s=time_s,
        median_s=math.nan if row["median_s"] is None else float(row["median_s"]),
        plan_s=row["plan_s"],
        credited_flops=cell.credited_flops,
        error=row["error"],
    )


def joined(parts: Iterable[CampaignData]) -> CampaignData:
    """Parts of one campaign as one. Raises RecordError where two have one record with other content."""
    first, *others = parts
    found = {one.file: one for one in first.launches}
    refused = {one.file: one for one in first.unreadable}
    components, reached = first.components, dict(first.reached)
    for other in others:
        for one in other.launches:
            if not _same(found.setdefault(one.file, one), one):
                raise RecordError(f"'{one.file}' is there twice, with other content")
        refused |= {one.file: one for one in other.unreadable}
        components = max(components, other.components)
        reached |= other.reached
    unreadable = [one for file, one in sorted(refused.items()) if file not in found]
    return CampaignData(first.name, first.suite, list(found.values()), components, reached, unreadable)


def _same(one: Launch, other: Launch) -> bool:
    texts = [json.loads(as_json(CampaignData("", "", [each]))) for each in (one, other)]
    return texts[0] == texts[1]
