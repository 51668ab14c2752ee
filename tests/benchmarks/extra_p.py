"""How far Extra-P is off on sizes left out, to set beside `fourscore fit` on the same points.

    python3 -m venv extra-p && extra-p/bin/pip install extrap
    fourscore export --format extra-p --campaign CAMPAIGN -o points.jsonl
    extra-p/bin/python tests/benchmarks/extra_p.py points.jsonl

Extra-P wants five values of a parameter, so each count of ranks is modelled apart, by the number of elements. Each size
is left out once; the values of the others are all their launches."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path

from extrap.entities.measurement import Measure
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.modelers.model_generator import ModelGenerator

LEAST_SIZES = 5  # that Extra-P takes


def read(file: Path) -> dict[tuple[str, float], dict[float, list[float]]]:
    """(method, ranks): elements: seconds of each launch, in total."""
    found: dict[tuple[str, float], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in file.read_text().splitlines():
        entry = json.loads(line)
        if "->" not in entry["callpath"] and entry["metric"] == "time_s":
            values = entry["value"] if isinstance(entry["value"], list) else [entry["value"]]
            found[entry["callpath"], entry["params"]["ranks"]][entry["params"]["elements"]] += values
    return found


def model_of(sizes: dict[float, list[float]]):
    """The function that Extra-P finds by default."""
    lines = [
        json.dumps({"params": {"elements": size}, "metric": "time_s", "callpath": "transform", "value": value})
        for size, values in sizes.items()
        for value in values
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        experiment = read_jsonlines_file(file.name)
    generator = ModelGenerator(experiment, use_measure=Measure.MEDIAN)
    generator.model_all()
    [model] = generator.models.values()
    return model.hypothesis.function


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", type=Path, help="from fourscore export --format extra-p")
    errors: dict[str, list[float]] = defaultdict(list)
    for (method, _), sizes in read(parser.parse_args().points).items():
        if len(sizes) <= LEAST_SIZES:
            continue
        for left in sizes:
            function = model_of({size: values for size, values in sizes.items() if size != left})
            measured = statistics.median(sizes[left])
            errors[method].append(abs(function.evaluate(left) / measured - 1))
    for method, of_method in sorted(errors.items()):
        ordered = sorted(of_method)
        p90 = ordered[min(int(0.9 * len(ordered)), len(ordered) - 1)]
        print(f"{method}: {len(ordered)} points, median {statistics.median(ordered):.1%}, 90 % {p90:.1%}")


if __name__ == "__main__":
    main()
