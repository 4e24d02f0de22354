"""Types of values: what Spark stores, and what Flink's type says in addition.

SQL text becomes a type in `syntax.types`, text of Spark's in `spark_types`. From there on types are values: code asks
for their class and fields, and prints them as Spark's or Flink's DDL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self, TypeGuard

from tvfsql.plan.values.names import backticked, quoted

UNBOUNDED = 2_147_483_647  # the length of STRING and BYTES
MILLIS, MICROS = 3, 6  # fractional digits of a time: what is assumed where none are declared, and what Spark has


@dataclass(frozen=True, eq=False)
class SqlType:
    """A type. Two types are equal if Spark stores their values alike: lengths of strings and bytes, fractional digits
    of timestamps, MULTISET beside MAP, and NOT NULL make no difference.

    `root` is Spark's name of the type without what is in parentheses and angle brackets: decimal, array, timestamp_ntz.
    `nullable` is False where values are certainly not NULL. Functions are given the value of an argument that is a
    literal as `literal`; no other type has it.
    """

    root: ClassVar[str] = ""
    nullable: bool = field(default=True, kw_only=True)
    literal: str | None = field(default=None, kw_only=True, repr=False)

    @cached_property
    def spark(self) -> str:
        """Spark's DDL in lower case; "" for UNKNOWN."""
        return self._in_spark(str.lower)

    @cached_property
    def ddl(self) -> str:
        """Spark's DDL in upper case, for SQL text; the field names of a ROW keep their case."""
        return self._in_spark(str.upper)

    @property
    def flink(self) -> str:
        """The type as Flink prints it, without its own NOT NULL."""
        return self.root.upper()

    @property
    def declared(self) -> str:
        """The type as Flink prints it, with NOT NULL."""
        return self.flink if self.nullable else f"{self.flink} NOT NULL"

    @property
    def parts(self) -> tuple[SqlType, ...]:
        """The types inside an array, map or row; () for other types."""
        return ()

    def walk(self) -> Iterator[SqlType]:
        """Yield the type and all types inside it, from outside in."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def transform(self, change: Callable[[SqlType], SqlType]) -> SqlType:
        """Rewrite the types inside it, and then itself."""
        return change(self._over(change))

    def _over(self, change: Callable[[SqlType], SqlType]) -> SqlType:
        return self

    def _in_spark(self, case: Callable[[str], str]) -> str:
        return case(self.root)

    def __str__(self) -> str:
        return self.spark

    if not TYPE_CHECKING:  # so mypy rejects a comparison of a type with a string

        def __eq__(self, other: object) -> bool:
            return isinstance(other, SqlType) and self.spark == other.spark

    def __hash__(self) -> int:
        return hash(self.spark)

    def __deepcopy__(self, memo: object) -> Self:
        return self


@dataclass(frozen=True, eq=False)
class Unknown(SqlType):
    """A type that only Spark knows. It is false; no function here guesses it."""

    @property
    def flink(self) -> str:
        return "(known to Spark)"

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Simple(SqlType):
    """A type that is all in its name: BOOLEAN, the integers, FLOAT, DOUBLE, DATE, VARIANT, the type of NULL, and those
    of Spark's types that Flink lacks.
    """

    root: str  # type: ignore[misc]  # Spark's name

    @property
    def flink(self) -> str:
        return "NULL" if self.root == "void" else self.root.upper()


@dataclass(frozen=True, eq=False)
class Decimal(SqlType):
    """DECIMAL(precision, scale): the number of digits, and how many of them are after the point."""

    root = "decimal"
    precision: int
    scale: int

    @property
    def flink(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"

    def _in_spark(self, case: Callable[[str], str]) -> str:
        return f"{case(self.root)}({self.precision},{self.scale})"


@dataclass(frozen=True, eq=False)
class VarChar(SqlType):
    """VARCHAR(length), a length in characters; STRING is the longest."""

    root = "string"
    length: int = UNBOUNDED

    @property
    def flink(self) -> str:
        return "STRING" if self.length == UNBOUNDED else f"VARCHAR({self.length})"


@dataclass(frozen=True, eq=False)
class Char(VarChar):
    """CHAR(length): strings padded to their length."""

    @property
    def flink(self) -> str:
        return f"CHAR({self.length})"


@dataclass(frozen=True, eq=False)
class VarBinary(SqlType):
    """VARBINARY(length), a length in bytes; BYTES is the longest."""

    root = "binary"
    length: int = UNBOUNDED

    @property
    def flink(self) -> str:
        return "BYTES" if self.length == UNBOUNDED else f"VARBINARY({self.length})"


@dataclass(frozen=True, eq=False)
class Binary(VarBinary):
    """BINARY(length): bytes padded to their length."""

    @property
    def flink(self) -> str:
        return f"BINARY({self.length})"


@dataclass(frozen=True, eq=False)
class Time(SqlType):
    """TIME(digits): a time of day, with so many fractional digits of a second."""

    root = "time"
    digits: int = 0

    @property
    def flink(self) -> str:
        return f"TIME({self.digits})"

    def _in_spark(self, case: Callable[[str], str]) -> str:
        return f"{case(self.root)}({self.digits})"


@dataclass(frozen=True, eq=False)
class Timestamp(SqlType):
    """TIMESTAMP(digits): what a clock shows, with so many fractional digits of a second. Spark stores microseconds."""

    root = "timestamp_ntz"
    digits: int = MILLIS

    @property
    def flink(self) -> str:
        return f"TIMESTAMP({self.digits})"


@dataclass(frozen=True, eq=False)
class TimestampLtz(SqlType):
    """TIMESTAMP_LTZ(digits): an instant, with so many fractional digits of a second. Spark stores microseconds."""

    root = "timestamp"
    digits: int = MILLIS

    @property
    def flink(self) -> str:
        return f"TIMESTAMP_LTZ({self.digits})"


@dataclass(frozen=True, eq=False)
class Interval(SqlType):
    """An interval of months, or of microseconds."""

    root: str  # type: ignore[misc]

    @property
    def flink(self) -> str:
        return "INTERVAL MONTH" if self == INTERVAL_MONTHS else f"INTERVAL SECOND({MILLIS})"


@dataclass(frozen=True, eq=False)
class Array(SqlType):
    """ARRAY<element>."""

    root = "array"
    element: SqlType

    @property
    def parts(self) -> tuple[SqlType, ...]:
        return (self.element,)

    @property
    def flink(self) -> str:
        return f"ARRAY<{self.element.declared}>"

    def _over(self, change: Callable[[SqlType], SqlType]) -> SqlType:
        return replace(self, element=self.element.transform(change))

    def _in_spark(self, case: Callable[[str], str]) -> str:
        return f"{case(self.root)}<{self.element._in_spark(case)}>"


@dataclass(frozen=True, eq=False)
class Map(SqlType):
    """MAP<key, value>."""

    root = "map"
    key: SqlType
    value: SqlType

    @property
    def parts(self) -> tuple[SqlType, ...]:
        return (self.key, self.value)

    @property
    def flink(self) -> str:
        return f"MAP<{self.key.declared}, {self.value.declared}>"

    def _over(self, change: Callable[[SqlType], SqlType]) -> SqlType:
        return replace(self, key=self.key.transform(change), value=self.value.transform(change))

    def _in_spark(self, case: Callable[[str], str]) -> str:
        return f"{case(self.root)}<{self.key._in_spark(case)},{self.value._in_spark(case)}>"


@dataclass(frozen=True, eq=False)
class Multiset(Map):
    """MULTISET<key>. Spark has none: it stores a map of counts."""

    @property
    def flink(self) -> str:
        return f"MULTISET<{self.key.declared}>"


@dataclass(frozen=True, eq=False)
class Row(SqlType):
    """ROW<name type, ...>: the fields in order, with their names."""

    root = "struct"
    fields: tuple[tuple[str, SqlType], ...]

    @property
    def parts(self) -> tuple[SqlType, ...]:
        return tuple(kind for _, kind in self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.fields)

    @property
    def flink(self) -> str:
        return f"ROW<{', '.join(f'{backticked(name)} {kind.declared}' for name, kind in self.fields)}>"

    def _over(self, change: Callable[[SqlType], SqlType]) -> SqlType:
        return replace(self, fields=tuple((name, kind.transform(change)) for name, kind in self.fields))

    def _in_spark(self, case: Callable[[str], str]) -> str:
        return f"{case(self.root)}<{','.join(f'{quoted(name)}:{kind._in_spark(case)}' for name, kind in self.fields)}>"


UNKNOWN: SqlType = Unknown()
BOOLEAN: SqlType = Simple("boolean")
TINYINT: SqlType = Simple("tinyint")
SMALLINT: SqlType = Simple("smallint")
INT: SqlType = Simple("int")
BIGINT: SqlType = Simple("bigint")
FLOAT: SqlType = Simple("float")
DOUBLE: SqlType = Simple("double")
STRING: SqlType = VarChar()
BYTES: SqlType = VarBinary()
DATE: SqlType = Simple("date")
TIMESTAMP: SqlType = Timestamp()
TIMESTAMP_LTZ: SqlType = TimestampLtz()
VARIANT: SqlType = Simple("variant")
NULL: SqlType = Simple("void")
INTEGERS, FLOATS, TIMES = (TINYINT, SMALLINT, INT, BIGINT), (FLOAT, DOUBLE), (TIMESTAMP, TIMESTAMP_LTZ)
INTERVAL_MONTHS: SqlType
INTERVAL_SECONDS: SqlType
INTERVAL_MONTHS, INTERVAL_SECONDS = Interval("interval year to month"), Interval("interval day to second")
EXACT = (*INTEGERS, BOOLEAN, STRING, DATE, TIMESTAMP, TIMESTAMP_LTZ)  # with all DECIMALs
ORDER = {kind: rank for rank, kind in enumerate(INTEGERS)}


def is_integer(kind: SqlType) -> bool:
    return kind in INTEGERS


def is_wider(kind: SqlType, other: SqlType) -> bool:
    """Whether these are types of integers, of which the first has all values of the second."""
    return is_integer(kind) and is_integer(other) and ORDER[kind] >= ORDER[other]


def is_float(kind: SqlType) -> bool:
    return kind in FLOATS


def is_decimal(kind: SqlType) -> TypeGuard[Decimal]:
    return isinstance(kind, Decimal)


def is_exact(kind: SqlType) -> bool:
    """Whether equal values of a type are identical, so that either can replace the other."""
    return kind in EXACT or isinstance(kind, Decimal)


def is_number(kind: SqlType) -> bool:
    return kind in INTEGERS or kind in FLOATS or isinstance(kind, Decimal)


def is_time(kind: SqlType) -> TypeGuard[Timestamp | TimestampLtz]:
    """Whether a window may run over a column of this type."""
    return isinstance(kind, Timestamp | TimestampLtz)


def scale_of(kind: SqlType) -> int:
    """The number of digits after the point of a decimal type."""
    assert isinstance(kind, Decimal), kind
    return kind.scale


def is_orderable(kind: SqlType) -> bool:
    return kind != VARIANT and not has_map(kind)


def goes_with(one: SqlType, other: SqlType) -> bool:
    """Whether two values, one of which is an array, map or row, can be of one type, as far as that is certain."""
    match one, other:
        case (Array(), Array()) | (Map(), Map()):
            return all(map(goes_with, one.parts, other.parts))
        case Row(fields), Row(others):
            return len(fields) == len(others) and all(map(goes_with, one.parts, other.parts))
    nested = [isinstance(kind, Array | Map | Row) for kind in (one, other)]
    return not any(nested) or UNKNOWN in (one, other) or NULL in (one, other)


def element_type(kind: SqlType) -> SqlType:
    """The type of an array's elements; UNKNOWN for other types."""
    return kind.element if isinstance(kind, Array) else UNKNOWN


