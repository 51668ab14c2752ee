"""One list of phases, of flags, of point keys, of settings, of statuses and of steps, one schema version: what repeats them is held to
core. The keys of a record are held to its schema, and the Python package's version to that of CMake.

Usage: lists.py ROOT             compares, prints what differs, exits 1 when something does
       lists.py ROOT --selftest  changes each list in memory and expects the difference to be found
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from checker import run

Read = Callable[[str], str]


def names_in_table(text: str, start: str) -> list[str]:
    """The first string of each {...} or of the list itself, between `start` and the end of the initialiser."""
    body = text[text.index(start) + len(start) :]
    body = body[: body.index("};")]
    entries = re.findall(r'\{\s*"([^"]+)"', body)
    return entries or re.findall(r'"([^"]+)"', body)


def enums(schema: object) -> Iterator[list[str]]:
    if isinstance(schema, dict):
        if isinstance(schema.get("enum"), list):
            yield schema["enum"]
        for value in schema.values():
            yield from enums(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from enums(value)


def python_names(text: str, variable: str) -> set[str]:
    """The strings of a module's tuple or the keys of its dictionary."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == variable for t in node.targets):
            items = node.value.keys if isinstance(node.value, ast.Dict) else getattr(node.value, "elts", [])
            return {item.value for item in items if isinstance(item, ast.Constant)}
    raise ValueError(f"no {variable}")


def array_of(text: str, name: str) -> list[str]:
    """The strings of a constexpr array."""
    body = text[text.index(f"> {name}{{") :]
    return re.findall(r'"([^"]+)"', body[: body.index("};")])


def point_keys(text: str) -> list[str]:
    """The names in the tables of core/point_keys.cpp: those of launches, which two tables share, and of transforms."""
    body = text.split("launch_keys() {")[1].split("component_keys() {")[0]
    return re.findall(r'\.name = "(\w+)"', body)


def keys_elsewhere(root: Path, read: Read) -> Iterator[tuple[str, list[str]]]:
    """Each place that names the keys of a point once more, and the names there."""
    beside = {"point", "contract", "normalisation", "parameters", "component"}
    schema = json.loads(read("results/run-record.schema.json"))
    point = schema["properties"]["point"]["else"]["properties"]
    yield "results/run-record.schema.json", [*point.keys() - beside, *point["contract"]["properties"].keys() - beside]
    text = read("suites/README.md")
    text = text[text.index("## Keys of a point") :]
    names = re.findall(r"`(\w+)`", text[: text.index("shows their values")])
    yield "suites/README.md", [name for name in names if name not in beside | {"fft_bench"}]
    folder = "analysis/fourscore_analysis/records"
    texts = "".join(read(path.relative_to(root).as_posix()) for path in sorted((root / folder).glob("*.py")))
    file = "analysis/fourscore_analysis/points/keys.py"
    yield file, [name for name in re.findall(r'^        "(\w+)": ', read(file), re.MULTILINE) if name not in beside]
    yield folder, list(set(re.findall(r'\bread\((?:point|terms), "(\w+)"', texts)) - beside)


def references_elsewhere(root: Path, read: Read) -> Iterator[str]:
    """The reference libraries of CMake in their page, their tests and their colours; FFTW's own transform is apart."""
    names = set(re.findall(r"^fourscore_reference\((\S+)", read("cmake/FourscoreReferences.cmake"), re.MULTILINE))
    test, page = "tests/drivers/variants/reference_test.cpp", "docs/references.md"
    colours = file_with(root, "analysis/fourscore_analysis", "VARIANT_COLOURS = ")
    for file, found in (
        (test, set(re.findall(r'^    \{"([\w-]+)",', read(test), re.MULTILINE))),
        (page, set(re.findall(r"^\| `([\w-]+)` \|", read(page), re.MULTILINE)) - {"fftw-mpi"}),
        (colours, python_names(read(colours), "VARIANT_COLOURS") & names),
    ):
        if found != names:
            yield f"{file}: reference libraries differ from cmake/FourscoreReferences.cmake by {sorted(found ^ names)}"


