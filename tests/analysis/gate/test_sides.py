"""What may be compared with what, and what is refused with its reason."""

import json

import pytest
from fourscore_analysis.cli import main
from synthetic import (
    BASE,
    CANDIDATE,
    Pairs,
    benchmark,
    component_point,
    component_record,
    digest,
    make_point,
    store,
)

POINT = make_point("pencil", "alltoallv", (128, 128, 128), 4)


@pytest.fixture
def pairs(tmp_path) -> Pairs:
    found = Pairs(tmp_path)
    found.add(POINT, range(8))
    return found


def compare(archive, *arguments) -> int:
    return main(["compare", "--archive", str(archive), *map(str, arguments)])


def change_identity(pairs: Pairs, part: str, **fields) -> None:
    """Changes the identity of the candidate's launches."""
    for file in (pairs.archive / "records" / CANDIDATE).iterdir():
        record = json.loads(file.read_text())
        record["provenance"]["identity"][part].update(fields)
        record["provenance"][f"{part}_hash"] = digest(record["provenance"]["identity"][part])
        file.write_text(json.dumps(record))


def test_another_machine_is_refused_with_the_fields_that_differ(pairs, capsys):
    change_identity(pairs, "machine", cpu_model="Other 1", cores=4, one="a", other="b")
    for arguments in ((BASE, CANDIDATE), ("--comparison", pairs.comparison(8))):
        assert compare(pairs.archive, *arguments) == 2
        said = capsys.readouterr().err
        assert "machine.cores: 8 | 4; machine.cpu_model: Imaginary 9000 @ 2.60GHz | Other 1" in said
        assert "--allow-different machine.cores machine.cpu_model machine.one machine.other" in said


def test_twelve_fields_that_differ_are_shown_and_all_can_be_allowed(pairs, capsys):
    change_identity(pairs, "machine", **{f"field{number:02}": number for number in range(14)})
    assert compare(pairs.archive, BASE, CANDIDATE) == 2
    said = capsys.readouterr().err
    assert "machine.field11: absent | 11; and 2 more. Times of different machines" in said
    assert "machine.field12: " not in said
    assert all(f" machine.field{number:02}" in said.split("--allow-different")[1] for number in range(14))


def test_archives_whose_records_have_the_same_names_are_two_sides(tmp_path, capsys):
    for name, seed in (("one", 1), ("other", 2)):
        Pairs(tmp_path / name, seed=seed).add(POINT, range(8))
        for file in (tmp_path / name / "records" / CANDIDATE).iterdir():
            file.unlink()
    assert compare(tmp_path, tmp_path / "one", tmp_path / "other") == 0
    assert compare(tmp_path, tmp_path / "one", tmp_path / "one") == 2
    assert "base and candidate are the same records" in capsys.readouterr().err


def test_points_with_another_wire_are_never_compared(pairs, capsys):
    for file in (pairs.archive / "records" / CANDIDATE).iterdir():
        record = json.loads(file.read_text())
        record["point"]["wire"] = "single"
        record["point_id"] = digest(record["point"])
        file.write_text(json.dumps(record))
    assert compare(pairs.archive, BASE, CANDIDATE) == 4
    said = capsys.readouterr().out
    assert said.startswith("NOTHING MEASURED: 2 series: 2 missing")
    assert "4 ranks, wire single: base: no launch" in said


def test_what_was_allowed_to_differ_stands_in_the_result(pairs, capsys):
    change_identity(pairs, "machine", cpu_model="Other 1", cores=4)
    allow = ["--allow-different", "machine.cpu_model", "--allow-different", "machine.cores"]
    assert compare(pairs.archive, BASE, CANDIDATE, *allow[:2]) == 2
    assert "machine.cores" in capsys.readouterr().err
    assert compare(pairs.archive, BASE, CANDIDATE, *allow, "--json", "-") == 0
    overrides = json.loads(capsys.readouterr().out)["overrides"]
    assert overrides == ["machine.cores: 8 | 4", "machine.cpu_model: Imaginary 9000 @ 2.60GHz | Other 1"]
    assert compare(pairs.archive, BASE, CANDIDATE, *allow) == 0
    assert "Different, and allowed: machine.cores" in capsys.readouterr().out


