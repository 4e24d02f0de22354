"""Arrow values as the Python values that Spark passes to functions: Rows, lists, dicts, timestamps without a zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import Row

Convert = Callable[[Any], object]  # from `to_pylist` values of one type to Spark's


def python_values(column: pa.Array) -> list[object]:
    """The values of an array; NULL becomes None."""
    convert = _converter(column.type)
    values: list[object] = column.to_pylist()
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _converter(kind: pa.DataType) -> Convert | None:
    """A function that converts Arrow's values of a type to Spark's; None if they are the same."""
    if pa.types.is_struct(kind):
        names, parts = [field.name for field in kind], [_converter(field.type) for field in kind]
        make = Row(*names)
        return lambda value: make(*(_by(part, value[name]) for name, part in zip(names, parts, strict=True)))
    if pa.types.is_map(kind):
        key, item = _converter(kind.key_type), _converter(kind.item_type)
        return lambda value: {hashable(_by(key, k)): _by(item, v) for k, v in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = _converter(kind.value_type)
        return None if element is None else lambda value: [_by(element, each) for each in value]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return _local
    return None


def hashable(key: object) -> object:
    """The key of a map as one that a dict can have: a tuple for a list."""
    if isinstance(key, Row):
        return Row(*key.__fields__)(*map(hashable, key))
    return tuple(map(hashable, key)) if isinstance(key, list) else key


def _by(convert: Convert | None, value: object) -> object:
    return value if convert is None or value is None else convert(value)


def _local(instant: datetime) -> datetime:
    """An instant on the local clock of the process, as Spark passes it to Python."""
    return instant.astimezone().replace(tzinfo=None)
