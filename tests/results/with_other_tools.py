"""Lets Extra-P and Apache Otava themselves read what `fourscore export` writes for them.

    .venv/bin/python tests/results/with_other_tools.py build/ci/bin/fourscore

No test does this: each brings hundreds of megabytes of packages, which exclude each other's (Extra-P takes NumPy 1,
Otava NumPy 2). So each gets a virtual environment of its own, in a temporary folder or in --folder, from the Python
package index. Tests hold what Extra-P asks of a file (tests/results/test_export.py)."""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "analysis"), str(ROOT / "tests/analysis")]

READ_WITH_EXTRA_P = """
import sys
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.modelers.model_generator import ModelGenerator
experiment = read_jsonlines_file(sys.argv[1])
generator = ModelGenerator(experiment)
generator.model_all()
for (path, metric), model in generator.models.items():
    print(f"{path.name}: {model.hypothesis.function.to_string(*experiment.parameters)}")
assert generator.models
"""
OTAVA = """tests:
  fourscore:
    type: csv
    file: {file}
    time_column: time
    attributes: [revision, code_hash]
    metrics:
{metrics}
"""
BUILDS, SLOWER_FROM = 20, 12


def environment(folder: Path, package: str) -> Path:
    """The folder of programs of a virtual environment that has the package."""
    programs = folder / package / "bin"
    if not programs.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / package], check=True)
        subprocess.run([programs / "pip", "install", "--quiet", package], check=True)
    return programs


def exported(fourscore: Path, archive: Path, kind: str, file: Path) -> Path:
    subprocess.run([fourscore, "export", "--format", kind, "--archive", archive, "-o", file], check=True)
    return file


def check_extra_p(fourscore: Path, folder: Path, work: Path) -> None:
    """Sizes on 1 to 16 ranks: on one rank there is no exchange."""
    from synthetic.modelled_records import modelled_archive

    modelled_archive(work / "sizes", {"pencil": "alltoallv"}, (32, 64, 128, 256, 512), (1, 2, 4, 8, 16), launches=2)
    file = exported(fourscore, work / "sizes", "extra-p", work / "points.jsonl")
    python = environment(folder, "extrap") / "python"
    subprocess.run([python, "-c", READ_WITH_EXTRA_P, file], check=True)


def check_otava(fourscore: Path, folder: Path, work: Path) -> None:
    """A history in which one build became slower: Otava must find it."""
    from synthetic import make_point
    from synthetic.histories import HistoryMaker, revision_of

    def seconds(build: int, launch: int) -> float:
        return 1e-3 * (1.2 if build >= SLOWER_FROM else 1.0) * (1 + 0.002 * ((7 * build + 3 * launch) % 5))

    HistoryMaker(work / "history").builds(make_point(), BUILDS, seconds)
    file = exported(fourscore, work / "history", "otava-csv", work / "history.csv")
    with file.open(newline="") as stream:
        names = [name for name in next(csv.reader(stream)) if name not in ("time", "revision", "code_hash")]
    metrics = "\n".join(f"      series_{n}:\n        column: '{name}'\n        direction: -1" for n, name in enumerate(names))
    (work / "otava.yaml").write_text(OTAVA.format(file=file, metrics=metrics))
    otava = environment(folder, "apache-otava") / "otava"
    command = [otava, "analyze", "fourscore", "--since", "2025-12-01"]
    surroundings = os.environ | {"OTAVA_CONFIG": str(work / "otava.yaml")}
    found = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    print(found.stdout, found.stderr, sep="\n")
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    changed = next(number for number, line in enumerate(lines) if "+20" in line or "+19" in line)
    assert any(revision_of(SLOWER_FROM) in line for line in lines[changed : changed + 4]), "at the build that was slower"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fourscore", type=Path, help="the program")
    parser.add_argument("--folder", type=Path, help="where the environments are kept (default: nowhere)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = options.folder or Path(work)
        check_extra_p(options.fourscore.resolve(), folder, Path(work))
        check_otava(options.fourscore.resolve(), folder, Path(work))
    print("Extra-P and Otava read it")


if __name__ == "__main__":
    main()
