"""fourscore predict and advise: from an archive, from a file, over years; and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from synthetic import digest, identity_of, make_point
from synthetic.modelled_records import modelled_archive, of_model

# --project is asked for each of them.
pytestmark = pytest.mark.usefixtures("every_kind_of_picture")


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """The archive of a machine whose parameters are known, with 2 % noise; sizes 32 to 256 on 1 to 4 ranks."""
    folder = tmp_path_factory.mktemp("modelled") / "archive"
    modelled_archive(folder, {"pencil": "alltoallv", "slab": "p2p"})
    return folder


MODEL = ("--model", "czechowski2012")


def answered(capsys, *arguments: str, code: int = 0):
    assert main(list(arguments)) == code
    return json.loads(capsys.readouterr().out)


def predict(capsys, archive: Path, *arguments: str, code: int = 0):
    """With one model where it does not matter which: fitting all takes seconds."""
    return answered(capsys, "predict", "--archive", str(archive), "--json", *MODEL, *arguments, code=code)


def refused(capsys, *arguments: str) -> str:
    try:
        code = main(list(arguments))
    except SystemExit as ended:
        code = ended.code
    told = capsys.readouterr()
    assert code == 2
    assert told.out == ""
    return told.err


def test_a_measured_point_is_predicted_with_what_was_measured_beside_it(archive, capsys):
    [one] = predict(capsys, archive, "--variant", "slab", "--shape", "128x128x128", "--ranks", "4")
    assert (one["variant"], one["exchange"], one["ranks"], one["nodes"]) == ("slab", "p2p", 4, 1)
    prediction, measured = one["prediction"], one["measured"]
    assert prediction["extrapolated"] == []
    assert measured["launches"] == 3
    assert prediction["total"]["seconds"] == pytest.approx(measured["seconds"], rel=0.1)
    low, high = prediction["total"]["interval"]
    assert low < prediction["total"]["seconds"] < high
    assert set(prediction["phases"]) == {"fft", "shuffle", "exchange"}
    assert sum(one["seconds"] for one in prediction["phases"].values()) == pytest.approx(prediction["total"]["seconds"])
    assert prediction["limiting"] == max(prediction["elasticity"], key=lambda name: abs(prediction["elasticity"][name]))


def test_the_model_goes_on_beyond_what_was_measured_and_says_so(archive, capsys):
    arguments = ("--variant", "slab", "--shape", "512x512x512", "--ranks", "8", "--nodes", "2")
    [one] = predict(capsys, archive, *arguments)
    assert one["prediction"]["extrapolated"] == ["size", "ranks", "nodes"]
    assert one["measured"] is None
    assert "measured on one node only" in one["prediction"]["note"]
    known = of_model(make_point("slab", "p2p", (512,) * 3, 8, nodes=2))
    for phase, seconds in known.items():
        assert one["prediction"]["phases"][phase]["seconds"] == pytest.approx(seconds, rel=0.15), phase


def test_text_has_phases_terms_interval_limit_and_measurement(archive, capsys):
    arguments = ["predict", "--archive", str(archive), "--variant", "pencil", "--shape", "64x64x64", "--ranks", "2"]
    assert main([*arguments, "--model", "czechowski2012"]) == 0
    out = capsys.readouterr().out
    for words in ("64³ on 2 ranks", "grid 2x1", "T_flops", "limited by", "measured", "3 launches", "95%", "FLOP/s"):
        assert words in out


def test_the_cost_of_a_file_of_jobs_counts_where_times_come_from_the_archive(archive, capsys, tmp_path):
    (tmp_path / "jobs.toml").write_text('name = "jobs"\n[nodes]\ncores = 2\n[cost]\nnode_hour_price = 3.6\n')
    asked = ("--variant", "slab", "--shape", "128x128x128", "--ranks", "4", "--cost")
    [one] = predict(capsys, archive, *asked, str(tmp_path / "jobs.toml"))
    assert one["cost"]["price"] == pytest.approx(1e-3 * one["nodes"] * one["prediction"]["total"]["seconds"])
    (tmp_path / "none.toml").write_text('name = "jobs"\n')
    assert main(["predict", "--archive", str(archive), *MODEL, *asked, str(tmp_path / "none.toml")]) == 2
    assert "none.toml has no [cost]" in capsys.readouterr().err


def test_a_grid_that_was_asked_for_is_taken(archive, capsys):
    arguments = ("--variant", "pencil", "--shape", "256x256x256", "--ranks", "4")
    [auto] = predict(capsys, archive, *arguments)
    [square] = predict(capsys, archive, *arguments, "--grid", "2x2")
    assert (auto["grid"], square["grid"]) == ([4, 1], [2, 2])
    assert auto["measured"]
    assert not square["measured"]
    assert square["prediction"]["total"]["seconds"] > auto["prediction"]["total"]["seconds"]  # two exchanges, not one


def test_points_unknown_to_the_fit_are_not_predicted_and_the_exit_code_is_1(archive, capsys):
    arguments = ("--variant", "slab", "--shape", "96x96x96", "--ranks", "2")
    [one] = predict(capsys, archive, *arguments, code=1)
    assert one["prediction"] is None
    assert "odd_flop_rate" in one["reason"]
    [one] = predict(
        capsys,
        archive,
        *arguments[:3],
        "96x96x96",
        "--ranks",
        "2",
        "--model",
        "czechowski2012",
        "--given",
        "odd_flop_rate=1e10",
    )
    assert one["prediction"]["terms"][1]["name"] == "T_flops, odd factors"
    [one] = predict(capsys, archive, "--variant", "slab", "--shape", "16x16x16", "--ranks", "32", code=1)
    assert "more than slab can use" in one["reason"]


def test_a_fit_is_saved_and_predicts_the_same_from_the_file(archive, tmp_path, capsys):
    file = tmp_path / "mine.toml"
    asked = ("--variant", "slab", "--shape", "64x64x64", "--ranks", "2")
    [fitted] = predict(capsys, archive, *asked, "--save-machine", str(file))
    assert 'unit = "GB/s"' in file.read_text()
    [again] = predict(capsys, tmp_path / "none", *asked, "--machine", str(file))
    assert again["prediction"]["total"]["seconds"] == pytest.approx(fitted["prediction"]["total"]["seconds"], rel=1e-6)
    assert again["measured"] is None


def test_the_beginning_of_a_machine_hash_chooses_its_launches(tmp_path, capsys):
    cpus = ("Imaginary 9000", "Imaginary 9001")
    for number, cpu in enumerate(cpus):
        modelled_archive(
            tmp_path, {"slab": "p2p"}, (32, 64, 128, 256), (1, 2), cpu=cpu, campaign=f"sizes-0000000{number}"
        )
    asked = ("--variant", "slab", "--shape", "64x64x64", "--ranks", "2")
    hashes = [digest(identity_of(make_point(), cpu=cpu)["machine"]) for cpu in cpus]
    for machine in hashes:
        [one] = predict(capsys, tmp_path, *asked, "--machine", machine[:8])
        assert one["measured"]["launches"] == 3
    told = refused(capsys, "predict", "--archive", str(tmp_path), *asked)
    assert "launches of 2 machines" in told
    assert all(machine[:8] in told for machine in hashes)
    assert "Imaginary 9001" in told


def test_every_published_machine_is_listed_with_its_balance(capsys):
    listed = answered(capsys, "predict", "--list-machines", "--json")
    assert {"hopper", "keeneland", "blue-gene-l", "ncube1", "frontier"} <= {one["name"] for one in listed}
    [cpu] = [one for one in listed if one["name"] == "czechowski2012-cpu-2010"]
    assert cpu["balance"]["C/beta_mem"] == pytest.approx(50.4 / 21.3)
    assert main(["predict", "--list-machines"]) == 0
    out = capsys.readouterr().out
    assert "2.37 flop/B" in out
    assert "C/beta_link" in out


def test_a_fit_of_noisy_flagged_records_says_do_not_use_this(tmp_path, capsys):
    modelled_archive(tmp_path, {"slab": "p2p"}, (32, 64, 128), (1, 2), noise=0.9, launches=2, flags=["oversubscribed"])
    asked = ("--shape", "512x512x512", "--ranks", "64")
    [one] = answered(capsys, "predict", "--archive", str(tmp_path), "--json", "--variant", "slab", *asked, *MODEL)
    low, high = one["prediction"]["total"]["interval"]
    assert high > 2 * low
    assert not one["prediction"]["total"]["usable"]
    for words in (("predict", "--variant", "slab", *asked), ("advise", *asked)):
        assert main([*words, "--archive", str(tmp_path), *MODEL]) == 0
        out = capsys.readouterr().out
        assert "do not use this: the interval spans a factor of " in out
        assert "flagged: oversubscribed in 12 of 12 launches" in out
    assert main(["fit", "--archive", str(tmp_path), *MODEL]) == 0
    out = capsys.readouterr().out
    assert "flagged: oversubscribed in 12 of 12 launches" in out
    assert "; do not use this" in out
    [fitted] = answered(capsys, "fit", "--archive", str(tmp_path), "--json", *MODEL)
    assert fitted["flagged"] == {"oversubscribed": 12}
    parameters = fitted["models"][0]["parameters"]
    assert {one["usable"] for one in parameters} == {True, False}
    for one in parameters:
        wide = one["interval"] and one["interval"][1] > 2 * one["interval"][0]
        assert one["usable"] is not bool(wide or one["value"] is None)


def test_a_fit_without_doubts_says_nothing_of_them(archive, capsys):
    asked = ("--variant", "slab", "--shape", "128x128x128", "--ranks", "4")
    [one] = predict(capsys, archive, *asked)
    assert one["prediction"]["total"]["usable"]
    assert main(["predict", "--archive", str(archive), *asked, *MODEL]) == 0
    out = capsys.readouterr().out
    assert "do not use" not in out
    assert "flagged" not in out


def test_a_fit_of_overlapped_exchanges_is_saved_as_what_it_is(tmp_path, capsys):
    """Its link is that of what was not hidden: nothing more of it is hidden when it predicts from the file."""
    modelled_archive(tmp_path, {"pencil-overlap": "p2p", "pencil": "p2p"}, (32, 64, 128), (1, 2, 4), launches=2)
    for variant in ("pencil-overlap", "pencil"):
        asked = ("--variant", variant, "--shape", "64x64x64", "--ranks", "4", "--exchange", "p2p")
        file = tmp_path / f"{variant}.toml"
        [fitted] = predict(capsys, tmp_path, *asked, "--save-machine", str(file))
        assert ("overlap" in file.read_text()) == (variant == "pencil-overlap")
        [again] = predict(capsys, tmp_path / "none", *asked[:-2], "--machine", str(file))
        assert again["prediction"]["total"]["seconds"] == pytest.approx(
            fitted["prediction"]["total"]["seconds"], rel=1e-6
        )


def test_a_published_machine_needs_no_archive(tmp_path, capsys):
    arguments = ("--variant", "pencil", "--shape", "4096x4096x4096", "--machine", "czechowski2012-gpu-2010")
    [one] = predict(capsys, tmp_path / "none", *arguments, "--ranks", "4096")
    seconds = {term["name"]: term["seconds"] for term in one["prediction"]["terms"]}
    n3, p = 4096**3, 4096
    assert seconds["T_mem"] == pytest.approx(3 * n3 / p * 6.3 * 16 / 144e9)
    assert seconds["T_net"] == pytest.approx(
        16 * n3 / p * (1 - 1 / p) * p ** (1 / 3) / 10e9
    )  # equation 5, one exchange
    [all_of_it] = predict(capsys, tmp_path / "none", *arguments[:2], "--shape", "8192x8192x8192", *arguments[4:])
    assert all_of_it["ranks"] == 7770


def test_the_projection_of_the_paper_stands_beside_the_real_machine(tmp_path, capsys):
    figure = tmp_path / "projected.svg"
    asked = (
        "--variant",
        "pencil",
        "--shape",
        "21000x21000x21000",
        "--project",
        "czechowski2012",
        "--years",
        "2010:2020",
    )
    found = predict(capsys, tmp_path / "none", *asked, "--beside", "frontier", "-o", str(figure))
    assert [year["year"] for year in found["years"]] == list(range(2010, 2021))
    last = found["years"][-1]
    assert last["parameters"]["memory_bandwidth"] == pytest.approx(206e9, rel=0.01)
    assert last["whole"]["peak"] == pytest.approx(4e18)
    ratios = [year["memory_over_network"] for year in found["years"]]
    assert ratios == sorted(ratios, reverse=True)  # figure 6, of the bisection of a torus
    assert ratios[0] < 1
    rows = {row["what"]: row for row in found["beside"]["rows"]}
    assert rows["nodes"]["real"] == 9856
    assert rows["link_bandwidth, of a rank"]["ratio"] == pytest.approx(12.5 / 218, rel=1e-3)
    assert rows["predicted time"]["ratio"] > 1
    drawn = figure.read_text()
    assert drawn.startswith("<?xml")
    assert "limited by link_bandwidth" in drawn
    assert main(["predict", "--archive", "none", *asked]) == 0
    out = capsys.readouterr().out
    assert "T_mem/T_net" in out
    assert "× 59 a decade" in out


def test_an_own_machine_is_projected_by_own_trends(archive, tmp_path, capsys):
    trends = tmp_path / "mine.toml"
    trends.write_text('name = "mine"\nyear = 2026\n[trends]\nmemory_bandwidth = { doubling = 2, unit = "years" }\n')
    asked = ("--variant", "slab", "--shape", "256x256x256", "--ranks", "1")
    found = predict(capsys, archive, *asked, "--project", str(trends), "--years", "2026:2030", "--exchange", "p2p")
    values = [year["parameters"]["memory_bandwidth"] for year in found["years"]]
    assert values[-1] / values[0] == pytest.approx(4)
    totals = [year["prediction"]["total"]["seconds"] for year in found["years"]]
    assert totals == sorted(totals, reverse=True)
    assert found["years"][0]["prediction"]["total"]["interval"]


ASKED = ("--variant", "slab", "--shape", "64x64x64", "--ranks", "2")
TWO = ("frontier", "frontier")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--shape", "64x64x64", "--ranks", "2"), "--variant is missing"),
        (("--variant", "slab", "--ranks", "2"), "--shape is missing"),
        (("--variant", "slab", "--shape", "64x64x64"), "--ranks is missing"),
        ((*ASKED, "--nodes", "3"), "--nodes is 3; expected at most as many as --ranks, 2"),
        ((*ASKED, "--grid", "2x2"), "--grid is of 4 ranks; expected a product of --ranks, 2"),
        ((*ASKED, "--grid", "2by1"), "'2by1' is not a process grid"),
        ((*ASKED, "--machine", "nosuch"), "no machine 'nosuch'; expected a file that ends with .toml"),
        ((*ASKED, "--machine", "nosuch.toml"), "nosuch.toml: No such file"),
        ((*ASKED, "--machine", "abc123"), "no launch is of a machine abc123"),
        ((*ASKED, "--model", "moore"), "no model 'moore'"),
        ((*ASKED, "--form", "compute=fast"), "form compute cannot be 'fast'"),
        ((*ASKED, "--given", "latency=-1"), "latency is '-1'; expected a number of s"),
        ((*ASKED, "--years", "2026:2030"), "--years goes with --project only"),
        ((*ASKED, "--weak"), "--weak goes with --project only"),
        ((*ASKED, "--weak", "--project", "czechowski2012", "--years", "2010:2012"), "--weak takes all nodes of each"),
        ((*ASKED, "--equal-time", "frontier"), "--equal-time wants two machines or more"),
        ((*ASKED, "--equal-time", *TWO, "--nodes", "1"), "--equal-time takes no --nodes"),
        ((*ASKED, "--equal-time", *TWO, "--machine", "frontier"), "--equal-time takes no --machine"),
        ((*ASKED, "--equal-cost", *TWO, "--csv", "x.csv"), "--equal-cost takes no --csv"),
        ((*ASKED[:4], "--ranks", "2,4", "--equal-time", *TWO), "takes one --ranks"),
        ((*ASKED, "--equal-time", "summit", "frontier"), "no machine 'summit'"),
        ((*ASKED, "--equal-time", "frontier", "hopper"), "hopper does not give all"),
        ((*ASKED, "--equal-time", *TWO, "--equal-cost", *TWO), "--equal-time and --equal-cost exclude each other"),
        ((*ASKED, "--equal-cost", *TWO), "frontier says no price of its nodes; expected node_hour_price above 0"),
        ((*ASKED, "--runs", "0"), "'0' is not a number from 1"),
        ((*ASKED, "--csv", "x.csv", "--project", "czechowski2012", "--years", "2010:2012"), "--csv is for predictions"),
        ((*ASKED, "-o", "x.gif"), "one of .svg, .png, .pdf"),
        (("--variant", "slab,", *ASKED[2:]), "is no list of variants"),
        (
            ("--variant", "slab,pencil", *ASKED[2:], "--project", "czechowski2012", "--years", "2010:2012"),
            "one --variant",
        ),
        ((*ASKED[:4], "--ranks", "8:2"), "goes backwards"),
        ((*ASKED[:4], "--ranks", "2,4", "--grid", "2x2"), "--grid is of 4 ranks; expected a product of --ranks, 2, 4"),
        ((*ASKED, "--form", "overlap=pieces"), "what was measured of an exchange is what was not hidden"),
        ((*ASKED, "--form", "overlap=perfect"), "form overlap cannot be 'perfect' in a fit"),
        ((*ASKED, "--machine", "frontier", "--threads", "9"), "frontier has 8 ranks a node; expected at most as many"),
        ((*ASKED, "--fields", "65"), "is not a number of fields from 1 to 64"),
        ((*ASKED, "--fields", "0"), "is not a number of fields from 1 to 64"),
        ((*ASKED, "--field-order", "together"), "--field-order together is of several fields"),
        ((*ASKED, "--fields", "3", "--field-order", "at-once"), "invalid choice"),
        ((*ASKED, "--fields", "3"), "no launch is of this exchange and contract"),
        ((*ASKED, "--project", "czechowski2012"), "--project wants --years"),
        ((*ASKED, "--project", "czechowski2012", "--years", "2030:2026"), "the first no later than the last"),
        ((*ASKED, "--project", "czechowski2012", "--years", "26:30"), "is not FIRST:LAST"),
        ((*ASKED, "--project", "moore", "--years", "2026:2030"), "no trends 'moore'"),
        ((*ASKED, "--project", "czechowski2012", "--years", "2010:2012", "--beside", "summit"), "no machine 'summit'"),
        ((*ASKED, "--project", "czechowski2012", "--years", "2010:2012", "-o", "x.gif"), "one of .svg, .png, .pdf"),
        ((*ASKED, "--project", "czechowski2012", "--years", "2010:2100"), "would be"),
        ((*ASKED, "--machine", "hopper", "--exchange", "p2p"), "--exchange is for fits to an archive"),
        ((*ASKED, "--machine", "hopper"), "hopper does not give all that a prediction takes: czechowski2012 needs"),
        ((*ASKED, "--exchange", "bruck"), "no launch is of this exchange and contract"),
        ((*ASKED, "--precision", "single"), "no launch is of this exchange and contract"),
        ((*ASKED, "--wire", "single"), "no launch is of this exchange and contract"),
        ((*ASKED, "--wire", "half"), "as-is"),
        (("--variant", "rods", *ASKED[2:]), "no launch of variant 'rods'"),
        ((*ASKED, "--kind", "c2r", "--direction", "forward"), "--kind c2r is r2c backward"),
        ((*ASKED, "--operator", "scale", "--direction", "forward"), "expected --direction convolution, or none"),
        ((*ASKED, "--operator", "scale"), "no launch is of this exchange and contract"),
    ],
)
def test_unusable_questions_end_with_2_and_what_is_expected(archive, capsys, arguments, words):
    assert words in refused(capsys, "predict", "--archive", str(archive), *arguments)


def test_several_methods_cannot_be_saved_as_one_machine(archive, tmp_path, capsys):
    modelled_archive(tmp_path, {"slab": "p2p"}, (32, 64, 128), (1, 2), launches=1)
    modelled_archive(tmp_path, {"slab": "alltoallv"}, (32, 64, 128), (1, 2), launches=1)
    asked = ("predict", "--archive", str(tmp_path), *ASKED, *MODEL, "--save-machine", str(tmp_path / "m.toml"))
    assert "2 methods were fitted; expected one" in refused(capsys, *asked)
    assert not (tmp_path / "m.toml").exists()


def advise(capsys, archive: Path, *arguments: str, code: int = 0):
    return answered(capsys, "advise", "--archive", str(archive), "--json", *MODEL, *arguments, code=code)


def test_advice_ranks_methods_and_grids_by_predicted_time_for_each_count_of_ranks(archive, capsys):
    found = advise(capsys, archive, "--shape", "128x128x128", "--ranks", "2:8")
    assert [group["ranks"] for group in found["groups"]] == [2, 4, 8]
    for group in found["groups"]:
        times = [one["prediction"]["total"]["seconds"] for one in group["answers"]]
        assert times == sorted(times)
        assert {one["variant"] for one in group["answers"]} == {"pencil", "slab"}
        assert not group["answers"][0]["tied"]
    four = found["groups"][1]["answers"]
    assert {tuple(one["grid"]) for one in four if one["variant"] == "pencil"} >= {(4, 1), (2, 2)}
    measured = [one for one in four if one["measured"]]
    assert {one["variant"] for one in measured} == {"pencil", "slab"}
    assert all("ranks" in one["prediction"]["extrapolated"] for one in found["groups"][2]["answers"])


def test_advice_says_ties_and_reasons_in_words(archive, capsys):
    arguments = ["advise", "--archive", str(archive), "--shape", "64x64x64", "--ranks", "4,128", "--top", "2", *MODEL]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "64³ on 4 ranks" in out
    assert "cannot be told from the first: their intervals overlap (≈)" in out
    assert "slab/p2p: not predicted: 128 ranks are more than slab can use: 64" in out
    assert "more; --top" in out


def test_what_to_measure_next_is_a_suite_of_points_not_yet_measured(tmp_path, capsys):
    """Latency is determined by many ranks and small problems; without them predictions of many ranks are unsure."""
    modelled_archive(tmp_path, {"slab": "p2p"}, sizes=(64, 128, 256), ranks=(1, 2), noise=0.05, launches=2)
    suite = tmp_path / "more.toml"
    asked = ("--shape", "64x64x64", "--ranks", "4,8", "--model", "czechowski2012", "--suggest", str(suite))
    found = advise(capsys, tmp_path, *asked)
    points = found["measure_next"]
    assert points
    assert all(point["spread_after"] < point["spread_before"] for point in points)
    measured = {(size, ranks) for size in (64, 128, 256) for ranks in (1, 2)}
    assert not measured & {(point["shape"][0], point["ranks"]) for point in points}
    text = suite.read_text()
    assert text.count("[[sweep]]") == len(points)
    assert 'variant = "slab"' in text
    assert 'exchange = "p2p"' in text


def test_advice_for_a_published_machine_names_what_is_lacking(tmp_path, capsys):
    asked = ("--shape", "1024x1024x1024", "--ranks", "512", "--machine", "czechowski2012-cpu-2010")
    [group] = answered(capsys, "advise", "--json", *asked)["groups"]
    assert group["answers"][0]["variant"] in ("slab", "pencil", "pencil-overlap", "overdecomposed", "node")
    [new] = [one for one in group["refused"] if one["variant"] == "danielson-lanczos"]
    assert "latency" in new["reason"]
    [group] = advise(capsys, tmp_path / "none", *asked[:4], "--machine", "hopper", code=1)["groups"]
    assert group["answers"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ranks", "2"), "--shape"),
        (("--shape", "64x64x64"), "--ranks"),
        (("--shape", "64x64x64", "--ranks", "8:2"), "goes backwards"),
        (("--shape", "64x64x64", "--ranks", "0:8"), "is not a count of ranks; expected 64, 64,128,256 or 64:4096"),
        (("--shape", "64x64x64", "--ranks", "2,,4"), "is not a count of ranks"),
        (("--shape", "64x64x64", "--ranks", "9999999999"), "more than 2147483647 ranks"),
        (("--shape", "64x64x64", "--ranks", "2", "--variant", "rods"), "no launch of variant 'rods'"),
        (("--shape", "64x64x64", "--ranks", "2", "--machine", "x.toml"), "x.toml: No such file"),
        (("--shape", "64x64x64", "--ranks", "2", "--top", "0"), "'0' is not a number"),
    ],
)
def test_advice_on_unusable_questions_ends_with_2(archive, capsys, arguments, words):
    assert words in refused(capsys, "advise", "--archive", str(archive), *arguments)


def test_both_say_so_without_an_archive(tmp_path, capsys):
    for command in (("predict", *ASKED), ("advise", "--shape", "64x64x64", "--ranks", "2")):
        assert main([*command, "--archive", str(tmp_path / "none")]) == 3
        assert "no archive at" in capsys.readouterr().err