KeyPath = tuple[str, ...]


def keys_of_example(text: str) -> Iterator[KeyPath]:
    """The keys of JSON with comments, each with those that it is in."""
    within: list[str] = []
    key = ""
    for token in re.finditer(r'"([^"]*)"( *:)?|[{\[}\]]', re.sub(r"//.*", "", text)):
        if token[2]:
            key = token[1]
            yield (*filter(None, within), key)
        elif token[0] in "{[":
            within.append(key)
            key = ""
        elif token[0] in "}]":
            within.pop()
            key = ""


def keys_of_schema(node: dict, definitions: dict, within: KeyPath = ()) -> Iterator[KeyPath]:
    """The same of a schema. The key * is any; ** is any with whatever is in it, where the schema leaves that open."""
    node = definitions[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    for part in ("then", "else", "items"):
        if part in node and "properties" not in node:
            yield from keys_of_schema(node[part], definitions, within)
    others = node.get("additionalProperties", node.get("type") == "object")
    if others is True:
        yield (*within, "**")
    for key, one in (node.get("properties", {}) | ({"*": others} if isinstance(others, dict) else {})).items():
        yield (*within, key)
        yield from keys_of_schema(one, definitions, (*within, key))


def is_key(key: KeyPath, known: KeyPath) -> bool:
    if known[-1] == "**":
        return len(key) >= len(known) and is_key((*key[: len(known) - 1], "*"), (*known[:-1], "*"))
    return len(key) == len(known) and all(one in (name, "*") for name, one in zip(key, known, strict=True))


def record_keys_elsewhere(read: Read) -> Iterator[str]:
    """results/README.md shows each key of run-record.schema.json, or names it in a comment or the text; and no other."""
    schema = json.loads(read("results/run-record.schema.json"))
    known = set(keys_of_schema(schema, schema["$defs"]))
    page = read("results/README.md")
    examples = [one for one in re.findall(r"```jsonc\n(.*?)```", page, re.DOTALL) if "fourscore.qualification" not in one]
    shown = {key for example in examples for key in keys_of_example(example)}
    for key in sorted(shown):
        if not any(is_key(key, one) for one in known):
            yield f"results/README.md: {'.'.join(key)} is no key of run-record.schema.json"
    comments = " ".join(re.findall(r"//.*", page))
    named = {*re.findall(r'"(\w+)"', comments), *re.findall(r"`(?:\w+\.)*(\w+)`", page + read("docs/gpu.md"))}
    for key in sorted(known):
        if "*" not in key[-1] and key[-1] not in named and not any(is_key(one, key) for one in shown):
            yield f"results/README.md: {'.'.join(key)} of run-record.schema.json is neither shown nor named"


def settings_elsewhere(read: Read) -> Iterator[str]:
    """The settings of core/settings.hpp in the schema of records, and in the example of suites/README.md."""
    keys = set(re.findall(r'\.key = "(\w+)"', read("core/settings.hpp")))
    sampling = json.loads(read("results/run-record.schema.json"))["properties"]["sampling"]["properties"]
    beside = {"start", "seed", "slow_down", "launches_before", "counters", "counter_group", "counter_cache"}
    if keys != sampling.keys() - beside:
        yield f"results/run-record.schema.json: settings differ from core/settings.hpp by {sorted(keys ^ (sampling.keys() - beside))}"
    text = read("suites/README.md")
    if missing := [key for key in sorted(keys) if not re.search(rf"^{key} = ", text, re.MULTILINE)]:
        yield f"suites/README.md: the example has no {missing}, of core/settings.hpp"


def file_with(root: Path, folder: str, line: str) -> str:
    """The file of the analysis in which a line begins so: its place may change."""
    for path in sorted((root / folder).rglob("*.py")):
        if re.search(rf"^{line}", path.read_text(encoding="utf-8"), re.MULTILINE):
            return path.relative_to(root).as_posix()
    raise ValueError(f"{folder}: nothing begins with {line}")


def types_of_one_name(root: Path, read: Read) -> Iterator[str]:
    """Two types of one name and namespace in headers: the linker takes the functions of one of them for both."""
    found: dict[tuple[str, str], str] = {}
    for folder in ("core", "drivers", "hwcounters", "results", "jobscripts"):
        for path in sorted((root / folder).rglob("*.hpp")):
            name = path.relative_to(root).as_posix()
            text = read(name)
            namespace = "::".join(re.findall(r"^namespace ([\w:]+) {", text, re.MULTILINE))
            for kind in re.findall(r"^(?:struct|class|enum class) (\w+)[^;(]*{", text, re.MULTILINE):
                other = found.setdefault((namespace, kind), name)
                if other != name:
                    yield f"{name}: the type {kind} of {other} once more; expected another name"


def differences(root: Path, read: Read | None = None) -> Iterator[str]:
    read = read or (lambda name: (root / name).read_text(encoding="utf-8"))
    phases = names_in_table(read("core/phase.hpp"), "phase_names{")
    flags = names_in_table(read("core/flags.hpp"), "flag_table{{")
    version = int(re.search(r"record_schema_version = (\d+)", read("core/record.hpp"))[1])
    schema = json.loads(read("results/run-record.schema.json"))
    for listed in enums(schema):
        if "fft" in listed and listed != phases:
            yield f"results/run-record.schema.json: phases {listed}; core/phase.hpp has {phases}"
        if "in-cache" in listed and listed != flags:
            yield f"results/run-record.schema.json: flags {listed}; core/flags.hpp has {flags}"
    if schema["properties"]["schema_version"]["enum"] != list(range(1, version + 1)):
        yield f"results/run-record.schema.json: other schema_versions than 1 to {version}, that of core/record.hpp"
    record = read("core/record.hpp")
    statuses, parts = array_of(record, "verdict_statuses"), array_of(record, "optional_parts")
    steps = [f"{step}_s" for step in array_of(record, "harness_steps")]
    for what, listed, names in (
        ("statuses", schema["properties"]["verdict"]["properties"]["status"]["enum"], statuses),
        ("failed_parts", schema["properties"]["failed_parts"]["propertyNames"]["enum"], parts),
        ("steps of the harness", list(schema["properties"]["harness"]["properties"]), steps),
    ):
        if listed != names:
            yield f"results/run-record.schema.json: {what} {listed}; core/record.hpp has {names}"
    analysis = "analysis/fourscore_analysis"
    for variable, pattern, names, more in (
        ("PHASES", "PHASES = ", phases, set()),
        ("FLAGS", "FLAGS = ", flags, {"mixed-launch", "slow-node"}),
        ("STATUSES", "STATUSES = ", statuses, set()),
        ("HARNESS_STAGES", "HARNESS_STAGES = ", steps, set()),
    ):
        file = file_with(root, analysis, pattern)
        found = python_names(read(file), variable)
        if found != set(names) | more:
            yield f"{file}: {variable} differs from core by {sorted(found ^ (set(names) | more))}"
    file = file_with(root, analysis, "SCHEMA_VERSION = ")
    if int(re.search(r"^SCHEMA_VERSION = (\d+)", read(file), re.MULTILINE)[1]) != version:
        yield f"{file}: another SCHEMA_VERSION than {version}, that of core/record.hpp"
    release = re.search(r"^project\(fourscore VERSION (\S+)", read("CMakeLists.txt"), re.MULTILINE)[1]
    if f'__version__ = "{release}"' not in read(f"{analysis}/__init__.py").splitlines():
        yield f"{analysis}/__init__.py: another __version__ than {release}, that of CMakeLists.txt"
    keys = point_keys(read("core/point_keys.cpp"))
    for place, named in keys_elsewhere(root, read):
        if sorted(named) != sorted(keys):
            yield f"{place}: keys of a point differ from core/point_keys.cpp by {sorted(set(named) ^ set(keys)) or 'a double'}"
    yield from settings_elsewhere(read)
    yield from references_elsewhere(root, read)
    yield from record_keys_elsewhere(read)
    yield from types_of_one_name(root, read)
    documents = [path.relative_to(root).as_posix() for path in sorted((root / "docs").rglob("*.md"))]
    tables = {name: set(re.findall(r"^\| `([a-z-]+)` \|", read(name), re.MULTILINE)) for name in documents}
    table = max(tables, key=lambda name: len(tables[name] & set(flags)))
    for flag in flags:
        if flag not in tables[table]:
            yield f"{table}: the table of flags has no '{flag}'"


def selftest(root: Path) -> int:
    """Each file with one name spoilt must make a difference."""
    spoilt = [
        ("results/run-record.schema.json", '"twiddle"', '"twidle"'),
        ("jobscripts/machines/check/findings.hpp", "struct MachineFinding {", "struct Finding {"),
        ("results/run-record.schema.json", '"foreign"]', '"foregn"]'),
        ("core/flags.hpp", '{"cold"', '{"colder"'),
        ("core/phase.hpp", '"combine"', '"combined"'),
        ("results/run-record.schema.json", '"skipped", "failed", "timeout"]', '"skiped", "failed", "timeout"]'),
        ("results/run-record.schema.json", '["timeline", "isolate", "counters"]', '["timeline", "isolate"]'),
        ("results/run-record.schema.json", '"isolate_s"', '"isolated_s"'),
        (file_with(root, "analysis/fourscore_analysis", "STATUSES = "), '"skipped"', '"skiped"'),
        (file_with(root, "analysis/fourscore_analysis", "HARNESS_STAGES = "), '"count_s"', '"counts_s"'),
        ("core/point_keys.cpp", '.name = "planner"', '.name = "planer"'),
        ("core/settings.hpp", '.key = "isolate"', '.key = "isolated"'),
        ("suites/README.md", "timeline = false", "timelines = false"),
        ("core/point_keys.cpp", '.name = "nodes"', '.name = "node"'),
        ("results/run-record.schema.json", '"placement": {"enum"', '"placment": {"enum"'),
        ("results/run-record.schema.json", '"planner": {"enum"', '"planer": {"enum"'),
        ("suites/README.md", "`instances`, `placement`", "`placement`"),
        ("results/README.md", '"threads": 1', '"thread": 1'),
        ("results/README.md", '"start_skew_s": ', '"start_skew": '),
        ("results/run-record.schema.json", '"finding": ', '"findings": '),
        ("analysis/fourscore_analysis/records/cells.py", 'read(terms, "layout"', 'read(terms, "layouts"'),
        ("analysis/fourscore_analysis/points/keys.py", '"buffers": contract.buffers', '"buffer": contract.buffers'),
        ("analysis/fourscore_analysis/records/basics.py", 'read(point, "ranks"', 'read(point, "rank"'),
        ("cmake/FourscoreReferences.cmake", "fourscore_reference(p3dfft", "fourscore_reference(p3dff"),
        (file_with(root, "analysis/fourscore_analysis", "VARIANT_COLOURS = "), '"accfft"', '"acfft"'),
        (file_with(root, "analysis/fourscore_analysis", "FLAGS = "), '"cold"', '"colder"'),
        (file_with(root, "analysis/fourscore_analysis", "PHASES = "), '"unpack"', '"unpacked"'),
        (
            file_with(root, "analysis/fourscore_analysis", "SCHEMA_VERSION = "),
            "SCHEMA_VERSION = ",
            "SCHEMA_VERSION = 9",
        ),
        ("CMakeLists.txt", "project(fourscore VERSION ", "project(fourscore VERSION 9"),
    ]
    status = 0
    for file, old, new in spoilt:

        def read(name: str, file: str = file, old: str = old, new: str = new) -> str:
            text = (root / name).read_text(encoding="utf-8")
            return text.replace(old, new) if name == file else text

        if old not in (root / file).read_text(encoding="utf-8") or not list(differences(root, read)):
            print(f"{file}: {old} became {new}, and nothing was found")
            status = 1
    print(f"{len(spoilt)} lists spoilt in turn")
    return status


if __name__ == "__main__":
    sys.exit(
        run(__doc__, differences, "what is listed twice, and the schema's version are the same everywhere", selftest)
    )
