"""Plugins in suites and comparisons, with the real fft_bench."""

import json
import os
import pathlib
import subprocess

import pytest
from fourscore_command import REAL, repository_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILE = [os.environ["FOURSCORE_MPICC"], "-std=c99", "-O1", "-fPIC", "-shared", f"-I{ROOT}/drivers/interfaces"]
FAULTY = ROOT / "tests/support/faulty/plugin.c"
SWEEP = '[[sweep]]\nvariant = {}\nshape = "4x3x2"\nranks = 2\nplanner = "estimate"\n'


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The faulty plugin, with a fault; another `build` of it does the same."""
    folder = tmp_path_factory.mktemp("plugins")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def build(fault="NONE", build=0):
        file = folder / f"{build}" / f"lib{fault.lower()}.so"
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            text = FAULTY.read_text() + f"\nint build_number(void) {{ return {build}; }}\n"
            source = file.with_suffix(".c")
            source.write_text(text)
            subprocess.run([*COMPILE, f"-DFAULT={fault}", str(source), "-o", str(file), "-lm"], check=True, env=environment, timeout=60)
        return file

    return build


def by_variant(fourscore):
    return {record["point"]["variant"]: record["verdict"] for record in fourscore.records().values()}


def test_a_suite_measures_a_plugin_beside_variants_of_ours(fourscore, built):
    plugin = built()
    (fourscore.folder / "libmine.so").symlink_to(plugin)
    suite = fourscore.suite('name="s"\nlaunches=1\nplugin = "libmine.so"\n' + SWEEP.format('["by-definition", "slab"]'))
    fourscore("run", suite, environment=REAL)
    assert {name: verdict["status"] for name, verdict in by_variant(fourscore).items()} == {"by-definition": "ok", "slab": "ok"}
    fourscore("verify")
    again = fourscore.plan(suite, environment=REAL)
    assert all(launch["done"] for launch in again["launches"])
    other = fourscore.plan(suite, "--plugin", built(build=1), environment=REAL)
    assert other["campaign"] != again["campaign"] and not any(launch["done"] for launch in other["launches"])


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ('plugin = "libnone.so"', "s.toml:3: key 'plugin' is 'libnone.so'; there is no such file"),
        ("plugin = 3", "s.toml:3: key 'plugin' is 3; expected a string"),
        ('plugin = "s.toml"', "cannot be loaded"),
    ],
)
def test_a_plugin_that_is_none_is_refused_before_anything_is_launched(fourscore, key, said):
    suite = fourscore.suite(f'name="s"\nlaunches=1\n{key}\n' + SWEEP.format('"slab"'))
    assert said in fourscore("run", suite, environment=REAL, code=2).stderr
    assert not fourscore.records()


@pytest.mark.parametrize(("fault", "status"), [("CRASHES", "failed"), ("HANGS", "timeout"), ("WRONG_DATA", "wrong"), ("SECOND_CREATE", "failed")])
def test_a_campaign_goes_on_after_a_plugin_that_fails(fourscore, built, fault, status):
    suite = fourscore.suite(f'name="s"\nlaunches=1\ntime_limit_s=5\nplugin = "{built(fault)}"\n' + SWEEP.format('["by-definition", "slab"]'))
    fourscore("run", suite, environment=REAL, code=1)
    verdicts = by_variant(fourscore)
    assert (verdicts["by-definition"]["status"], verdicts["slab"]["status"]) == (status, "ok")
    if fault == "SECOND_CREATE":
        assert "fourscore_create returned 5: out of plans" in json.dumps(verdicts["by-definition"])


def test_plugins_are_listed_among_the_variants(fourscore, built):
    listed = fourscore.json("list", "variants", "--plugin", built(), environment=REAL)
    assert "by-definition" in [entry["name"] for entry in listed]


def comparison(fourscore):
    (file,) = fourscore.archive.glob("comparisons/*/comparison.json")
    return json.loads(file.read_text())


def test_two_revisions_of_a_plugin_are_built_and_compared_in_pairs_and_two_builds_are_taken(fourscore, built, tmp_path):
    sources = [FAULTY.read_text() + f"\nint build_number(void) {{ return {number}; }}\n" for number in range(2)]
    repository = repository_of(tmp_path / "theirs", "mine.c", *sources)
    environment = REAL | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    suite = fourscore.suite('name="s"\n' + SWEEP.format('"by-definition"'))
    builds = ("compare", "--plugin", built(), built(build=1), "--suite", suite, "--dry-run")
    assert "by-definition" in fourscore(*builds, environment=REAL).stdout
    command = ("compare", "HEAD~1", "HEAD", "--suite", suite, "--pairs", 6, "--most-pairs", 6, "--quiet", "--repo", repository)
    build = "mkdir -p lib && env -u LD_PRELOAD " + " ".join([*COMPILE, "-DFAULT=NONE", "mine.c", "-o", "lib/libmine.so", "-lm"])
    run = fourscore(*command, "--build", build, "--artifact", "lib/libmine.so", environment=environment, code=(0, 1))
    # So few pairs on a busy machine may say anything.
    assert "The builds differ in libraries.libmine.so." in run.stdout
    sides = comparison(fourscore)
    assert sides["base"]["code_hash"] != sides["candidate"]["code_hash"]
    again = fourscore(*command, "--build", build, "--artifact", "lib/libmine.so", "--dry-run", environment=environment)
    assert "0 launches are missing" in again.stdout
    failed = fourscore(*command, "--build", "echo so; false", "--artifact", "lib/libmine.so", environment=environment, code=2)
    assert "revision 'HEAD~1' does not build: --build 'echo so; false' failed:" in failed.stderr
    nothing = fourscore(*command, "--build", "true", "--artifact", "lib/libmine.so", environment=environment, code=2)
    assert "was built, but has no" in nothing.stderr
    unknown = fourscore("compare", "HEAD", "nosuch", "--repo", repository, "--build", "true", "--artifact", "x", environment=environment, code=2)
    assert "'nosuch' is no revision of the repository" in unknown.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--build", "make"), "--build and --artifact go together"),
        (("--plugin", "a.so", "b.so"), "--plugin: a.so is no file"),
        (("HEAD", "HEAD", "--plugin", __file__, __file__), "--plugin and --program name both sides"),
    ],
)
def test_a_comparison_of_plugins_that_cannot_be_is_refused(fourscore, options, said):
    assert said in fourscore("compare", *options, environment=REAL, code=2).stderr
