"""What repeats a table is made of it: the record's schema and what Python reads of core's tables, lists in README files
of both. What says more, as a list of meanings does, is held to it.

Usage: lists.py ROOT             compares, prints what differs, exits 1 when something does
       lists.py ROOT --write     makes the schema and the lists anew
       lists.py ROOT --selftest  changes each list in memory and expects the difference to be found
"""

from __future__ import annotations

import ast
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

from checker import run

Read = Callable[[str], str]
SCHEMA, ANALYSIS = "results/run-record.schema.json", "analysis/fourscore_analysis"
CORE = f"{ANALYSIS}/records/core.json"
APART = ("properties", "$defs", "point_keys")  # keys whose values have a line each
FORMS = {"": {"$ref": "#/$defs/word"}, "Form::integer": {"$ref": "#/$defs/count"}}  # a new key's; narrower by hand


def names_in_table(text: str, start: str) -> list[str]:
    """The first string of each {...} or of the list itself, between `start` and the end of the initialiser."""
    body = text[text.index(start) + len(start) :]
    body = body[: body.index("};")]
    entries = re.findall(r'\{\s*"([^"]+)"', body)
    return entries or re.findall(r'"([^"]+)"', body)


def rows(text: str, first: str) -> list[dict[str, str]]:
    """The rows of a table whose designated initialisers begin with `first`: each member as it is written."""
    found = (f".{first} = {row}" for row in text.split(f"{{.{first} = ")[1:])
    return [dict(re.findall(r"\.(\w+) = (.*?)(?=,\s*\.\w+ =|\},)", row, re.DOTALL)) for row in found]


def said(initialiser: str) -> str:
    """The text of string literals."""
    return "".join(re.findall(r'"([^"]*)"', initialiser))


def point_keys(read: Read) -> list[dict[str, str]]:
    """The rows of core/point_keys.cpp that are of transforms."""
    return rows(read("core/point_keys.cpp").split("component_keys() {")[0], "name")


def settings(read: Read) -> list[dict[str, str]]:
    """The rows of core/settings.hpp, each with the type and the default of its member."""
    text = read("core/settings.hpp")
    members = re.findall(r"^  ([\w:]+) (\w+) = (.*?);", text, re.MULTILINE)
    of_member = {f"&S::{name}": {"type": kind, "default": default} for kind, name, default in members}
    return [row | of_member[row["member"]] for row in rows(text, "key")]


def setting_schema(row: dict[str, str]) -> dict[str, object]:
    forms: dict[str, dict[str, object]] = {
        "bool": {"type": "boolean"},
        "double": {"type": "number", "exclusiveMinimum": 0},
        "int": {"type": "integer", "minimum": int(float(row.get("least", "0"))), "maximum": 2**31 - 1},
        "std::string": {"enum": re.findall(r'"([^"]+)"', row.get("words", ""))},
    }
    return forms[row["type"]] | {"description": said(row["help"])}


def setting_lines(row: dict[str, str]) -> str:
    """In the example of a suite: the setting with its default, or as a comment where that is none."""
    unset = (row["type"], row["default"]) == ("double", "0")
    example = f"# {said(row['key'])} = 1.0" if unset else f"{said(row['key'])} = {row['default']}"
    whose = "components: " if row.get("of", "").endswith("components") else ""
    first, *more = textwrap.wrap(whose + said(row["help"]), 88)
    return "".join([f"{example:<34} # {first}\n", *(f"{'':34} # {line}\n" for line in more)])


def schema_version(read: Read) -> int:
    return int(re.search(r"record_schema_version = (\d+)", read("core/record.hpp"))[1])


def core_of(read: Read) -> dict:
    """What the analysis reads of core's tables, and of the schema."""
    record = read("core/record.hpp")
    return {
        "schema_version": schema_version(read),
        "statuses": names_in_table(record, "verdict_statuses{"),
        "verified_by": json.loads(read(SCHEMA))["properties"]["verified_by"]["enum"],
        "harness_stages": [f"{step}_s" for step in names_in_table(record, "harness_steps{")],
        "point_keys": {
            said(row["name"]): {"path": said(row["path"]), "form": row.get("form", "Form::text").removeprefix("Form::")}
            for row in point_keys(read)
        },
    }


