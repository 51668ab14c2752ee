"""One local FFT library in the place of another: what the sentences and the table say, worked out by hand."""

import pytest
from fourscore_analysis.page.report import section_of
from fourscore_analysis.points.libraries import substitutions
from fourscore_analysis.points.points import method_labels
from fourscore_analysis.records.cells import Method
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.tables.libraries import library_findings, library_rows
from synthetic import launches_alike, make_point, view_of

LAUNCHES = 6


def launches(library: str, fft: float, exchange: float, count: int = LAUNCHES, point: dict | None = None) -> list:
    """Launches of slab/alltoallv, alike but for noise that differs by launch and is the same for every library."""
    whole = make_point(**({"shape": (64, 64, 64), "ranks": 2, "local_fft": library} | (point or {})))
    return launches_alike(whole, {"fft": fft, "exchange": exchange}, count)


def test_the_ratio_and_both_shares_of_the_exchange_are_said():
    view = view_of(launches("fftw", 0.007, 0.003), launches("mkl", 0.003, 0.003))
    [sentence] = library_findings(view)
    assert sentence == (
        "With mkl in the place of fftw, slab/alltoallv takes 0.60 of the time at 64³ on 2 ranks "
        "(6.01 ms, not 10.0 ms); the exchange is then 50 % of it, not 30 %."
    )
    assert sentence in findings(view)


def test_the_numbers_are_in_the_json_of_a_report():
    found = section_of(view_of(launches("fftw", 0.007, 0.003), launches("mkl", 0.003, 0.003))).counted_json()
    [one] = found["libraries"]
    assert (one["method"], one["library"], one["usual"]) == ("slab/alltoallv", "mkl", "fftw")
    assert one["ratio"] == pytest.approx(0.6)
    assert one["exchange_share"] == pytest.approx(0.5)
    assert one["told_apart"]


def test_methods_that_launches_do_not_tell_apart_are_named():
    view = view_of(launches("fftw", 0.007, 0.003), launches("mkl", 0.007, 0.003))
    assert library_findings(view)[0].endswith("; the launches do not tell the two apart.")
    assert [row.tied for row in library_rows(view)] == [False, True]


def test_too_few_launches_are_no_basis():
    view = view_of(launches("fftw", 0.007, 0.003, count=2), launches("mkl", 0.003, 0.003, count=2))
    assert "No basis for a claim: 2 launches" in library_findings(view)[0]


def test_the_sentence_is_of_the_largest_problem_and_tells_of_the_others():
    larger = {"shape": (128, 64, 64)}
    view = view_of(
        launches("fftw", 0.007, 0.003),
        launches("mkl", 0.003, 0.003),
        launches("fftw", 0.014, 0.006, point=larger),
        launches("mkl", 0.010, 0.006, point=larger),
    )
    [sentence] = library_findings(view)
    assert "takes 0.80 of the time at 128×64×64" in sentence
    assert sentence.endswith("Over 2 points that have both: 0.60 to 0.80, median 0.70.")


def test_each_library_has_a_sentence_and_a_row_beside_the_usual_one():
    view = view_of(launches("pocketfft", 0.009, 0.003), launches("mkl", 0.003, 0.003), launches("fftw", 0.007, 0.003))
    assert [sentence.split(" in ")[0] for sentence in library_findings(view)] == ["With mkl", "With pocketfft"]
    rows = library_rows(view)
    assert [(row.library, row.ratio, row.first) for row in rows] == [
        ("fftw", "", True),
        ("mkl", "0.60", False),
        ("pocketfft", "1.20", False),
    ]
    assert {row.method for row in rows} == {"slab/alltoallv"}


@pytest.mark.parametrize("other", [{"exchange": "p2p"}, {"precision": "single"}, {"grid": [2, 1]}])
def test_points_that_differ_in_more_are_no_substitution(other):
    view = view_of(launches("fftw", 0.007, 0.003), launches("mkl", 0.003, 0.003, point=other))
    assert substitutions(view.points) == []
    assert (library_findings(view), library_rows(view)) == ([], [])


def labels(*methods: tuple[str, str]) -> list[str]:
    made = [Method(variant, "", library, "auto", "") for variant, library in methods]
    named = method_labels(made)
    return [named[method] for method in made]


def test_a_label_names_the_library_where_it_tells_methods_apart_or_is_not_the_usual_one():
    assert labels(("slab", "fftw"), ("slab", "mkl"), ("fftw-mpi", "fftw")) == ["slab fftw", "slab mkl", "fftw-mpi"]
    assert labels(("slab", "fftw"), ("pencil", "mkl")) == ["slab", "pencil mkl"]
    assert labels(("slab", "fftw"), ("mkl-cdft", "mkl")) == ["slab", "mkl-cdft"]
