"""The types of sqlglot's trees as types of plans. `checks.casts` has read their words, so they are complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from tvfsql.plan.values.types import (
    INTERVAL_MONTHS,
    INTERVAL_SECONDS,
    MICROS,
    UNBOUNDED,
    Array,
    Binary,
    Char,
    Decimal,
    Map,
    Row,
    Simple,
    SqlType,
    Time,
    Timestamp,
    TimestampLtz,
    VarBinary,
    VarChar,
)

T = exp.DataType.Type

# classes whose one field has this default
WITH_NUMBER: dict[Any, tuple[Callable[[int], SqlType], int]] = {
    T.TIMESTAMP: (Timestamp, MICROS),
    T.TIMESTAMPNTZ: (Timestamp, MICROS),
    T.TIMESTAMPLTZ: (TimestampLtz, MICROS),
    T.TIMESTAMPTZ: (TimestampLtz, MICROS),
    T.TIME: (Time, 0),
    T.CHAR: (Char, 1),
    T.NCHAR: (Char, 1),
    T.VARCHAR: (VarChar, UNBOUNDED),
    T.NVARCHAR: (VarChar, UNBOUNDED),
    T.TEXT: (VarChar, UNBOUNDED),
    T.BINARY: (Binary, 1),
    T.VARBINARY: (VarBinary, UNBOUNDED),
}
INTERVALS = {kind.spark: kind for kind in (INTERVAL_MONTHS, INTERVAL_SECONDS)}


def sql_type(tree: exp.DataType) -> SqlType:
    """The type that a sqlglot tree stands for."""
    inner = [sql_type(part) for part in tree.expressions if isinstance(part, exp.DataType)]
    match tree.this:
        case kind if kind in WITH_NUMBER:
            made, default = WITH_NUMBER[kind]
            return made(_number(tree, 0, default))
        case T.STRUCT:
            named = (part for part in tree.expressions if isinstance(part, exp.ColumnDef))
            return Row(tuple((part.name, sql_type(part.args["kind"])) for part in named))
        case T.ARRAY:
            return Array(*inner)
        case T.MAP:
            return Map(*inner)
        case T.DECIMAL:
            return Decimal(_number(tree, 0, 10), _number(tree, 1, 0))
    text = tree.sql(dialect="spark").lower()
    return INTERVALS.get(text) or Simple(text)


def cast_type(node: exp.Cast) -> SqlType:
    """The type that a CAST, or a literal such as TIMESTAMP '...', makes. The digits of a literal are those written."""
    kind = sql_type(node.to)
    is_literal = isinstance(node.this, exp.Literal) and "start" not in node.meta
    if not is_literal or node.to.expressions or not isinstance(kind, Timestamp | TimestampLtz):
        return kind
    found = re.search(r"\.(\d+)$", node.this.name)
    return type(kind)(len(found[1]) if found else 0)


def _number(tree: exp.DataType, at: int, default: int) -> int:
    """One of the numbers in parentheses after a type."""
    given = [part.name for part in tree.expressions if isinstance(part, exp.DataTypeParam)]
    return int(given[at]) if at < len(given) and given[at].isdecimal() else default
