"""Records whose phases are those of a model with known parameters, times noise."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from pathlib import Path

from fourscore_analysis.models.base import Question, models, predict
from fourscore_analysis.models.grids import chosen_grid
from fourscore_analysis.models.observations import question_of
from fourscore_analysis.records.transforms import parse_record

from synthetic.common import canonical, store
from synthetic.transforms import Maker, make_point

# The parameters of a rank; the private cache is that of synthetic.common.identity_of.
KNOWN = {
    "flop_rate": 2.5e10,
    "memory_constant": 6.3,
    "cache_bytes": 3.2e7,
    "private_cache_bytes": 1048576.0,
    "core_bandwidth": 4e10,
    "cache_bandwidth": 2e10,
    "memory_bandwidth": 2.2e10,
    "link_bandwidth": 8e9,
    "latency": 2e-5,
}
SIZES = (32, 64, 128, 256)
RANKS = (1, 2, 4)
IN_RECORD = {"shuffle": ("pack", "unpack")}  # phases of the models that are two in a record


def modelled_archive(
    archive: Path,
    variants: Mapping[str, str],
    sizes: Iterable[int] = SIZES,
    ranks: Iterable[int] = RANKS,
    noise: float = 0.02,
    launches: int = 3,
    cpu: str = "Imaginary 9000 @ 2.60GHz",
    campaign: str = "sizes-00000000",
    flags: Iterable[str] = (),
) -> None:
    """`variants`: with the exchange of each. Cubes of these sizes, each on so many ranks of one node."""
    maker, draw = Maker(campaign, "sizes", isolate=False, repetitions=3), random.Random(1)
    for variant, exchange in variants.items():
        for size in sizes:
            for count in ranks:
                point = make_point(variant, exchange, (size,) * 3, count)
                for launch in range(launches):
                    times = {
                        phase: seconds * math.exp(draw.gauss(0, noise)) for phase, seconds in of_model(point).items()
                    }
                    rows = {
                        name: [[seconds / len(names)] * maker.repetitions for _ in range(count)]
                        for phase, seconds in times.items()
                        for names in [IN_RECORD.get(phase, (phase,))]
                        for name in names
                    }
                    totals = [[sum(times.values())] * maker.repetitions for _ in range(count)]
                    record = maker.with_samples(point, launch, totals, rows)
                    record["resolved"]["grid"] = list(chosen_grid(variant, (size,) * 3, "c2c", count)) or [count]
                    record["flags"] = list(flags)
                    record["provenance"] = maker.provenance(point, cpu)
                    store(archive, record)


def of_model(point: dict) -> dict[str, float]:
    """Seconds of each phase by czechowski2012."""
    model = models()["czechowski2012"]
    maker = Maker(isolate=False)
    launch = parse_record(canonical(maker.with_samples(point, 0, [[1.0]] * point["ranks"], {})), "x.json")
    asked = question_of(launch)
    grid = chosen_grid(point["variant"], tuple(point["shape"]), point["kind"], point["ranks"])
    return predict(model, Question(asked.cell, asked.method, grid), KNOWN, model.default_forms()).phases
