"""The types of sqlglot's trees as types of plans. `checks.casts` has read their words, so they are complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

T = exp.DataType.Type

# classes whose one field has this default
WITH_NUMBER: dict[Any, tuple[Callable[[int], SqlType], int]] = {
    T.TIMESTAMP: (types.Timestamp, types.MICROS),
    T.TIMESTAMPNTZ: (types.Timestamp, types.MICROS),
    T.TIMESTAMPLTZ: (types.TimestampLtz, types.MICROS),
    T.TIMESTAMPTZ: (types.TimestampLtz, types.MICROS),
    T.TIME: (types.Time, 0),
    T.CHAR: (types.Char, 1),
    T.NCHAR: (types.Char, 1),
    T.VARCHAR: (types.VarChar, types.UNBOUNDED),
    T.NVARCHAR: (types.VarChar, types.UNBOUNDED),
    T.TEXT: (types.VarChar, types.UNBOUNDED),
    T.BINARY: (types.Binary, 1),
    T.VARBINARY: (types.VarBinary, types.UNBOUNDED),
}
INTERVALS = {kind.spark: kind for kind in (types.INTERVAL_MONTHS, types.INTERVAL_SECONDS)}


def sql_type(tree: exp.DataType) -> SqlType:
    """The type that a sqlglot tree stands for."""
    inner = [sql_type(part) for part in tree.expressions if isinstance(part, exp.DataType)]
    match tree.this:
        case kind if kind in WITH_NUMBER:
            made, default = WITH_NUMBER[kind]
            return made(_number(tree, 0, default))
        case T.STRUCT:
            named = (part for part in tree.expressions if isinstance(part, exp.ColumnDef))
            return types.Row(tuple((part.name, sql_type(part.args["kind"])) for part in named))
        case T.ARRAY:
            return types.Array(*inner)
        case T.MAP:
            return types.Map(*inner)
        case T.DECIMAL:
            return types.Decimal(_number(tree, 0, 10), _number(tree, 1, 0))
    text = tree.sql(dialect="spark").lower()
    return INTERVALS.get(text) or types.Simple(text)


def cast_type(node: exp.Cast) -> SqlType:
    """The type that a CAST, or a literal such as TIMESTAMP '...', makes. The digits of a literal are those written."""
    kind = sql_type(node.to)
    is_literal = isinstance(node.this, exp.Literal) and "start" not in node.meta
    if not is_literal or node.to.expressions or not isinstance(kind, types.Timestamp | types.TimestampLtz):
        return kind
    found = re.search(r"\.(\d+)$", node.this.name)
    return type(kind)(len(found[1]) if found else 0)


def _number(tree: exp.DataType, at: int, default: int) -> int:
    """One of the numbers in parentheses after a type."""
    given = [part.name for part in tree.expressions if isinstance(part, exp.DataTypeParam)]
    return int(given[at]) if at < len(given) and given[at].isdecimal() else default
