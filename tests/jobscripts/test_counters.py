"""Event groups and qualification; callgrind counts for real, on a cache of 256 KiB."""

import json
import shlex
import shutil
import subprocess

import pytest
from laboratories import unavailable

CACHE = ["--counter-cache", "256KiB"]
takes_root = pytest.mark.skipif(bool(unavailable()), reason=unavailable() or "none")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind in PATH")


def test_list_shows_every_backend_with_its_groups_or_why_not(fourscore):
    listed = fourscore.json("counters", "list")
    names = {backend["name"] for backend in listed["backends"]}
    assert {"papi", "likwid", "perf", "callgrind", "resctrl", "powercap", "nvml"} <= names and "none" not in names
    assert all(backend["available"] or backend["reason"] for backend in listed["backends"])
    words = fourscore("counters", "list").stdout
    assert all(name in words for name in names) and listed["arch"] in words


@takes_root
def test_groups_are_listed_and_shown_where_the_machine_tells_no_cache(fourscore):
    """As in a container without /sys."""
    empty = fourscore.folder / "empty"
    empty.mkdir()
    for words in (["list"], ["list", "--json"], ["show", "MEM", "--counters", "callgrind"]):
        command = shlex.join(fourscore.command("counters", *words))
        without = ["unshare", "--mount", "sh", "-c", f"mount --bind {shlex.quote(str(empty))} /sys && {command}"]
        done = subprocess.run(without, env=fourscore.environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert "MEM" in done.stdout


def test_show_tells_events_formulas_and_explanation(fourscore):
    out = fourscore("counters", "show", "SOFTWARE", "--counters", "papi").stdout
    assert "perf::TASK-CLOCK" in out and "task_clock_ns" in out and "[ns]" in out
    shown = fourscore.json("counters", "show", "SOFTWARE")
    assert {group["backend"] for group in shown} >= {"papi", "perf"} and all(g["explanation"] for g in shown)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "SOFTWAR"], "SOFTWARE"),
        (["show", "MEM", "--counters", "papy"], "papy"),
        (["qualfy"], "did you mean 'qualify'"),
        (["qualify", "--conters", "papi"], "did you mean '--counters'"),
        (["qualify", "--counters", "callgrind", "--counter-cache", "3KiB,7"], "power"),
        (["qualify", "--counters", "papi", "--counter-cache", "1MiB"], "simulates no cache"),
        (["qualify", "--counters", "callgrind", *CACHE, "--bytes", "1000"], "4 times the last-level cache"),
        (["qualify", "--counters", "callgrind", *CACHE, "--bytes", "90000000000000"], "do not fit into memory"),
        (["qualify", "--counters", "callgrind", *CACHE, "--counter-group", "MEMO"], "did you mean 'MEM'"),
        ([], "fourscore counters --help"),
    ],
)
def test_unusable_input_ends_with_2_and_says_what_is_expected(fourscore, arguments, words):
    if "callgrind" in arguments:
        fourscore.skip_unless_counted("callgrind")
    result = fourscore("counters", *arguments, code=2)
    assert words in result.stderr and result.stdout == ""
    assert not list(fourscore.archive.glob("qualifications/*"))


@needs_valgrind
def test_callgrind_is_fit_and_the_archive_holds_the_figures(fourscore):
    fourscore.skip_unless_counted("callgrind")
    out = fourscore("counters", "qualify", "--counters", "callgrind", *CACHE).stdout
    assert "callgrind MEM" in out and " fit," in out
    (file,) = fourscore.archive.glob("qualifications/*-callgrind-MEM.json")
    found = json.loads(file.read_text())
    assert found["schema"] == "fourscore.qualification" and found["fit"] is True and found["limit"] == 0.1
    assert file.name.startswith(found["machine_hash"]) and found["cache"]["size_bytes"] == 256 * 1024
    kernels = {kernel["name"]: kernel for kernel in found["kernels"]}
    assert {"read", "write", "copy"} <= kernels.keys()
    for kernel in kernels.values():
        assert abs(kernel["counted_read_bytes"] - kernel["known_read_bytes"]) <= 0.1 * found["array_bytes"]
        assert abs(kernel["counted_write_bytes"] - kernel["known_write_bytes"]) <= 0.1 * found["array_bytes"]
    assert abs(found["worst_ratio"] - 1) <= 0.1


@needs_valgrind
def test_a_backend_that_is_off_ends_with_1_and_is_kept_as_unfit(fourscore):
    fourscore.skip_unless_counted("callgrind")
    shown = fourscore.json("counters", "show", "MEM", "--counters", "callgrind")[0]
    folder = fourscore.folder / "groups" / "any"
    folder.mkdir(parents=True)
    events = "\n".join(f'{event["name"]} = {json.dumps(event["code"])}' for event in shown["events"])
    metrics = "".join(
        f'[[callgrind.metrics]]\nname = "{m["name"]}"\nunit = "{m["unit"]}"\nformula = "2 * ({m["formula"]})"\n'
        for m in shown["metrics"]
    )
    (folder / "MEM.toml").write_text(
        f'description = "twice too much"\nexplanation = "of a test"\n[callgrind.events]\n{events}\n{metrics}'
    )
    out = fourscore(
        "counters", "qualify", "--counters", "callgrind", *CACHE, "--counter-groups", folder.parent, "--json", code=1
    ).stdout
    (found,) = json.loads(out)["qualifications"]
    assert found["fit"] is False and 1.9 < found["worst_ratio"] < 2.2
    (file,) = fourscore.archive.glob("qualifications/*.json")
    assert json.loads(file.read_text())["fit"] is False


def test_a_backend_that_cannot_count_here_ends_with_3_and_its_reason(fourscore):
    listed = fourscore.json("list", "counters")
    absent = [entry for entry in listed if not entry["available"]]
    if not absent:
        pytest.skip("every backend can count here")
    result = fourscore("counters", "qualify", "--counters", absent[0]["name"], code=3)
    assert absent[0]["reason"][:40] in result.stderr
