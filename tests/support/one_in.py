"""A pytest plugin: of a test with many cases one in FOURSCORE_TEST_ONE_IN, as tests/support/turns.hpp has it."""

import os
from collections import Counter

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    one_in = int(os.environ.get("FOURSCORE_TEST_ONE_IN", "1"))
    seen: Counter[str] = Counter()
    taken, left = [], []
    for item in items:
        test = item.nodeid.split("[")[0]
        (left if seen[test] % one_in else taken).append(item)
        seen[test] += 1
    if left:
        items[:] = taken
        config.hook.pytest_deselected(items=left)