def test_launches_placed_otherwise_are_not_comparable(pairs, capsys):
    change_identity(pairs, "launch", core_maps=[{"nodes": "0", "cores": ["4", "5", "6", "7"]}])
    assert compare(pairs.archive, BASE, CANDIDATE, "--json", "-") == 4  # nothing is left
    [one] = json.loads(capsys.readouterr().out)["series"]
    assert one["verdict"] == "not comparable"
    assert "launch.core_maps: nodes 0: 0, 1, 2, 3 | nodes 0: 4, 5, 6, 7" in one["reason"]
    assert compare(pairs.archive, BASE, CANDIDATE, "--allow-different", "launch.core_maps") == 0


def test_what_differs_between_the_builds_is_said(pairs, capsys):
    change_identity(pairs, "code", libraries={"libfftw3.so.3": "rebuilt"})
    assert compare(pairs.archive, BASE, CANDIDATE) == 0
    assert "The builds differ in binary_sha256, revision, libraries.libfftw3.so.3." in capsys.readouterr().out


def test_the_same_build_on_both_sides_is_said(pairs, capsys):
    for file in (pairs.archive / "records" / CANDIDATE).iterdir():
        record = json.loads(file.read_text())
        base = json.loads((pairs.archive / "records" / BASE / file.name).read_text())
        record["provenance"] = base["provenance"]
        file.write_text(json.dumps(record))
    assert compare(pairs.archive, BASE, CANDIDATE) == 0
    assert "Both sides are the same build." in capsys.readouterr().out


@pytest.mark.parametrize("value", [0, -0.5, "NaN", 1e999, "soon"])
def test_a_time_that_is_none_is_an_error_that_names_the_record(pairs, capsys, value):
    file = sorted((pairs.archive / "records" / CANDIDATE).iterdir())[3]
    record = json.loads(file.read_text())
    record["samples"]["time_s"][1] = value
    text = json.dumps(record).replace('"NaN"', "NaN").replace("Infinity", "1e999")
    file.write_text(text)
    assert compare(pairs.archive, "--comparison", pairs.comparison(8)) == 0  # compares the seven others
    found = capsys.readouterr()
    assert f"records/{CANDIDATE}/{file.name} is not used: " in found.err
    assert "1 record not used" in found.out
    assert "7 pairs" in found.out or "no change" in found.out
    assert compare(pairs.archive, file, pairs.archive / "records" / BASE / file.name) == 2
    assert f"'{file}' holds no usable record; {file}: " in capsys.readouterr().err


def test_all_samples_equal_is_no_change(tmp_path, capsys):
    pairs = Pairs(tmp_path, noise=0.0)
    pairs.add(POINT, range(8))
    assert compare(tmp_path, BASE, CANDIDATE, "--json", "-") == 0
    [one] = json.loads(capsys.readouterr().out)["series"]
    assert (one["verdict"], one["ratio"], one["interval"]) == ("no change", 1.0, [1.0, 1.0])


def test_unusable_sides_say_what_was_expected(pairs, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    cases = [
        ((BASE,), "expected BASE and CAND, or --comparison FILE"),
        ((), "expected BASE and CAND, or --comparison FILE"),
        ((BASE, BASE), "are the same records"),
        ((BASE, "gate-bbbbbbbc"), "did you mean 'gate-bbbbbbbb'?"),
        ((BASE, tmp_path / "empty"), "holds no usable record"),
        ((BASE, tmp_path / "no" / "where"), "expected a campaign, an archive, a folder of records or a record"),
        ((BASE, CANDIDATE, "--comparison", tmp_path / "x"), "not both"),
        (("--comparison", tmp_path / "none.json"), "No such file"),
    ]
    for arguments, said in cases:
        assert compare(pairs.archive, *arguments) == 2, arguments
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": "other"}, "expected 'fourscore.comparison' 1"),
        ({"schema_version": 9}, "expected 'fourscore.comparison' 1"),
        ({"stages": []}, "stages: expected one at least"),
        ({"stages": [{"name": "screen", "launches": 3}]}, "lacks the key 'first_launch'"),
        ({"base": {"campaign": "gate-cccccccc"}}, "no campaign 'gate-cccccccc' (base)"),
        ({"base": {"campaign": CANDIDATE}}, "are the same campaign"),
    ],
)
def test_an_unusable_comparison_says_which_key(pairs, capsys, changes, said):
    assert compare(pairs.archive, "--comparison", pairs.comparison(8, **changes)) == 2
    assert said in capsys.readouterr().err


