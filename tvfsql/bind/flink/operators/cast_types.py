"""The types that CAST makes: Spark's types, and what Flink's have in addition."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tvfsql.bind.flink.time.digits import TIMES
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax.types import spark_type

T = exp.DataType.Type
CHARS = (T.CHAR, T.VARCHAR, T.NVARCHAR, T.NCHAR)
BYTES = (T.BINARY, T.VARBINARY)
PADDED = (T.CHAR, T.NCHAR, T.BINARY)


@dataclass(frozen=True)
class Target:
    """The target of a CAST: Spark's type, and what Flink's type has in addition."""

    kind: SqlType
    length: int | None = None  # of VARCHAR(n), CHAR(n), BINARY(n), VARBINARY(n); the precision of a TIMESTAMP(n)
    fixed: bool = False  # CHAR and BINARY are padded to their length
    parts: tuple[Target, ...] = ()  # the types inside an array, map or row

    @classmethod
    def of(cls, kind: exp.DataType) -> Target:
        """Raises UnsupportedError for a TIMESTAMP with more than 6 digits."""
        inside = (part.args["kind"] if isinstance(part, exp.ColumnDef) else part for part in kind.expressions)
        parts = tuple(cls.of(part) for part in inside if isinstance(part, exp.DataType))
        length = _length(kind) if kind.this in (*CHARS, *BYTES, *TIMES) else None
        if kind.this in (T.CHAR, T.BINARY) and length is None:
            length = 1
        if kind.this in TIMES and length is not None and length > 6:
            raise UnsupportedError("times have at most 6 fractional digits", hint="TIMESTAMP(6)")
        return cls(spark_type(kind), length, kind.this in PADDED and length is not None, parts)

    @property
    def has_lengths(self) -> bool:
        """Whether it, or a type inside it, cuts or pads values."""
        return self.length is not None or any(part.has_lengths for part in self.parts)


def _length(kind: exp.DataType) -> int | None:
    """The number in CHAR(3); None if there is none."""
    given = [part.name for part in kind.expressions if isinstance(part, exp.DataTypeParam)]
    return int(given[0]) if given and given[0].isdecimal() else None
