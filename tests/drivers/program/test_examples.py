"""The examples of the help run as they stand."""

from __future__ import annotations

import shlex
from pathlib import Path

from conftest import Bench


def test_the_examples_of_the_help_run_as_they_stand(bench: Bench, tmp_path: Path) -> None:
    text = bench("--help", faulty=False).stdout
    examples = text[text.index("Examples:") : text.index("Exit codes:")].replace("\\\n", " ").splitlines()[1:]
    examples = [example.strip() for example in examples if example.strip()]
    assert len(examples) >= 4
    for example in examples:
        answer_to = None
        if example.startswith("echo"):
            question, _, example = example.partition("|")
            answer_to = shlex.split(question)[1]
        words = shlex.split(example)
        ranks = int(words[words.index("-n") + 1]) if words[0] == "mpirun" else 0
        options = words[words.index("fft_bench") + 1 :]
        options = [str(tmp_path / word) if word.endswith(".json") else word for word in options]
        run = bench(*options, ranks=ranks, faulty=False, stdin=answer_to)
        if "callgrind" in example and "sanitizer" in run.stderr:
            assert run.returncode == 3  # such programs do not run under Valgrind
            continue
        assert run.returncode == 0, example + "\n" + run.stderr
