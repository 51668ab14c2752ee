"""Where papers are found. A distribution names in the entry-point group `fourscore.papers` a package; each package
within it is one paper, called as its key in the bibliography. `fourscore_papers` also counts where nothing is
installed, as in a source tree. docs/published.md has the parts that a paper may have."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from fourscore_analysis.records.values import InputError

GROUP, OURS = "fourscore.papers", "fourscore_papers"


@dataclass(frozen=True)
class Source:
    """The package of one paper."""

    name: str
    package: str
    folder: Path

    def part(self, name: str) -> ModuleType | None:
        """The module of that name, or None where the paper has none."""
        full = f"{self.package}.{name}"
        return importlib.import_module(full) if find_spec(full) else None


@cache
def sources() -> dict[str, Source]:
    """Every paper by its name, in the order of names. Raises InputError where two have the same, and for an entry point
    that names no package."""
    from importlib.metadata import entry_points  # slow to load, and most commands need no paper

    shelves = {point.value for point in entry_points(group=GROUP)} | ({OURS} if find_spec(OURS) else set())
    found: dict[str, Source] = {}
    for shelf in sorted(shelves):
        try:
            folders = importlib.import_module(shelf).__path__
        except (ImportError, AttributeError) as error:
            raise InputError(
                f"an entry point {GROUP} names {shelf}; expected a package that holds papers: {error}"
            ) from None
        for module in pkgutil.iter_modules(folders):
            if not module.ispkg:
                continue
            one = Source(module.name, f"{shelf}.{module.name}", Path(module.module_finder.path) / module.name)
            if one.name in found:
                raise InputError(f"two papers have one name: {found[one.name].package} and {one.package}")
            found[one.name] = one
    return dict(sorted(found.items()))


def files_of_papers(folder: str, suffix: str) -> list[Path]:
    """Files in the folder of that name of each paper."""
    return [path for one in sources().values() for path in sorted((one.folder / folder).glob(f"*{suffix}"))]


def modules_of(package: ModuleType, but: Container[str] = ()) -> Iterator[ModuleType]:
    """The modules in the package's folder, by name; not the packages there."""
    for found in pkgutil.iter_modules(package.__path__):
        if not found.ispkg and found.name not in but:
            yield importlib.import_module(f"{package.__name__}.{found.name}")