def schema_of(read: Read) -> dict:
    """The schema with what it has of core's tables. What core no longer has stays: earlier records hold it."""
    schema, record = json.loads(read(SCHEMA)), read("core/record.hpp")
    properties = schema["properties"]
    version = schema_version(read)
    schema["title"] = f"RunRecord, schema version {version}"
    properties["schema_version"]["enum"] = list(range(1, version + 1))
    schema["$defs"]["phase"]["enum"] = names_in_table(read("core/phase.hpp"), "phase_names{")
    properties["flags"]["items"]["enum"] = names_in_table(read("core/flags.hpp"), "flag_table{{")
    properties["verdict"]["properties"]["status"]["enum"] = names_in_table(record, "verdict_statuses{")
    properties["failed_parts"]["propertyNames"]["enum"] = names_in_table(record, "optional_parts{")
    for step in names_in_table(record, "harness_steps{"):
        properties["harness"]["properties"].setdefault(f"{step}_s", {"$ref": "#/$defs/amount"})
    properties["sampling"]["properties"] |= {said(row["key"]): setting_schema(row) for row in settings(read)}
    transform, component = (properties["point"][part]["properties"] for part in ("else", "then"))
    for row in point_keys(read):
        *within, name = said(row["path"]).strip("/").split("/")
        form = FORMS.get(row.get("form", ""), {}) | {"description": said(row.get("help", ""))}
        (transform["contract"]["properties"] if within else transform).setdefault(name, form)
        if "of_launch" in row:
            component.setdefault(name, form)
    return schema


def laid_out(value: object, indent: int = 0, used: int = 0, apart: bool = False) -> str:
    """JSON with a line for each key of a schema, and for all that fits 140 columns."""
    text = json.dumps(value, ensure_ascii=False)
    if indent + used + len(text) <= 140 or not (apart or '"properties": {' in text):
        return text
    end, inner = "\n" + " " * indent, indent + 2
    if isinstance(value, list):
        return "[" + ",".join(f"{end}  {laid_out(one, inner)}" for one in value) + f"{end}]"
    lines = (f'{end}  "{key}": ' + laid_out(one, inner, len(key) + 5, key in APART) for key, one in value.items())
    return "{" + ",".join(lines) + f"{end}}}"


def with_part(page: str, start: str, end: str, part: str) -> str:
    """The page with `part` between these two."""
    before, _, rest = page.partition(start)
    return before + start + part + end + rest.partition(end)[2]


def made(read: Read) -> Iterator[tuple[str, str]]:
    """Each file that has parts made of a table, and its text with them."""
    schema = schema_of(read)
    yield SCHEMA, laid_out(schema) + "\n"
    yield CORE, laid_out(core_of(read), apart=True) + "\n"
    keys = ", ".join(f"`{said(row['name'])}`" for row in point_keys(read))
    sentence = f"{keys}, and `parameters` (a table of lists). `fft_bench --help` shows their values."
    suites = with_part(read("suites/README.md"), "## Keys of a point\n\n", "\n\n", textwrap.fill(sentence, 100))
    yield (
        "suites/README.md",
        with_part(suites, "(1 to 1000)\n", "time_limit_s = ", "".join(map(setting_lines, settings(read)))),
    )
    table = "\n".join(f"| `{key}` | {one['description']} |" for key, one in schema["properties"].items())
    page = with_part(read("results/README.md"), "| key | what it says |\n|---|---|\n", "\n\n", table)
    yield "results/README.md", page


def undescribed(node: dict, within: str = "") -> Iterator[str]:
    """The keys without a description."""
    for part in ("then", "else", "items", "additionalProperties"):
        if isinstance(node.get(part), dict):
            yield from undescribed(node[part], within)
    for key, one in node.get("properties", {}).items():
        if not one.get("description"):
            yield f"{within}{key}"
        yield from undescribed(one, f"{within}{key}.")


def python_names(text: str, variable: str) -> set[str]:
    """The strings of a module's tuple or the keys of its dictionary."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == variable for t in node.targets):
            items = node.value.keys if isinstance(node.value, ast.Dict) else getattr(node.value, "elts", [])
            return {item.value for item in items if isinstance(item, ast.Constant)}
    raise ValueError(f"no {variable}")


def unknown_keys(root: Path, read: Read) -> Iterator[str]:
    """Keys that the analysis reads of a point by name, and that no point has."""
    known = {said(row["name"]) for row in point_keys(read)} | {"contract", "parameters", "component"}
    for path in sorted((root / ANALYSIS / "records").glob("*.py")):
        name = path.relative_to(root).as_posix()
        for key in sorted(set(re.findall(r'\bread\(point, "(\w+)"', read(name))) - known):
            yield f"{name}: '{key}' is no key of core/point_keys.cpp"


def references_elsewhere(root: Path, read: Read) -> Iterator[str]:
    """The reference libraries of CMake in their page, their tests and their colours; FFTW's own transform is apart."""
    names = set(re.findall(r"^fourscore_reference\((\S+)", read("cmake/FourscoreReferences.cmake"), re.MULTILINE))
    test, page = "tests/drivers/variants/reference_test.cpp", "docs/references.md"
    colours = file_of(root, "VARIANT_COLOURS")
    for file, found in (
        (test, set(re.findall(r'^    \{"([\w-]+)",', read(test), re.MULTILINE))),
        (page, set(re.findall(r"^\| `([\w-]+)` \|", read(page), re.MULTILINE)) - {"fftw-mpi"}),
        (colours, python_names(read(colours), "VARIANT_COLOURS") & names),
    ):
        if found != names:
            yield f"{file}: reference libraries differ from cmake/FourscoreReferences.cmake by {sorted(found ^ names)}"


