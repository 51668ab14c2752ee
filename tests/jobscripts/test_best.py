"""`fourscore best`: the question reaches the analysis as it was asked, and its answer comes back with the exit code."""




def asked(fourscore, *arguments, **options) -> dict:
    return fourscore.json("best", *arguments, **options)


def test_what_was_measured_is_answered_with_its_records(measured):
    answer = asked(measured, "--shape", "2x4x4", "--ranks", 1)
    assert answer["question"]["shape"] == [2, 4, 4]
    [found] = answer["answers"]
    assert (found["best"]["variant"], found["best"]["launches"]) == ("good", 2)
    assert {str(measured.archive / record) for record in found["best"]["records"]} < set(measured.records())
    assert "not clear" in measured("best", "--shape", "2x4x4", "--ranks", 1).stdout


def test_what_was_not_measured_ends_with_1_and_the_nearest(measured):
    out = measured("best", "--shape", "2x4x4", "--ranks", 2, code=1).stdout
    assert "No time was measured for 2×4×4 on 2 ranks." in out
    assert "2×4×4 on 1 rank: 1 method" in out
    assert asked(measured, "--shape", "9x4x4", "--ranks", 1, code=1)["nearest"][0]["shape"] == [3, 4, 4]


def test_every_term_of_the_question_is_passed_on(measured):
    terms = {"nodes": 1, "precision": "double", "kind": "c2c", "direction": "forward", "layout": "transposed"}
    words = [word for name, value in terms.items() for word in (f"--{name}", value)]
    found = asked(measured, "--shape", "2x4x4", "--ranks", 1, *words)
    assert {name: found["question"][name] for name in terms} == terms
    for name, value in (("precision", "single"), ("layout", "natural"), ("kind", "r2c"), ("direction", "backward")):
        asked(measured, "--shape", "2x4x4", "--ranks", 1, f"--{name}", value, code=1)


def test_the_command_says_so_without_an_interpreter(fourscore):
    fourscore("run", fourscore.points(points=1, launches=1))
    error = fourscore(
        "best", "--shape", "4", "--ranks", "1", environment={"FOURSCORE_PYTHON": "/bin/true"}, code=3
    ).stderr
    assert "'/bin/true' does not work as a Python interpreter" in error
