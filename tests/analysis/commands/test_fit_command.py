"""`fit`: an archive's methods with their models, what cannot be fitted with the reason, and unusable input by name."""

from __future__ import annotations

import json

import pytest
import synthetic
from fourscore_analysis.cli import main
from fourscore_analysis.models.machines import read_toml
from fourscore_analysis.records.workers import pool_of
from fourscore_analysis.views import fits
from synthetic import Maker, make_point

EXTENTS = (16, 24, 32, 48, 64, 96, 128)


def points(variant="pencil", extents=EXTENTS, ranks=(1, 2, 4), **changes):
    return [make_point(variant, "alltoallv", (n, n, n), p, **changes) for n in extents for p in ranks]


def archive_of(folder, made, launches=2, name="sizes-1a2b3c4d", cpu=None):
    maker = Maker(campaign=name, suite="sizes", isolate=False)
    records = []
    for launch in range(launches):
        for point in made:
            record = maker.ok(point, launch)
            if cpu:
                provenance = maker.provenance(point, cpu)
                record["provenance"] = provenance
            records.append(record)
    for record in records:
        synthetic.store(folder, record)
    return folder


def asked(capsys, archive, *arguments, code=0):
    assert main(["fit", "--archive", str(archive), *arguments]) == code
    return capsys.readouterr()


@pytest.fixture
def archive(tmp_path):
    return archive_of(tmp_path / "archive", points())


def test_a_method_has_its_models_the_best_first_and_each_parameter_with_unit_and_interval(archive, capsys):
    [found] = json.loads(asked(capsys, archive, "--json").out)
    assert found["method"] == "pencil/alltoallv"
    assert (found["launches"], found["ranks"]) == (2 * len(EXTENTS) * 3, [1, 2, 4])
    assert {model["model"] for model in found["models"]} == {"czechowski2012", "loggp", "pmnf"}
    rate = next(one for model in found["models"] for one in model["parameters"] if one["name"] == "flop_rate")
    assert rate["unit"] == "flop/s"
    assert rate["value"] == pytest.approx(2e9, rel=0.1)  # that of the made-up machine
    assert rate["interval"][0] < rate["value"] < rate["interval"][1]
    medians = [sum(errors[-1]["median"] for errors in model["held_out"].values()) / 2 for model in found["models"]]
    assert medians == sorted(medians)


def test_the_models_of_one_method_share_the_cores_and_find_the_same(archive, capsys, monkeypatch):
    alone = asked(capsys, archive, "--json").out
    started = []

    def remembered(workers):
        started.append(workers)
        return pool_of(workers)

    monkeypatch.setattr(fits, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(fits, "available_cores", lambda: 2)
    monkeypatch.setattr(fits, "pool_of", remembered)
    assert asked(capsys, archive, "--json").out == alone
    assert started == [2]


def test_the_text_says_models_parameters_and_errors_beside_the_nearest_point(archive, capsys):
    out = asked(capsys, archive).out
    for words in (
        "pencil/alltoallv",
        "7 sizes from 16³ to 128³",
        "<- used",
        "nearest point",
        "each of size left out once",
    ):
        assert words in out


def test_forms_and_given_parameters_are_used(archive, capsys):
    [found] = json.loads(
        asked(
            capsys, archive, "--json", "--model", "czechowski2012", "--form", "compute=sum", "--given", "latency=3e-6"
        ).out
    )
    [model] = found["models"]
    assert model["forms"]["compute"] == "sum"
    [latency] = [one for one in model["parameters"] if one["name"] == "latency"]
    assert (latency["value"], latency["from"]) == (3e-6, "given")


def test_what_a_component_program_measured_is_taken_unless_it_is_to_be_fitted(tmp_path, capsys):
    archive = archive_of(tmp_path / "archive", points())
    for record in synthetic.component_records(Maker(campaign="components-1a2b3c4d", suite="components")):
        synthetic.store(archive, record)
    arguments = ("--json", "--model", "czechowski2012")
    [taken] = json.loads(asked(capsys, archive, *arguments).out)
    origin = {one["name"]: one["from"] for one in taken["models"][0]["parameters"]}
    assert origin["link_bandwidth"] == "pairwise_bench"
    assert origin["latency"] == "pairwise_bench"
    [fitted] = json.loads(asked(capsys, archive, *arguments, "--fit-anyway", "link_bandwidth").out)
    origin = {one["name"]: one["from"] for one in fitted["models"][0]["parameters"]}
    assert origin["link_bandwidth"] in ("fitted", "undetermined")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (points(extents=(32, 64)), "measured at 2 sizes; a fit takes 3 or more"),
        (points(ranks=(2,)), "measured on 2 ranks only; a fit takes 2 or more counts of ranks"),
    ],
)
def test_too_few_points_are_not_fitted_and_say_how_many_it_takes(tmp_path, capsys, made, words):
    archive = archive_of(tmp_path / "archive", made)
    suite = tmp_path / "more.toml"
    assert words in asked(capsys, archive, "--suggest", str(suite), code=1).out
    text = suite.read_text()
    assert 'variant = "pencil"' in text
    assert "ranks = 1" in text


