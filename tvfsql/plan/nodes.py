"""The logical operators. Columns are identified by name; the names in an operator's output are unique."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.tables.internal_columns import shown
from tvfsql.plan.values.scalar import Ref, Scalar, column, template
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import (
    BIGINT,
    BOOLEAN,
    UNKNOWN,
    Array,
    Row,
    SqlType,
    element_type,
    fields,
    is_wider,
    widest,
)
from tvfsql.plan.values.user_function import UserFunction


@dataclass(frozen=True)
class Item:
    """A column of a projection: its name and the expression that computes it."""

    name: str
    scalar: Scalar

    def __str__(self) -> str:
        return str(self.scalar) if self.scalar.column == self.name else f"{self.scalar} AS {self.name}"


def kept_column(item: Item, source: Node) -> str | None:
    """The column of `source` whose values this is, also as wider integers: it differs where the column does. None: it
    is something else."""
    kind = item.scalar.type
    match item.scalar.parts:
        case ("CAST(", Ref(name), end) if end == f" AS {kind.ddl})" and is_wider(kind, source.type_of(name)):
            return name
    return item.scalar.column


def shown_items(items: Iterable[Item]) -> list[str]:
    """The items as EXPLAIN lists them, without internal columns."""
    return [str(item) for item in items if shown([item.name])]


@dataclass(frozen=True)
class Scan(Node):
    """The rows of a table of the catalog; `fields` are the columns that are read.

    With `changelog` the rows are changes that no operator above has handled yet
    (`plan.analysis.properties.is_changelog`). With `sign` the changes become plain rows, in which that column is 1 for
    an insert and -1 for a retraction. A table that is `looked_up` is not a stream: each micro-batch reads all of it.
    With `versions` the changes are versions of a key: retractions of updates are left out, and a row with the sign -1
    is where the version before it ends. The columns `arrival` order changes of one time. `of_folders` are columns in
    names of folders, with the expressions that they are computed from. With `op` FROM_CHANGELOG reads the table: that
    column has the `codes` of operations. `rowtime` is the event time, which the watermarks follow. Of the history of a
    stream that has one (`has_history`) only the rows that meet `history_where` are read.
    """

    table: str
    fields: tuple[Field, ...]
    changelog: bool = False
    sign: str = ""
    looked_up: bool = False
    versions: bool = False
    arrival: tuple[Field, ...] = ()
    of_folders: tuple[tuple[str, Scalar], ...] = field(default=(), compare=False, repr=False)
    op: str = ""
    codes: tuple[tuple[str, str], ...] = ()
    rowtime: Scalar | None = field(default=None, compare=False, repr=False)
    has_history: bool = field(default=False, compare=False, repr=False)
    history_where: tuple[Scalar, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        signs = (Field(self.sign, BIGINT),) if self.sign else ()
        return (*self.fields, *signs, *self.arrival)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", self.table
        yield "fields", ", ".join(shown(self.columns))
        if self.changelog:
            yield "changelog", "true"
        if self.versions:
            yield "versions", "true"
        if self.op:
            yield "op", self.op
            yield "codes", ", ".join(f"{code}={kind}" for code, kind in self.codes)
        if self.history_where:
            yield "history where", " AND ".join(map(str, self.history_where))


@dataclass(frozen=True)
class Values(Node):
    """One row without columns: the input of a SELECT without FROM."""

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
        yield "select", ", ".join(shown_items(self.items))


@dataclass(frozen=True)
class Filter(Node):
    """The rows for which every condition holds."""

    input: Node
    conditions: tuple[Scalar, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "where", " AND ".join(map(str, self.conditions))


@dataclass(frozen=True)
class Expand(Node):
    """Each row once per grouping set. The `keys` that a set lacks are NULL, and the column `id` identifies the set.

    The lowest bits of a number in `sets` mark the lacking keys, the last key lowest, as in Flink. The bits above tell
    apart sets with the same keys.
    """

    input: Node
    keys: tuple[str, ...]
    sets: tuple[int, ...]
    id: str

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.id, BIGINT))

    def bit(self, key: str) -> int:
        """The bit that marks the key as lacking in the numbers of the sets."""
        return 1 << (len(self.keys) - 1 - self.keys.index(key))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "projects", ", ".join(map(self._projected, self.sets))

    def _projected(self, number: int) -> str:
        lacking = {key for key in self.keys if number & self.bit(key)}
        parts = (f"NULL AS {name}" if name in lacking else name for name in self.input.columns)
        return f"{{{', '.join((*parts, f'{number} AS {self.id}'))}}}"


@dataclass(frozen=True)
class Aggregate(Node):
    """GROUP BY `keys`; without keys, one row in total."""

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
class UpsertAggregate(Aggregate):
    """GROUP BY `keys` over all rows of a stream so far. Each micro-batch has the groups of its rows, with their new
    results, which replace earlier ones.
    """


@dataclass(frozen=True)
class Join(Node):
    """A join. `kind` is inner, left, right, full, cross, semi or anti. Rows match if every condition holds. The two
    sides share no column name. `retention`: for how many ms a stream keeps the rows of each side; None: an option says
    so.
    """

    left: Node
    right: Node
    kind: str
    conditions: tuple[Scalar, ...] = ()
    retention: tuple[int | None, int | None] = (None, None)

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema if self.kind in ("semi", "anti") else (*self.left.schema, *self.right.schema)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", self.kind
        if any(kept is not None for kept in self.retention):
            yield "retention", ", ".join("the option" if kept is None else duration(kept) for kept in self.retention)
        yield "where", " AND ".join(map(str, self.conditions)) or "true"


@dataclass(frozen=True)
class LookupJoin(Node):
    """The rows of `left`, each with all rows of the table `right` for which every condition holds when the row is
    processed. `kind` is inner or left.
    """

    left: Node
    right: Node
    kind: str
    conditions: tuple[Scalar, ...]

    @cached_property
    def schema(self) -> Schema:
        return (*self.left.schema, *self.right.schema)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", self.kind
        yield "where", " AND ".join(map(str, self.conditions))


@dataclass(frozen=True)
class CurrentWatermark(Node):
    """The rows of a stream with one more column, `name`: the watermark of their `time` when each row came."""

    input: Node
    time: str
    name: str

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.name, self.input.type_of(self.time)))


@dataclass(frozen=True)
class SetOperation(Node):
    """`kind` is union, intersect or except. Columns correspond by position and take the names of the left side."""

    left: Node
    right: Node
    kind: str
    all: bool

    @cached_property
    def schema(self) -> Schema:
        pairs = zip(self.left.schema, self.right.schema, strict=True)
        return tuple(Field(a.name, widest(a.type, b.type) if a.type == b.type else UNKNOWN) for a, b in pairs)


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

    @property
    def direction(self) -> str:
        """The method of PySpark's Column that gives a key its direction: `desc_nulls_first`."""
        nulls = "" if self.nulls_first != self.descending else f"_nulls_{'first' if self.nulls_first else 'last'}"
        return ("desc" if self.descending else "asc") + nulls

    def __str__(self) -> str:
        nulls = "" if self.nulls_first != self.descending else f" NULLS {'FIRST' if self.nulls_first else 'LAST'}"
        return f"{self.scalar} {'DESC' if self.descending else 'ASC'}{nulls}"


