"""The types of sqlglot's trees as Spark spells them. `checks.casts` has read their words, so they are complete."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import SqlType

T = exp.DataType.Type

SPARK_TYPES = {
    T.TIMESTAMP: "timestamp_ntz",
    T.TIMESTAMPNTZ: "timestamp_ntz",
    T.TIMESTAMPLTZ: "timestamp",
    T.TIMESTAMPTZ: "timestamp",
    T.CHAR: "string",
    T.VARCHAR: "string",
    T.NVARCHAR: "string",
    T.TEXT: "string",
    T.BINARY: "binary",
    T.VARBINARY: "binary",
}


def spark_type(tree: exp.DataType) -> SqlType:
    """A sqlglot type in Spark's DDL spelling, in lower case."""
    inner = [part for part in tree.expressions if isinstance(part, exp.DataType | exp.ColumnDef)]
    match tree.this:
        case kind if kind in SPARK_TYPES:
            return SPARK_TYPES[kind]
        case T.STRUCT:
            named = ((part.name, part.args["kind"]) for part in inner if isinstance(part, exp.ColumnDef))
            return f"struct<{','.join(f'{quoted(name)}:{spark_type(part)}' for name, part in named)}>"
        case T.ARRAY | T.MAP:
            args = (spark_type(part) for part in inner if isinstance(part, exp.DataType))
            return f"{tree.this.value.lower()}<{','.join(args)}>"
        case T.DECIMAL:
            given = [part.name for part in tree.expressions]
            return f"decimal({','.join([*given, *('10', '0')[len(given) :]])})"
        case T.TIME:
            return f"time({tree.expressions[0].name if tree.expressions else 0})"
    return tree.sql(dialect="spark").lower()
