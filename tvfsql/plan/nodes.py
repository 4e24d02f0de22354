"""The logical operators. Columns are names; every operator's output names are unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tvfsql.errors import Span
from tvfsql.plan.function import UserFunction
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.scalar import Scalar
from tvfsql.plan.types import SqlType


@dataclass(frozen=True)
class Item:
    """A column of a projection: what it is called and how it is computed."""

    name: str
    scalar: Scalar

    def __str__(self) -> str:
        return str(self.scalar) if self.scalar.column == self.name else f"{self.scalar} AS {self.name}"


@dataclass(frozen=True)
class AggCall:
    """An aggregate to compute. `function` is a row of plan.aggregates, or the name of one that only Spark
    knows, or that of `user`. `time` is the event time by which FIRST_VALUE, LAST_VALUE and the lists order rows."""

    name: str
    function: str
    arguments: tuple[Scalar, ...]
    distinct: bool = False
    filter: Scalar | None = None
    time: str | None = None
    type: SqlType = field(default="", compare=False)
    user: UserFunction | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def columns(self) -> frozenset[str]:
        """The input columns it reads."""
        scalars = (*self.arguments, *((self.filter,) if self.filter else ()))
        read = frozenset(column for scalar in scalars for column in scalar.columns)
        return read | {self.time} if self.time else read

    def over(self, computed: Mapping[str, Scalar]) -> AggCall:
        """The call over other columns: expressions in the place of those that it reads; the event time is a column."""
        time = computed[self.time].column if self.time in computed and self.time else self.time
        arguments = tuple(argument.substitute(computed) for argument in self.arguments)
        return replace(
            self, arguments=arguments, filter=self.filter.substitute(computed) if self.filter else None, time=time
        )

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.arguments))
        distinct = "DISTINCT " if self.distinct else ""
        where = f" FILTER (WHERE {self.filter})" if self.filter else ""
        return f"{self.function}({distinct}{inner}){where} AS {self.name}"


@dataclass(frozen=True)
class Scan(Node):
    """Rows of a table of the catalog; `fields` are the columns that are read.

    With `changelog` the table's rows are changes, and no operator above has seen to that yet
    (`plan.properties.is_changelog`). With `sign` it puts out changes as plain rows: that column is 1 for a row that
    comes, and -1 for one that goes.
    """

    table: str
    fields: tuple[Field, ...]
    changelog: bool = False
    sign: str = ""

    @cached_property
    def schema(self) -> Schema:
        return (*self.fields, Field(self.sign, "bigint")) if self.sign else self.fields

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", self.table
        yield "fields", ", ".join(self.columns)
        if self.changelog:
            yield "changelog", "true"


@dataclass(frozen=True)
class Values(Node):
    """One row without columns: what a SELECT without FROM reads."""

    @cached_property
    def schema(self) -> Schema:
        return ()


@dataclass(frozen=True)
class Project(Node):
    input: Node
    items: tuple[Item, ...]

    @cached_property
    def schema(self) -> Schema:
        return tuple(Field(item.name, item.scalar.type or _known(self.input, item.scalar)) for item in self.items)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "select", ", ".join(map(str, self.items))


@dataclass(frozen=True)
class Filter(Node):
    """Rows for which every condition holds."""

    input: Node
    conditions: tuple[Scalar, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "where", " AND ".join(map(str, self.conditions))


@dataclass(frozen=True)
class Expand(Node):
    """Each row once for every grouping set: in it the `keys` that the set lacks are NULL, and `id` names the set.

    Of a number of `sets`, the lowest bits tell which keys are lacking, the last key lowest, as in Flink; the bits
    above tell apart sets of the same keys.
    """

    input: Node
    keys: tuple[str, ...]
    sets: tuple[int, ...]
    id: str

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.id, "bigint"))

    def bit(self, key: str) -> int:
        """The value that the key's bit adds to the numbers of the sets that lack it."""
        return 1 << (len(self.keys) - 1 - self.keys.index(key))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "projects", ", ".join(map(self._projected, self.sets))

    def _projected(self, number: int) -> str:
        lacking = {key for key in self.keys if number & self.bit(key)}
        parts = (f"NULL AS {name}" if name in lacking else name for name in self.input.columns)
        return f"{{{', '.join((*parts, f'{number} AS {self.id}'))}}}"


@dataclass(frozen=True)
class Aggregate(Node):
    """GROUP BY `keys`; without keys, one row in all."""

    input: Node
    keys: tuple[str, ...]
    calls: tuple[AggCall, ...]

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        return (*keys, *(Field(call.name, call.type) for call in self.calls))

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "select", ", ".join((*self.keys, *map(str, self.calls)))


@dataclass(frozen=True)
class Join(Node):
    """`kind` is inner, left, right, full, cross, semi or anti: rows match if every condition holds. The sides share
    no column name."""

    left: Node
    right: Node
    kind: str
    conditions: tuple[Scalar, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema if self.kind in ("semi", "anti") else (*self.left.schema, *self.right.schema)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", self.kind
        yield "where", " AND ".join(map(str, self.conditions)) or "true"


@dataclass(frozen=True)
class SetOperation(Node):
    """`kind` is union, intersect or except. Columns go by position and are named as the left ones."""

    left: Node
    right: Node
    kind: str
    all: bool

    @cached_property
    def schema(self) -> Schema:
        pairs = zip(self.left.schema, self.right.schema, strict=True)
        return tuple(Field(a.name, a.type if a.type == b.type else "") for a, b in pairs)


@dataclass(frozen=True)
class Distinct(Node):
    input: Node

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Order:
    scalar: Scalar
    descending: bool
    nulls_first: bool

    def __str__(self) -> str:
        nulls = "" if self.nulls_first != self.descending else f" NULLS {'FIRST' if self.nulls_first else 'LAST'}"
        return f"{self.scalar} {'DESC' if self.descending else 'ASC'}{nulls}"


@dataclass(frozen=True)
class Sort(Node):
    input: Node
    order: tuple[Order, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class Limit(Node):
    """At most `count` rows (None: all) after the first `offset`."""

    input: Node
    count: int | None
    offset: int = 0

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class SparkSql(Node):
    """A query that Spark plans by itself; `names` are what `sql` calls its inputs. `reason` says why."""

    inputs: tuple[Node, ...]
    names: tuple[str, ...]
    sql: str
    fields: tuple[Field, ...]
    reason: str
    functions: tuple[UserFunction, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    def details(self) -> Iterator[tuple[str, str]]:
        yield "query", self.sql
        yield "because", self.reason


@dataclass(frozen=True)
class Unnest(Node):
    """A row for each struct in the column `rows`, an array; its `fields` take the place of that column."""

    input: Node
    rows: str
    fields: tuple[Field, ...]

    @cached_property
    def schema(self) -> Schema:
        return (*(field for field in self.input.schema if field.name != self.rows), *self.fields)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "rows", self.rows
        yield "select", ", ".join(self.columns)


@dataclass(frozen=True)
class Sink(Node):
    """Rows written into a table of the catalog, whose stored columns they have."""

    input: Node
    table: str
    overwrite: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


def _known(node: Node, scalar: Scalar) -> SqlType:
    return node.type_of(scalar.column) if scalar.column in node.columns and scalar.column else ""
