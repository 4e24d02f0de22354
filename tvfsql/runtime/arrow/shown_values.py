"""The values of Arrow columns for Python and for people: instants on a clock, and times of any year."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import Row

from tvfsql.plan.values.times import Clock, wall_date, wall_time


def rows_of(table: pa.Table, names: Sequence[str], clock: Clock) -> list[Row]:
    """The rows of a table as Spark's Rows with these names, and with instants as times on a clock."""
    make = Row(*names)
    columns = (_chunks(column, clock) for column in table.columns)
    return [make(*values) for values in zip(*columns, strict=True)]


def _chunks(column: Any, clock: Clock) -> Iterator[object]:
    for chunk in column.chunks:
        yield from shown_values(chunk, clock)


def shown_values(column: Any, clock: Clock) -> Sequence[object]:
    """The values of an array as Spark gives them to Python: Rows, lists, dicts. Instants are times on a clock. Times of
    years that datetime does not have are `FarTime`s. NULL becomes None."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        micros = column.cast(pa.timestamp("us", kind.tz)).view(pa.int64()).to_pylist()
        if kind.tz is not None:
            return [None if each is None else wall_time(each + clock(each)) for each in micros]
        return [None if each is None else wall_time(each) for each in micros]
    if str(kind) == "date32[day]":
        return [None if each is None else wall_date(each) for each in column.view(pa.int32()).to_pylist()]
    if pa.types.is_struct(kind):
        make = Row(*(field.name for field in kind))
        parts = zip(*(shown_values(part, clock) for part in column.flatten()), strict=True)
        return [make(*each) if valid else None for each, valid in zip(parts, _valid(column), strict=True)]
    if pa.types.is_map(kind):
        keys, items = _ends(column, clock, column.keys, column.items)
        maps = zip(_slices(column, keys), _slices(column, items), strict=True)
        return [None if k is None or i is None else dict(zip(map(hashable, k), i, strict=True)) for k, i in maps]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        (elements,) = _ends(column, clock, column.values)
        return [None if each is None else list(each) for each in _slices(column, elements)]
    values: list[object] = column.to_pylist()
    return values


def _ends(column: Any, clock: Clock, *values: pa.Array) -> list[Sequence[object]]:
    """The values of the elements of lists or maps, from the first one on that the array has."""
    first, last = (column.offsets[0].as_py(), column.offsets[-1].as_py()) if len(column) else (0, 0)
    return [shown_values(each.slice(first, last - first), clock) for each in values]


def _slices(column: Any, elements: Sequence[object]) -> Iterator[Sequence[object] | None]:
    ends = column.offsets.to_pylist() if len(column) else [0]
    for valid, (start, end) in zip(_valid(column), pairwise(ends), strict=True):
        yield elements[start - ends[0] : end - ends[0]] if valid else None


def _valid(column: Any) -> list[bool]:
    valid: list[bool] = column.is_valid().to_pylist()
    return valid


# Arrow values as the Python values that Spark passes to functions: Rows, lists, dicts, timestamps without a zone.


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
