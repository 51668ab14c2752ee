"""What the checkers of this folder share: ROOT or ROOT --selftest in, findings and an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path


def run(doc: str | None, findings: Callable[[Path], Iterable[str]], fine: str, selftest: Callable[[Path], int]) -> int:
    """The exit code: 0 nothing was found, and `fine` is printed; 1 something was; 2 the arguments cannot be used."""
    arguments = sys.argv[1:]
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--selftest"]):
        print(doc, file=sys.stderr)
        return 2
    root = Path(arguments[0]).resolve()
    if not (root / "drivers").is_dir():
        print(f"{root} has no folder drivers; expected the source root", file=sys.stderr)
        return 2
    if arguments[1:]:
        return selftest(root)
    found = list(findings(root))
    print("\n".join(found) or fine)
    return 1 if found else 0
