"""Parameters that a component program measures directly: taken from it, not fitted.

pairwise_bench gives latency and link_bandwidth (models/alpha_beta.py), memory_bench memory_bandwidth: the copy of as
many ranks at once beyond the cache, copy_bench pcie_bandwidth. The record says how large the cache of a core is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourscore_analysis.models.alpha_beta import WORD_BYTES, alpha_betas, of_exchanges
from fourscore_analysis.models.fit import Given
from fourscore_analysis.points.components import Bench
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.components import ComponentRun
from fourscore_analysis.records.transforms import Launch


def of_machine(launches: Sequence[Launch]) -> dict[str, Given]:
    """What the identity of the machine says: the largest cache that a core has for itself."""
    machine = launches[0].identity.get("machine", {}) if launches else {}
    caches = machine.get("caches")
    own = [
        cache["bytes"]
        for cache in (caches if isinstance(caches, list) else ())
        if isinstance(cache, dict) and cache.get("shared_by") == 1 and isinstance(cache.get("bytes"), int)
    ]
    return {"private_cache_bytes": Given(float(max(own)), "the record of the machine")} if own else {}


def of_components(runs: Iterable[ComponentRun], machine_hash: str, places: Iterable[Place]) -> dict[str, Given]:
    """What the runs on this machine that ended well give, without foreign ones: at the place with most ranks at which
    messages were measured."""
    mine = [run for run in runs if run.status == "ok" and run.machine_hash == machine_hash and not run.foreign]
    found: dict[str, Given] = {}
    messages = alpha_betas(mine)
    places = sorted(places, key=lambda place: -place.ranks)
    exchanged = (of_exchanges(messages, machine_hash, place) for place in places)
    if pair := next((one for one in exchanged if one), None):
        alpha_s, byte_s = pair
        found["latency"] = Given(alpha_s, "pairwise_bench")
        found["startup_time"] = Given(alpha_s, "pairwise_bench")
        found["link_bandwidth"] = Given(1 / byte_s, "pairwise_bench")
        found["word_time"] = Given(WORD_BYTES * byte_s, "pairwise_bench")
    ceiling = Bench(mine).copy_ceiling(machine_hash, places[0])
    if ceiling:
        found["memory_bandwidth"] = Given(ceiling.rate, "memory_bench")
    copies = [curve.best.rate for curve in Bench(mine).curves("copy_bench") if not curve.emulated]
    if copies:
        found["pcie_bandwidth"] = Given(max(copies), "copy_bench")
    return found