def test_launches_of_several_machines_are_refused_with_what_differs(tmp_path, capsys):
    archive = archive_of(tmp_path / "archive", points())
    archive_of(archive, points(), name="sizes-5e6f7a8b", cpu="Other 1 @ 1 GHz")
    error = asked(capsys, archive, code=2).err
    assert "launches of 2 machines" in error
    assert "cpu_model" in error
    assert "Other 1" in error
    one = error.split("beginning of its hash: ")[1].split(",")[0].strip()
    asked(capsys, archive, "--machine-hash", one)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nosuch"], "no model 'nosuch'; expected one of czechowski2012"),
        (["--variant", "nosuch"], "no launch of variant 'nosuch'; these campaigns have pencil"),
        (["--form", "nosuch=1"], "no form 'nosuch'; expected one of"),
        (["--form", "compute=never"], "form compute cannot be 'never'; expected one of max, sum"),
        (["--machine-hash", "nosuch"], "no launch is of a machine nosuch"),
        (["nosuch"], "no campaign or suite 'nosuch'"),
    ],
)
def test_unusable_input_ends_with_2_and_names_what_was_wrong(archive, capsys, arguments, words):
    assert words in asked(capsys, archive, *arguments, code=2).err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--given", "latency", "is not NAME=VALUE"),
        ("--given", "nosuch=1", "no parameter 'nosuch'"),
        ("--given", "latency=-1", "expected a number of s from 1e-09 to 1"),
        ("--given", "latency=soon", "expected a number of s"),
        ("--given", "latency=nan", "expected a number of s"),
        ("--given", "memory_bandwidth=1e99", "expected a number of B/s"),
        ("--fit-anyway", "nosuch", "no parameter 'nosuch'"),
    ],
)
def test_absurd_parameters_are_refused(archive, capsys, option, value, words):
    with pytest.raises(SystemExit) as ended:
        main(["fit", "--archive", str(archive), option, value])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_library_call_without_phases_is_modelled_as_a_whole(tmp_path, capsys):
    maker = Maker(campaign="sizes-1a2b3c4d", suite="sizes", isolate=False)
    for point in points("fftw-mpi"):
        seconds = 1e-9 * point["shape"][0] ** 3 / point["ranks"]
        rows = [[seconds] * 3] * point["ranks"]
        synthetic.store(tmp_path / "archive", maker.with_samples(point, 0, rows, {"other": rows}))
    [found] = json.loads(asked(capsys, tmp_path / "archive", "--json").out)
    [model] = found["models"]
    assert model["model"] == "pmnf"
    assert {errors["phase"] for errors in model["held_out"]["size"]} == {"whole", "total"}
    assert model["held_out"]["size"][-1]["median"] < 0.01


def test_a_variant_that_no_paper_models_has_the_normal_form(tmp_path, capsys):
    archive = archive_of(tmp_path / "archive", points("fftw-mpi"))
    [found] = json.loads(asked(capsys, archive, "--json").out)
    assert [model["model"] for model in found["models"]] == ["pmnf"]


def test_the_machine_is_written_as_a_platform_to_simulate(archive, tmp_path, capsys):
    file = tmp_path / "mine.toml"
    given = {"latency": 4e-6, "link_bandwidth": 1e9}
    known = [word for name, value in given.items() for word in ("--given", f"{name}={value}")]
    asked(capsys, archive, "--platform", str(file), "--model", "czechowski2012", *known)
    platform = read_toml(file)
    assert platform["network"]["link_bandwidth_bytes_per_s"] == 1e9
    assert platform["network"]["link_latency_s"] == 2e-6  # for each of the two links on the way
    assert 1e9 < platform["host"]["memory_bandwidth_bytes_per_s"] < 1e11  # that of the made-up machine is 4e9
    assert platform["host"]["speed_flops_per_s"] == pytest.approx(2e9, rel=0.2)  # that of the made-up machine
    assert "latency given" in platform["source"]


def test_no_platform_is_written_of_a_fit_that_does_not_know_it(archive, tmp_path, capsys):
    file = tmp_path / "mine.toml"
    said = asked(capsys, archive, "--platform", str(file), "--model", "pmnf", code=1)
    assert "no platform was written" in said.err
    assert not file.exists()
