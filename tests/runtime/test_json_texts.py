"""JSON_OBJECT, JSON_OBJECTAGG and JSON: what is no key and no JSON is an error, and not text that nobody can read."""

from __future__ import annotations

from datetime import date, time, timedelta

import pyarrow as pa
import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.functions import json_texts


@pytest.mark.parametrize("text", ["{bad", "", "a", "nan", "1x", "[" * 100_000])
def test_json_takes_json_only(text: str) -> None:
    with pytest.raises(DataError, match="needs JSON, not"):
        json_texts._raw(text)


def test_json_is_written_without_spaces_and_with_its_digits() -> None:
    assert json_texts._raw(' {"b": [1, 2.50],\n"a": 1.0e2} ') == '{"a":1.0E+2,"b":[1,2.50]}'
    assert json_texts._raw(None) is None


def test_a_key_is_not_null() -> None:
    keys, values, one = pa.array(["a", None]), pa.array([1, 2]), pa.array(["NULL", "NULL"])
    with pytest.raises(DataError, match="a key of JSON_OBJECT is NULL"):
        json_texts._json_object(one, pa.array(["v", "v"]), keys, values)
    assert json_texts._json_object(one[:1], pa.array(["v"]), keys[:1], values[:1]).to_pylist() == ['{"a":1}']
    rows = pa.array([[{"k": None, "x": 1}]])
    with pytest.raises(DataError, match="a key of JSON_OBJECTAGG is NULL"):
        json_texts._json_object_of(one[:1], pa.array(["v"]), rows)


def test_times_are_strings_and_an_interval_is_an_error() -> None:
    values = pa.array([{"t": time(10, 0, 0, 500_000), "d": date(2020, 1, 1)}])
    assert json_texts._json_array(pa.array(["NULL"]), pa.array(["v"]), values).to_pylist() == [
        '[{"d":"2020-01-01","t":"10:00:00.500000"}]'
    ]
    with pytest.raises(DataError, match="JSON has no INTERVAL"):
        json_texts._json_array(pa.array(["NULL"]), pa.array(["v"]), pa.array([timedelta(days=1)]))