def file_of(root: Path, variable: str) -> str:
    """The file of the analysis that sets it: its place may change."""
    for path in sorted((root / ANALYSIS).rglob("*.py")):
        if re.search(rf"^{variable} = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            return path.relative_to(root).as_posix()
    raise ValueError(f"{ANALYSIS}: no {variable}")


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
    for file, text in made(read):
        for now, then in zip_longest(read(file).splitlines(), text.splitlines()):
            if now != then:
                yield f"{file}: {now}; expected {then}: run tests/contract/lists.py . --write"
                break
    schema = json.loads(read(SCHEMA))
    for key in (key for node in (schema, *schema["$defs"].values()) for key in undescribed(node)):
        yield f"{SCHEMA}: {key} has no description"
    for variable, names, more in (
        ("PHASES", names_in_table(read("core/phase.hpp"), "phase_names{"), set()),
        ("FLAGS", names_in_table(read("core/flags.hpp"), "flag_table{{"), {"mixed-launch", "slow-node"}),
    ):
        file = file_of(root, variable)
        if found := python_names(read(file), variable) ^ set(names) ^ more:
            yield f"{file}: {variable} differs from core by {sorted(found)}"
    yield from unknown_keys(root, read)
    yield from references_elsewhere(root, read)
    yield from types_of_one_name(root, read)


def selftest(root: Path) -> int:
    """Each file with one name spoilt must make a difference."""
    spoilt = [
        (SCHEMA, '"twiddle"', '"twidle"'),
        ("jobscripts/machines/check/findings.hpp", "struct MachineFinding {", "struct Finding {"),
        (SCHEMA, '"foreign"]', '"foregn"]'),
        ("core/flags.hpp", '{"cold"', '{"colder"'),
        ("core/phase.hpp", '"combine"', '"combined"'),
        (SCHEMA, '"timeout", "skipped"]', '"timeout", "skiped"]'),
        (SCHEMA, '["timeline", "isolate", "counters"]', '["timeline", "isolate"]'),
        (SCHEMA, '"isolate_s"', '"isolated_s"'),
        ("core/record.hpp", '"wrong", "failed"', '"failed", "wrong"'),
        (CORE, '"count_s"', '"counts_s"'),
        (CORE, '"schema_version": ', '"schema_version": 9'),
        (CORE, '"/contract/layout"', '"/layout"'),
        ("core/point_keys.cpp", '.name = "planner"', '.name = "planer"'),
        ("core/settings.hpp", '.key = "isolate"', '.key = "isolated"'),
        ("suites/README.md", "timeline = false", "timelines = false"),
        ("core/point_keys.cpp", '.name = "nodes"', '.name = "node"'),
        (SCHEMA, '"placement": {"enum"', '"placment": {"enum"'),
        (SCHEMA, '"planner": {"enum"', '"planer": {"enum"'),
        ("suites/README.md", "`instances`, `placement`", "`placement`"),
        ("results/README.md", "| `cost` |", "| `costs` |"),
        (SCHEMA, '"description": "Over the nodes"', '"description": ""'),
        (f"{ANALYSIS}/records/basics.py", 'read(point, "ranks"', 'read(point, "rank"'),
        ("cmake/FourscoreReferences.cmake", "fourscore_reference(p3dfft", "fourscore_reference(p3dff"),
        (file_of(root, "VARIANT_COLOURS"), '"accfft"', '"acfft"'),
        (file_of(root, "FLAGS"), '"cold"', '"colder"'),
        (file_of(root, "PHASES"), '"unpack"', '"unpacked"'),
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
    if sys.argv[2:] == ["--write"]:
        tree = Path(sys.argv[1])
        for name, content in made(lambda name: (tree / name).read_text(encoding="utf-8")):
            (tree / name).write_text(content, encoding="utf-8")
        sys.exit()
    sys.exit(run(__doc__, differences, "what repeats a table is as the table has it", selftest))
