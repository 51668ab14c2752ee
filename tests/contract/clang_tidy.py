"""What clang-tidy finds, by the checks of .clang-tidy, in the lines of C++ that were changed.

Usage: clang_tidy.py ROOT CMAKE FOLDER              lines that differ from where this branch left main, on main from the
                                                    commit before
       clang_tidy.py ROOT CMAKE FOLDER SOURCE...    all lines of these

A header is read with its own source. Most changed sources come first, and none of them is begun after 2 minutes: those
left out are named. FOLDER keeps the commands of the compiler. A planted finding must be found. Exit code: 0 nothing was found,
1 something was, 77 it cannot be done here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from optional_parts import configured

TIDY = "clang-tidy-14"
FOLDERS = ("core", "drivers", "hwcounters", "results", "jobscripts")
BEGIN_WITHIN_S, PATIENCE_S, WORKERS = 120, 300, 2
CANNOT = 77
PLANTED = "struct Base { virtual ~Base() = default; virtual void f() {} };\nstruct Derived : Base { void f(); };\n"


def git(root: Path, *words: str) -> str:
    """What git answers; empty where it refuses."""
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False).stdout.strip()


Lines = dict[str, list[tuple[int, int]]]  # first and last of each change, by file


def changed_lines(root: Path) -> Lines | None:
    """None where there is no earlier commit, as in a shallow clone or an unpacked release."""
    here = git(root, "rev-parse", "HEAD")
    bases = [git(root, "merge-base", "HEAD", branch) for branch in ("origin/main", "main")]
    base = next((base for base in bases if base not in ("", here)), "") or git(root, "rev-parse", "-q", "--verify", "HEAD~")
    if not base:
        return None
    lines: Lines = {}
    for line in git(root, "diff", "--unified=0", "--no-renames", "--diff-filter=d", base, "--", *FOLDERS).splitlines():
        if line.startswith("+++ b/"):
            within = lines.setdefault(line.removeprefix("+++ b/"), [])
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                within.append((first, first + count - 1))
    return {name: within for name, within in lines.items() if within and name.endswith(("cpp", "hpp"))}


def sources_of(root: Path, lines: Lines) -> list[Path]:
    """Sources with most changes come first."""
    changes: dict[Path, int] = {}
    for name, within in lines.items():
        source = (root / name).with_suffix(".cpp")
        changes[source] = changes.get(source, 0) + sum(last - first + 1 for first, last in within)
    return sorted(changes, key=lambda source: -changes[source])


def findings(words: list[str | Path]) -> list[str]:
    """A line each. Raises subprocess.TimeoutExpired."""
    run = subprocess.run([TIDY, "--quiet", *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    found = re.findall(r"^.*: (?:warning|error): .*$", run.stdout, re.MULTILINE)
    return found or ([run.stderr] if run.returncode else [])


def look(root: Path, folder: Path, sources: list[Path], lines: Lines) -> int:
    started = time.monotonic()
    chosen = [f"--line-filter={json.dumps([{'name': name, 'lines': each} for name, each in lines.items()])}"] if lines else []

    def look_at(source: Path) -> tuple[list[str], str]:
        """The findings, or why there are none."""
        if lines and time.monotonic() - started > BEGIN_WITHIN_S:
            return [], "not begun"
        try:
            return findings(["-p", folder, "--extra-arg=-Wno-error", *chosen, source]), ""
        except subprocess.TimeoutExpired:
            return [], f"took more than {PATIENCE_S} s"

    with ThreadPoolExecutor(WORKERS) as pool:
        looks = dict(zip(sources, pool.map(look_at, sources), strict=True))
    for source, (_, reason) in looks.items():
        print(f"{source.relative_to(root)}{': ' if reason else ''}{reason}")
    found = sorted({line for lines, _ in looks.values() for line in lines})
    print("\n".join(found) or "clang-tidy finds nothing")
    return 1 if found else 0


def cannot(reason: str) -> int:
    print(f"skipped: {reason}")
    if skips := os.environ.get("FOURSCORE_TEST_SKIPS"):
        with open(skips, "a", encoding="utf-8") as file:
            file.write(f"contract\tclang_tidy\t{reason}\n")
    return CANNOT


def main(words: list[str]) -> int:
    if len(words) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    root, cmake, folder = Path(words[0]).resolve(), words[1], Path(words[2])
    if shutil.which(TIDY) is None:
        return cannot(f"no {TIDY} in PATH")
    lines = {} if words[3:] else changed_lines(root)
    if lines is None:
        return cannot("git knows no earlier commit")
    sources = [Path(name).resolve() for name in words[3:]] or sources_of(root, lines)
    compiled = configured(root, cmake, folder, [])
    planted = folder / "planted.cpp"
    planted.write_text(PLANTED, encoding="utf-8")
    if not findings([f"--config-file={root / '.clang-tidy'}", planted, "--", "-std=c++20"]):
        print(f"{planted}: the planted finding was not found")
        return 1
    return look(root, folder, [source for source in sources if source in compiled], lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