def test_a_side_of_several_builds_is_refused(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(4))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for side in (BASE, CANDIDATE):
        for file in (tmp_path / "records" / side).iterdir():
            (mixed / f"{side}-{file.name}").write_bytes(file.read_bytes())
    assert compare(tmp_path, mixed, BASE) == 2
    assert "launches of 2 builds" in capsys.readouterr().err


def components(archive, programs=("memory_bench", "copy_bench"), rebuilt=(), slower=1.0) -> None:
    """Two campaigns of these programs beside transforms, each program of a build of its own."""
    for side, maker in Pairs(archive).makers.items():
        for launch in range(8):
            for program in programs:
                wobble = slower if side == CANDIDATE else 1.0
                one = benchmark("copy", 2.0**20, 8e9 / (wobble * (1 + 0.001 * launch)), {})
                record = component_record(maker, component_point(program), launch, [one])
                name = f"{program} {side}" if program in rebuilt else program
                record["provenance"]["code_hash"] = digest({"build": name})
                record["provenance"]["identity"]["code"] = {"binary_sha256": name, "compiler": "same"}
                store(archive, record)


def test_a_campaign_of_several_programs_is_compared(tmp_path, capsys):
    """Each program has a build of its own, and so has fft_bench."""
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(8))
    components(tmp_path, slower=1.5)
    assert compare(tmp_path, BASE, CANDIDATE, "--json", "-") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"regression": 2, "no change": 1}
    assert len(found["base"]["builds"]) == 3


def test_builds_are_compared_program_by_program(tmp_path, capsys):
    components(tmp_path, rebuilt=("copy_bench",))
    assert compare(tmp_path, BASE, CANDIDATE) == 0
    said = capsys.readouterr().out
    assert "The builds differ in binary_sha256." in said
    assert "same build" not in said


def test_programs_of_the_same_builds_are_the_same_build(tmp_path, capsys):
    components(tmp_path)
    assert compare(tmp_path, BASE, CANDIDATE) == 0
    assert "Both sides are the same build." in capsys.readouterr().out


def test_one_program_of_two_builds_is_refused_by_its_name(tmp_path, capsys):
    components(tmp_path)
    for number, file in enumerate(sorted((tmp_path / "records" / BASE).iterdir())):
        record = json.loads(file.read_text())
        if record["point"]["component"] == "copy_bench":
            record["provenance"]["code_hash"] = f"{number % 2:016d}"
            file.write_text(json.dumps(record))
    assert compare(tmp_path, BASE, CANDIDATE) == 2
    assert "has launches of 2 builds of copy_bench (" in capsys.readouterr().err


@pytest.mark.parametrize("field", ["machine.cpu", "machine.cpu_mode", "machin", "machine.cpu_model.", "cpu_model", ""])
def test_a_field_is_allowed_by_its_whole_name_or_that_of_a_part_of_it(pairs, capsys, field):
    change_identity(pairs, "machine", cpu_model="Other 1")
    assert compare(pairs.archive, BASE, CANDIDATE, "--allow-different", field) == 2
    assert "machine.cpu_model: " in capsys.readouterr().err
    for whole in ("machine", "machine.cpu_model"):
        assert compare(pairs.archive, BASE, CANDIDATE, "--allow-different", whole) == 0


def test_a_launch_measured_again_takes_the_place_of_the_one_that_failed(tmp_path, capsys):
    pairs = Pairs(tmp_path)
    pairs.add(POINT, range(7))
    store(tmp_path, pairs.record(BASE, POINT, 7))
    store(tmp_path, pairs.makers[CANDIDATE].ended(POINT, 7, "failed", "gone"))
    again = pairs.record(CANDIDATE, POINT, 8)
    again["campaign"]["retry_of"] = 7
    store(tmp_path, again)
    assert compare(tmp_path, "--comparison", pairs.comparison(8), "--json", "-") == 0
    [one] = json.loads(capsys.readouterr().out)["series"]
    assert one["launches"] == [8, 8]
    assert "failed" not in one["reason"]
