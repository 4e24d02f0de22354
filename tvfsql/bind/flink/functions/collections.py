"""Flink's array and map functions."""

from __future__ import annotations

from collections.abc import Callable

from tvfsql.bind.flink.function import Function, same
from tvfsql.bind.flink.operators.common_type import common_type
from tvfsql.plan.values.types import BOOLEAN, INT, STRING, UNKNOWN, Array, Map, Row, SqlType, element_type

SEVERAL = "RAISE_ERROR('ELEMENT takes an array of one element')"
# parameters of lambda functions around an argument, in which such a name must not hide a column: no column has it
ITEM, VALUE = "`$item`", "`$value`"


def _sliced(array: SqlType, start: SqlType, end: SqlType = UNKNOWN) -> str:
    """ARRAY_SLICE: the elements from one position to another, inclusive. Negative positions count from the end; 0 means
    1, and so does the end before the first element.
    """
    first = "CASE WHEN {1} = 0 THEN 1 WHEN {1} < 0 THEN GREATEST({1} + SIZE({0}) + 1, 1) ELSE {1} END"
    last = "IF({2} IN (0, -1 - SIZE({0})), 1, {2} + IF({2} < 0, SIZE({0}) + 1, 0))" if end else "SIZE({0})"
    if (start.literal or "").isdecimal() and start.literal != "0":
        first = "{1}"
    if end and (end.literal or "").isdecimal() and end.literal != "0":
        last = "{2}"
    return f"IF({last} < {first}, SLICE({{0}}, 1, 0), SLICE({{0}}, {first}, {last} - {first} + 1))"


def _sorted(array: SqlType, ascending: SqlType, nulls_first: SqlType) -> str:
    """ARRAY_SORT with a choice where NULLs go."""
    held, nulls = "SORT_ARRAY(ARRAY_COMPACT({0}), {1})", "FILTER({0}, item -> item IS NULL)"
    return f"IF({{2}}, CONCAT({nulls}, {held}), CONCAT({held}, {nulls}))"


def _row(*kinds: SqlType) -> str:
    fields = [f"'EXPR${i}', {{{i}}}" for i in range(len(kinds))]
    return f"NAMED_STRUCT({', '.join(fields)})"


def _row_type(*kinds: SqlType) -> SqlType:
    return Row(tuple((f"EXPR${i}", kind) for i, kind in enumerate(kinds)), nullable=False) if all(kinds) else UNKNOWN


def _part_of_map(at: int) -> Callable[..., SqlType]:
    """The type of keys or values as an array."""

    def of(kind: SqlType, *_: SqlType) -> SqlType:
        return Array(kind.parts[at]) if isinstance(kind, Map) else UNKNOWN

    return of


def _entries(kind: SqlType) -> SqlType:
    """The type of a map's entries."""
    return Array(Row((("key", kind.key), ("value", kind.value)))) if isinstance(kind, Map) else UNKNOWN


def _map_of(keys: SqlType, values: SqlType) -> SqlType:
    """The type of a map made from two arrays."""
    key, value = element_type(keys), element_type(values)
    return Map(key, value) if key and value else UNKNOWN


def _element(kind: SqlType, *_: SqlType) -> SqlType:
    return element_type(kind)


def of_all(*kinds: SqlType) -> SqlType:
    """The common type of arrays or maps."""
    return common_type(kinds)


def itself(kind: SqlType, *_: SqlType) -> SqlType:
    return kind


COLLECTIONS = (
    same("CARDINALITY(collection)", INT),
    Function("ELEMENT(array)", f"IF(CARDINALITY({{0}}) > 1, {SEVERAL}, GET({{0}}, 0))", _element),
    same("ARRAY_APPEND(array, element)", itself),
    same("ARRAY_CONCAT(array, ...)", of_all, spark="CONCAT"),
    Function("ARRAY_CONTAINS(array, element)", f"EXISTS({{0}}, {ITEM} -> {ITEM} <=> {{1}})", BOOLEAN),
    same("ARRAY_DISTINCT(array)", itself),
    same("ARRAY_EXCEPT(array, other)", itself),
    same("ARRAY_INTERSECT(array, other)", itself),
    same("ARRAY_JOIN(array, separator)", STRING),
    same("ARRAY_JOIN(array, separator, null)", STRING),
    same("ARRAY_MAX(array)", _element),
    same("ARRAY_MIN(array)", _element),
    Function("ARRAY_POSITION(array, element)", "CAST(ARRAY_POSITION({0}, {1}) AS INT)", INT),
    same("ARRAY_PREPEND(array, element)", itself),
    Function("ARRAY_REMOVE(array, element)", f"FILTER({{0}}, {ITEM} -> NOT {ITEM} <=> {{1}})", itself),
    Function("ARRAY_REVERSE(array)", "REVERSE({0})", itself),
    Function("ARRAY_SORT(array)", "SORT_ARRAY({0})", itself),
    Function("ARRAY_SORT(array, ascending)", "SORT_ARRAY({0}, {1})", itself),
    same("ARRAY_UNION(array, other)", of_all),
    Function("ARRAY_SLICE(array, start)", _sliced, itself),
    Function("ARRAY_SLICE(array, start, end)", _sliced, itself),
    Function("ARRAY_SORT(array, ascending, nulls_first)", _sorted, itself),
    same("MAP_KEYS(map)", _part_of_map(0)),
    same("MAP_VALUES(map)", _part_of_map(1)),
    same("MAP_ENTRIES(map)", _entries),
    same("MAP_FROM_ARRAYS(keys, values)", _map_of, note="fails if a key occurs twice"),
    Function(
        "MAP_UNION(map, other)",
        f"MAP_CONCAT({{1}}, MAP_FILTER({{0}}, ({ITEM}, {VALUE}) -> NOT MAP_CONTAINS_KEY({{1}}, {ITEM})))",
        of_all,
    ),
    Function("ROW(value, ...)", _row, _row_type),
)
