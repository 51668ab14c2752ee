"""Each kind of value of a record: what it lets through, what it refuses, and what it says then."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fourscore_analysis.records import values
from fourscore_analysis.records.values import RecordError

AMOUNTS = values.each(values.amount_of)


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [
        (values.text_of, "", ""),
        (values.name_of, "a" * 1000, "a" * 1000),
        (values.plain_name, "a.b-c_9" + "x" * 121, "a.b-c_9" + "x" * 121),
        (values.number_of, 3, 3.0),
        (values.number_of, -1e30, -1e30),
        (values.amount_of, 0, 0.0),
        (values.time_of, 1e-15, 1e-15),
        (values.integer_of, -(2**62), -(2**62)),
        (values.count_of, 1, 1),
        (values.truth_of, False, False),
        (values.table_of, {"a": 1}, {"a": 1}),
        (values.list_of, [1, "a"], [1, "a"]),
        (AMOUNTS, [], ()),
        (AMOUNTS, [0, 2.5, 1e30], (0.0, 2.5, 1e30)),
        (values.each(values.text_of), ["b", "a"], ("b", "a")),
        (values.some(values.count_of), [2], (2,)),
        (values.entries(values.number_of), {"b": 1, "a": 2}, {"a": 2.0, "b": 1.0}),
        (values.plain_of, [1.5, None, {"a": [True]}], [1.5, None, {"a": [True]}]),
    ],
)
def test_what_fits_is_read(kind, given, read):
    found = kind(given)
    assert found == read
    assert type(found) is type(read)
    if isinstance(found, dict):
        assert list(found) == list(read)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (values.text_of, 1, "expected text, found 1"),
        (values.name_of, "a" * 1001, "expected at most 1000 printable characters, found 'aaa"),
        (values.name_of, "two\nlines", r"expected at most 1000 printable characters, found 'two\nlines'"),
        (values.plain_name, "", "expected 1 to 128 letters"),
        (values.plain_name, "a" * 129, "expected 1 to 128 letters"),
        (values.plain_name, ".hidden", "not starting with - or ."),
        (values.plain_name, "-option", "not starting with - or ."),
        (values.plain_name, "../x", "not starting with - or ."),
        (values.plain_name, "a/b", "expected 1 to 128 letters"),
        (values.number_of, True, "expected a number, found True"),
        (values.number_of, "1", "expected a number, found '1'"),
        (values.number_of, 1.1e30, "expected a number up to 1e+30, found 1.1e+30"),
        (values.number_of, math.nan, "expected a number up to 1e+30, found nan"),
        (values.amount_of, -1e-9, "expected 0 or more, found -1e-09"),
        (values.time_of, 0, "expected seconds, found a time that is not positive: 0"),
        (values.time_of, 9e-16, "expected seconds, found a time that is not positive: 9e-16"),
        (values.integer_of, 1.0, "expected an integer, found 1.0"),
        (values.integer_of, True, "expected an integer, found True"),
        (values.count_of, 0, "expected 1 or more, found 0"),
        (values.truth_of, 1, "expected true or false, found 1"),
        (values.table_of, [], "expected an object, found []"),
        (values.list_of, {}, "expected a list, found {}"),
        (AMOUNTS, [1.0, -1.0], "expected 0 or more, found -1.0"),
        (AMOUNTS, [1.0, math.inf], "expected a number up to 1e+30, found inf"),
        (AMOUNTS, [1.0, True], "expected a number, found True"),
        (values.some(values.count_of), [], "expected a list with at least one entry"),
        (values.entries(values.number_of), {"a": "b"}, "a: expected a number, found 'b'"),
        (values.rows_of, [[1, 2], [3]], "its lists differ in length"),
        (values.rows_of, [[1, 2], 3], "expected a list, found 3"),
        (values.rows_of, [[1, True]], "expected lists of numbers, found [[1, True]]"),
        (values.rows_of, [[1, "a"]], "expected lists of numbers, found [[1, 'a']]"),
        (values.rows_of, [[1, -1]], "expected numbers from 0 to 1e+30"),
        (values.rows_of, [[1, 2e30]], "expected numbers from 0 to 1e+30"),
        (values.column_of, [[1]], "expected lists of numbers"),
        (values.plain_of, math.inf, "holds a number beyond what a computer can represent"),
        (values.plain_of, [{"a": math.nan}], "holds a number beyond what a computer can represent"),
        (values.plain_table_of, [], "expected an object, found []"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_expected(kind, given, said):
    with pytest.raises(RecordError) as refused:
        kind(given)
    assert said in str(refused.value)


@pytest.mark.parametrize("rows", [[[1, 2.5], [0, 3]], [[1.0]], [[]], []])
def test_rows_become_a_matrix(rows):
    matrix = values.rows_of(rows)
    assert matrix.dtype == float
    assert np.array_equal(matrix, np.array(rows, dtype=float))


def test_a_column_is_read_as_one():
    assert values.column_of([1, 2.5]).tolist() == [1.0, 2.5]


def test_what_is_kept_as_it_is_has_twelve_levels_at_most():
    def nested(levels: int):
        return [nested(levels - 1)] if levels > 1 else [1]

    assert values.plain_of(nested(12)) == nested(12)
    with pytest.raises(RecordError, match="nested more than 12 levels deep"):
        values.plain_of(nested(13))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1', "truncated: JSON ends early, at character 7"),
        (b'{"a": "b', "truncated: JSON ends early, at character 6"),
        (b"{a}", "not JSON: Expecting property name enclosed in double quotes at character 1"),
        (b'{"a": NaN}', "holds NaN, which is not a JSON number"),
        (b"[-Infinity]", "holds -Infinity, which is not a JSON number"),
        (b'"\xff"', "not UTF-8 text"),
        (rb'"\ud800"', "not UTF-8 text"),
        (r'"\ud800"', "not UTF-8 text"),
        (b"[12345678901234567890]", "holds an integer of 20 digits, expected at most 19"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(content, said):
    with pytest.raises(RecordError) as refused:
        values.parse_json(content)
    assert said in str(refused.value)


def test_json_is_read_with_constants_only_where_they_are_asked_for():
    assert values.parse_json(rb'["\ud83d\ude00", -1234567890123456789]') == ["\U0001f600", -1234567890123456789]
    found = values.parse_json("[NaN, Infinity]", with_constants=True)
    assert math.isnan(found[0])
    assert found[1] == math.inf


def test_a_key_that_lacks_or_does_not_fit_is_named():
    assert values.read({"a": 1}, "a", values.number_of) == 1.0
    assert values.read({}, "a", values.number_of, None) is None
    with pytest.raises(RecordError, match="lacks the key 'a'"):
        values.read({}, "a", values.number_of)
    with pytest.raises(RecordError, match="a: expected a number, found 'x'"):
        values.read({"a": "x"}, "a", values.number_of, 0.0)


def test_a_value_in_a_message_is_short_and_on_one_line():
    assert values.shown("a\nb\x1b[1m") == r"'a\nb\x1b[1m'"
    assert len(values.shown("a" * 1000)) <= 60
    assert len(values.shown(["a" * 100, "b" * 100])) == 100 + len("...")
    assert values.shown([1, 2, 3]) == "[1, 2, ...]"
    assert values.printable("é\u202ex\x00") == "é\\u202ex\\x00"