def directions(keys: Iterable[Order]) -> dict[str, str]:
    """Keys that are columns, each with its direction; the first one, if a column occurs twice."""
    made: dict[str, str] = {}
    for key in keys:
        assert key.scalar.column is not None, key
        made.setdefault(key.scalar.column, key.direction)
    return made


@dataclass(frozen=True)
class Sort(Node):
    input: Node
    order: tuple[Order, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class TemporalSort(Sort):
    """Sort of a stream by its event time, the first column of `order`, which are all columns: a row leaves when the
    watermark has passed it.
    """

    @property
    def time(self) -> str:
        name = self.order[0].scalar.column
        assert name is not None, self.order
        return name

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        return frozenset[str]().union(*(key.scalar.columns for key in self.order))


@dataclass(frozen=True)
class Limit(Node):
    """At most `count` rows (None: no limit) after skipping the first `offset`."""

    input: Node
    count: int | None
    offset: int = 0

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class SparkSql(Node):
    """A query that Spark plans by itself. `names` are the names of its inputs in `sql`. `reason` says why Spark plans
    it. `row_by_row`: it has one input, and makes its rows from each row of that alone.
    """

    inputs: tuple[Node, ...]
    names: tuple[str, ...]
    sql: str
    fields: tuple[Field, ...]
    reason: str
    functions: tuple[UserFunction, ...] = ()
    row_by_row: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    def details(self) -> Iterator[tuple[str, str]]:
        yield "query", self.sql
        yield "because", self.reason


@dataclass(frozen=True)
class Unnest(Node):
    """One row per element of the array or map in the column `rows`, with `fields` in place of that column: the fields
    of a struct, the key and the value, or the element. `outer`: a row without elements stays, with NULLs.
    """

    input: Node
    rows: str
    fields: tuple[Field, ...]
    outer: bool = True

    @cached_property
    def schema(self) -> Schema:
        return (*(field for field in self.input.schema if field.name != self.rows), *self.fields)

    @cached_property
    def structs(self) -> bool:
        """Whether the elements are structs; an array of unknown type has them."""
        kind = self.input.type_of(self.rows)
        return kind == UNKNOWN or (isinstance(kind, Array) and isinstance(kind.element, Row))

    @property
    def renames(self) -> bool:
        """Whether the fields have other names than those in the elements."""
        kind = self.input.type_of(self.rows)
        names = tuple(field.name for field in self.fields)
        return kind != UNKNOWN and tuple(fields(element_type(kind))) != names

    @property
    def has_rows(self) -> Scalar:
        """The condition that a row has elements."""
        return template("SIZE({a}) > 0", {"a": column(self.rows)}, BOOLEAN, atomic=False)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "rows", self.rows
        if not self.outer:
            yield "join", "inner"
        yield "select", ", ".join(shown(self.columns))


@dataclass(frozen=True)
class Sink(Node):
    """Rows that are written into a table of the catalog. Their columns are the stored columns of the table. `conflict`
    says what happens to rows with one primary key (`conflicts`); "": such rows do not occur, or the table decides.
    `changes`: the table can store changes of rows. `upserts`: the columns by which a new row replaces an earlier one
    there; (): the table keeps no row; None: neither.
    """

    input: Node
    table: str
    overwrite: bool = False
    conflict: str = ""
    changes: bool = field(default=False, repr=False)
    upserts: tuple[str, ...] | None = field(default=None, repr=False)

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


def _known(node: Node, scalar: Scalar) -> SqlType:
    return node.type_of(scalar.column) if scalar.column in node.columns and scalar.column else UNKNOWN
