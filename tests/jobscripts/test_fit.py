"""`fourscore fit`: options reach the analysis as they were given, and its exit code comes back."""

import json


def test_every_option_is_passed_on(measured):
    """Two sizes and one count of ranks are too few: the answer is 1, with the reason."""
    out = measured("fit", "--variant", "good", "--model", "pmnf", "--given", "latency=1e-6", "--json", code=1).stdout
    [found] = json.loads(out)
    assert found["method"].startswith("good")
    assert "a fit takes" in found["reason"]


def test_a_suggestion_is_a_suite_that_run_takes(measured, tmp_path):
    suite = tmp_path / "more.toml"
    measured("fit", "--variant", "good", "--suggest", suite, code=1)
    assert "launches" in measured("run", suite, "--dry-run").stdout