def fields(kind: SqlType) -> dict[str, SqlType]:
    """The types of a ROW's fields by name; {} for other types."""
    return dict(kind.fields) if isinstance(kind, Row) else {}


def field_type(kind: SqlType, name: str) -> SqlType | None:
    """The type of a ROW's field of that name, in any case; None without such a field."""
    return next((of for field, of in fields(kind).items() if field.lower() == name.lower()), None)


def widest(left: SqlType, right: SqlType) -> SqlType:
    """One type for the values of two equal types: the greater length, the more digits, and NULL if one has it."""
    nullable = left.nullable or right.nullable
    match left, right:
        case (Char(one), Char(other)) | (Binary(one), Binary(other)) if one == other:
            return replace(left, nullable=nullable)
        case VarChar(one), VarChar(other):
            return VarChar(max(one, other), nullable=nullable)
        case VarBinary(one), VarBinary(other):
            return VarBinary(max(one, other), nullable=nullable)
        case Timestamp(one), Timestamp(other):
            return Timestamp(max(one, other), nullable=nullable)
        case TimestampLtz(one), TimestampLtz(other):
            return TimestampLtz(max(one, other), nullable=nullable)
        case Array(one), Array(other):
            return Array(widest(one, other), nullable=nullable)
        case Map(key, value), Map(other_key, other_value):
            return type(left)(widest(key, other_key), widest(value, other_value), nullable=nullable)
        case Row(), Row():
            parts = map(widest, left.parts, right.parts)
            return Row(tuple(zip(left.names, parts, strict=True)), nullable=nullable)
    return replace(left, nullable=nullable)


def of_column(kind: SqlType) -> SqlType:
    """The type of a column that a query makes in a new table: strings and bytes of any length, times of milliseconds at
    least, and NULLs.
    """

    def wider(part: SqlType) -> SqlType:
        if isinstance(part, Timestamp | TimestampLtz):
            return type(part)(max(part.digits, MILLIS))
        known: SqlType = STRING if isinstance(part, VarChar) else BYTES if isinstance(part, VarBinary) else part
        return replace(known, nullable=True)

    return kind.transform(wider)


def has_length(kind: SqlType) -> bool:
    """Whether its strings or bytes are cut or padded to a length."""
    return isinstance(kind, VarChar | VarBinary) and kind.length < UNBOUNDED


def has_map(kind: SqlType) -> bool:
    return any(isinstance(part, Map) for part in kind.walk())
