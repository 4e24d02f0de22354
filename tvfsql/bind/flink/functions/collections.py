"""Flink's functions of arrays and maps, its conditional functions, and its functions of types."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.function import Function, same
from tvfsql.bind.flink.lowered_call import Made
from tvfsql.bind.flink.operators.casts import cast
from tvfsql.bind.flink.operators.common_type import common_type
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import (
    BOOLEAN,
    BYTES,
    DOUBLE,
    INT,
    STRING,
    UNKNOWN,
    Array,
    Map,
    Row,
    SqlType,
    VarChar,
    element_type,
    has_length,
    is_decimal,
    is_number,
)

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


def _either_way(template: str) -> str:
    """A template for both directions, of which Spark takes a constant `{way}` alone."""
    way = [template.replace("{way}", word) for word in ("TRUE", "FALSE")]
    return f"CASE WHEN {{1}} THEN {way[0]} WHEN NOT {{1}} THEN {way[1]} END"


def _sorted(array: SqlType, ascending: SqlType, nulls_first: SqlType) -> str:
    """ARRAY_SORT with a choice where NULLs go."""
    held, nulls = _either_way("SORT_ARRAY(ARRAY_COMPACT({0}), {way})"), "FILTER({0}, item -> item IS NULL)"
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


def _with_one_more(array: SqlType, element: SqlType) -> SqlType:
    """The type of an array with one element more. A number that is wider than the others, which Flink refuses, makes
    them as wide."""
    kind = element_type(array)
    if not is_number(kind) or not is_number(element) or is_decimal(kind) or kind == DOUBLE:
        return array
    return common_type((array, Array(element)))


def _with_element(spark: str) -> Callable[..., str]:
    """A call whose second argument gets the length or the digits of the array's elements: '' among CHAR(1) is ' '. A
    STRING keeps its letters, where Flink refuses it.
    """

    def template(array: SqlType, element: SqlType) -> str:
        kind = element_type(array)
        texts = has_length(kind) and has_length(element) and isinstance(element, VarChar)
        if element.spark == kind.spark if not texts else element.flink == kind.flink:
            return spark
        known = texts or (is_decimal(kind) and is_number(element))
        cut = cast(element, kind, attempt=False) if known else None
        return spark.replace("{1}", cut.replace("{0}", "{1}")) if cut else spark

    return template


COLLECTIONS = (
    same("CARDINALITY(collection)", INT),
    Function("ELEMENT(array)", f"IF(CARDINALITY({{0}}) > 1, {SEVERAL}, GET({{0}}, 0))", _element),
    Function("ARRAY_APPEND(array, element)", _with_element("ARRAY_APPEND({0}, {1})"), _with_one_more),
    same("ARRAY_CONCAT(array, ...)", of_all, spark="CONCAT"),
    Function("ARRAY_CONTAINS(array, element)", _with_element(f"EXISTS({{0}}, {ITEM} -> {ITEM} <=> {{1}})"), BOOLEAN),
    same("ARRAY_DISTINCT(array)", itself),
    same("ARRAY_EXCEPT(array, other)", itself),
    same("ARRAY_INTERSECT(array, other)", itself),
    same("ARRAY_JOIN(array, separator)", STRING, takes=""),
    same("ARRAY_JOIN(array, separator, null)", STRING, takes=""),
    same("ARRAY_MAX(array)", _element),
    same("ARRAY_MIN(array)", _element),
    Function("ARRAY_POSITION(array, element)", _with_element("CAST(ARRAY_POSITION({0}, {1}) AS INT)"), INT),
    Function("ARRAY_PREPEND(array, element)", _with_element("ARRAY_PREPEND({0}, {1})"), _with_one_more),
    Function("ARRAY_REMOVE(array, element)", _with_element(f"FILTER({{0}}, {ITEM} -> NOT {ITEM} <=> {{1}})"), itself),
    Function("ARRAY_REVERSE(array)", "REVERSE({0})", itself),
    Function("ARRAY_SORT(array)", "SORT_ARRAY({0})", itself),
    Function("ARRAY_SORT(array, ascending)", _either_way("SORT_ARRAY({0}, {way})"), itself),
    same("ARRAY_UNION(array, other)", of_all),
    Function("ARRAY_SLICE(array, start)", _sliced, itself, takes="a, i"),
    Function("ARRAY_SLICE(array, start, end)", _sliced, itself, takes="a, i, i"),
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

# Calls whose second argument has a subquery, which Spark does not take in a lambda.
WITH_SUBQUERY = {
    "ARRAY_CONTAINS": _with_element(
        f"CASE WHEN {{0}} IS NULL THEN NULL WHEN {{1}} IS NULL THEN EXISTS({{0}}, {ITEM} -> {ITEM} IS NULL) "
        "ELSE COALESCE(ARRAY_CONTAINS({0}, {1}), FALSE) END"
    ),
    "ARRAY_REMOVE": _with_element(
        f"CASE WHEN {{1}} IS NULL THEN FILTER({{0}}, {ITEM} -> {ITEM} IS NOT NULL) ELSE ARRAY_REMOVE({{0}}, {{1}}) END"
    ),
}


# Flink's conditional functions and type functions.


def _common(*kinds: SqlType) -> SqlType:
    return common_type(kinds, "GREATEST")


def _null_if_any_is(name: str) -> Function:
    """GREATEST or LEAST: NULL if any argument is NULL."""

    def template(*kinds: SqlType) -> str:
        arguments = [f"{{{i}}}" for i in range(len(kinds))]
        if len(arguments) == 1:
            return arguments[0]
        missing = " OR ".join(f"{argument} IS NULL" for argument in arguments)
        return f"IF({missing}, NULL, {name}({', '.join(arguments)}))"

    return Function(f"{name}(value, ...)", template, _common)


CONDITIONS = (
    Function(
        "TYPEOF(value)",
        "",
        STRING,
        "is rejected if it is not certain whether a value can be NULL",
        takes="s i l d p b dt tm ts tz bi a m r",
    ),
    _null_if_any_is("GREATEST"),
    _null_if_any_is("LEAST"),
    Function("IFNULL(value, otherwise)", "COALESCE({0}, {1})", _common),
)


# TYPEOF: Flink's name of an expression's type, with NOT NULL if it is never NULL.


NEVER_NULL = exp.Coalesce | exp.Predicate | exp.Count | exp.Array | exp.Struct
CLOCKS = ("NOW()", "CURRENT_TIMESTAMP()")


def type_name(tree: exp.Expr, kind: SqlType) -> str:
    """The type's name, for a column, a constant, or an expression that can be NULL."""
    if isinstance(tree, exp.Null):
        return "NULL"
    if kind == UNKNOWN:
        raise UnsupportedError("the type of this expression is only known when Spark runs it", hint="TYPEOF(column)")
    if isinstance(tree, exp.Literal):
        return (f"CHAR({len(tree.name)})" if tree.is_string else kind.flink) + " NOT NULL"
    if isinstance(tree, exp.Boolean | exp.CurrentTimestamp) or _is_clock(tree) or _is_constant_cast(tree, kind):
        return f"{_shown(kind)} NOT NULL"
    if isinstance(tree, exp.Array) and tree.expressions and all(map(_is_number, tree.expressions)):
        return f"ARRAY<{element_type(kind).flink} NOT NULL> NOT NULL"
    if isinstance(tree, NEVER_NULL) or tree.find(exp.Column) is None:
        raise UnsupportedError(
            "TYPEOF takes a column, a literal, or an expression that can be NULL", hint="TYPEOF(column)"
        )
    return _shown(kind)


def _shown(kind: SqlType) -> str:
    if not isinstance(kind, Row) and any(isinstance(part, Row) for part in kind.walk()):
        raise UnsupportedError("the type of this expression is only known when Spark runs it", hint="TYPEOF(column)")
    return kind.flink


def _is_clock(tree: exp.Expr) -> bool:
    return isinstance(tree, Made) and not tree.expressions and any(clock in tree.template for clock in CLOCKS)


def _is_constant_cast(tree: exp.Expr, kind: SqlType) -> bool:
    """Whether it is a CAST of a literal to a type without a length."""
    literal = tree.this if isinstance(tree, exp.Cast) else None
    return isinstance(literal, exp.Literal) and kind not in (STRING, BYTES)


def _is_number(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and not tree.is_string
