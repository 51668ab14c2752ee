"""A card for each machine that launches were on: what it is, what it was measured with, and what it was seen to reach.
A machine is what its records say of a node, by digest (results/README.md): two alike are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.provenance import flatten
from fourscore_analysis.points.rates import EXCHANGES, MESSAGES, Rate, Rates
from fourscore_analysis.points.units import rate_text
from fourscore_analysis.records.basics import Run
from fourscore_analysis.records.components import ComponentRun
from fourscore_analysis.records.values import printable

DIGEST_DIGITS = 6  # in a name, where two machines would have the same
LENGTH, MESSAGE_BYTES = 256, 2**20  # the transform and the message whose rates a card has
NOBODY = "unknown"


@dataclass(frozen=True)
class Reached:
    """What a component alone reached on the machine: a floor of every time rests on such a rate."""

    what: str  # memory, flops or exchange
    unit: str  # B/s, FLOP/s
    of: str  # a core, a rank
    rate: Rate

    @property
    def text(self) -> str:
        """6.41 GB/s a core (copy, 2 cores at once)"""
        return f"{rate_text(self.rate.rate, self.unit)} {self.of} ({self.rate.source})"


@dataclass(frozen=True)
class MachineCard:
    """Texts are of records, not escaped. What no record says is "", 0 or ()."""

    name: str  # unique among the cards of one call
    digest: str  # machine_hash
    processor: str
    cores: int  # a node
    caches: str
    memory: str  # a node
    devices: tuple[str, ...]
    network: tuple[str, ...]
    nodes: int  # the most that a launch was on
    ranks: tuple[int, ...]  # counts that were measured, rising
    mpis: tuple[str, ...]
    libraries: tuple[str, ...]
    compilers: tuple[str, ...]
    revisions: tuple[str, ...]  # fourscore's
    first: str  # start of the first and the last launch, as records have it
    last: str
    launches: int
    simulated: bool  # a platform file's machine: its times are of no real one
    emulated: bool  # something stood in for it in every launch, or hwloc was told of another machine
    reached: tuple[Reached, ...]

    @property
    def real(self) -> bool:
        return not (self.simulated or self.emulated)


def machine_cards(records: Iterable[Run]) -> list[MachineCard]:
    """By name. Only launches that went well count."""
    runs = [run for run in records if run.status == "ok" and run.machine_hash]
    machines = group_by(runs, lambda run: run.machine_hash)
    plain = [_plain_name(of_machine) for of_machine in machines]
    cards = []
    for name, of_machine in zip(plain, machines, strict=True):
        digits = f" ({of_machine[0].machine_hash[:DIGEST_DIGITS]})" if plain.count(name) > 1 else ""
        cards.append(_card(f"{name}{digits}", of_machine))
    return sorted(cards, key=lambda card: (card.name, card.digest))


def mpi_of(code: Mapping[str, Any]) -> str:
    """Open MPI v4.1.4"""
    return _word(code.get("mpi")).split(",")[0] or NOBODY


def libraries_of(code: Mapping[str, Any]) -> tuple[str, ...]:
    """fftw-3.3.10-sse2-avx, heffte 2.4.0: FFTW, and the libraries of others that are variants."""
    others = code.get("references")
    found = [f"{name} {_word(version)}" for name, version in others.items()] if isinstance(others, dict) else []
    return tuple(printable(one) for one in (_word(code.get("fftw")), *sorted(found)) if one)


def revision_of(code: Mapping[str, Any]) -> str:
    """5b52673367be; with + where the tree had changes."""
    return f"{_word(code.get('revision'))[:12] or NOBODY}{'+' if code.get('dirty_sha256') else ''}"


def _word(value: Any) -> str:
    return printable(value.strip()) if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if type(value) is int and 0 < value < 2**31 else 0


def _plain_name(runs: Sequence[Run]) -> str:
    """AMD EPYC, 2 cores; simulated torus"""
    machine, platform = _part(runs[0], "machine"), runs[0].place.platform
    if platform != "none":
        return f"simulated {printable(platform)}"
    cores = _count(machine.get("cores"))
    said = [_word(machine.get("cpu_model")) or NOBODY]
    said += ["1 core" if cores == 1 else f"{cores} cores"] if cores else []
    return ", ".join(said)


def _part(run: Run, name: str) -> Mapping[str, Any]:
    part = run.identity.get(name, {})
    return part if isinstance(part, dict) else {}


def _card(name: str, runs: Sequence[Run]) -> MachineCard:
    machine = _part(runs[0], "machine")
    codes = [_part(run, "code") for run in runs]
    flat = flatten({key: machine[key] for key in ("caches", "memory_bytes") if key in machine})
    starts = sorted(str(start) for run in runs if (start := run.volatile.get("started_at")))
    return MachineCard(
        name=name,
        digest=runs[0].machine_hash,
        processor=_word(machine.get("cpu_model")),
        cores=_count(machine.get("cores")),
        caches=printable(flat.get("caches", "")),
        memory=printable(flat.get("memory", "")),
        devices=_texts(machine.get("gpus")),
        network=_texts(machine.get("interconnect")),
        nodes=max(run.place.nodes for run in runs),
        ranks=tuple(sorted({run.place.ranks for run in runs})),
        mpis=_distinct(codes, lambda code: [mpi_of(code)]),
        libraries=_distinct(codes, libraries_of),
        compilers=_distinct(codes, lambda code: [_word(code.get("compiler"))]),
        revisions=_distinct(codes, lambda code: [revision_of(code)]),
        first=printable(starts[0]) if starts else "",
        last=printable(starts[-1]) if starts else "",
        launches=len(runs),
        simulated=all(run.place.platform != "none" for run in runs),
        emulated="described_by" in machine or all("emulated" in run.flags for run in runs),
        reached=_reached(runs, _count(machine.get("cores"))),
    )


def _texts(values: Any) -> tuple[str, ...]:
    """Each once: a device may be a text, or an object with its model."""
    found = values if isinstance(values, list) else []
    named = [one.get("model", "") if isinstance(one, dict) else one for one in found]
    return tuple(dict.fromkeys(word for one in named if (word := _word(one))))


def _distinct(
    codes: Iterable[Mapping[str, Any]], texts: Callable[[Mapping[str, Any]], Iterable[str]]
) -> tuple[str, ...]:
    return tuple(sorted({text for code in codes for text in texts(code) if text and text != NOBODY}))


def _reached(runs: Sequence[Run], cores: int) -> tuple[Reached, ...]:
    """Rates with all cores of a node busy, and of the exchange with most ranks."""
    components = [run for run in runs if isinstance(run, ComponentRun)]
    rates = Rates(components)
    busy = cores or max((run.place.ranks_per_node for run in components), default=1)
    places = [run.place for run in components if run.component in (EXCHANGES, MESSAGES)]
    most = max(places, key=lambda place: place.ranks, default=None)
    found = [
        ("memory", "B/s", "a core", rates.bandwidth(busy)),
        ("flops", "FLOP/s", "a core", rates.transform(busy, "fftw", "double", "c2c", LENGTH)),
        ("exchange", "B/s", "a rank", most and rates.exchange(most, "", most.ranks, MESSAGE_BYTES)),
    ]
    return tuple(Reached(what, unit, of, rate) for what, unit, of, rate in found if rate)
