"""The syntax tree: frozen nodes with their spans, before names are resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tvfsql.errors import Span, UnsupportedError

if TYPE_CHECKING:
    from sqlglot import exp


def place() -> Span:
    """A field for a span; comparisons ignore it."""
    return field(default=Span(0, 0), compare=False, repr=False)


@dataclass(frozen=True)
class Name:
    """An identifier without its quotes."""

    text: str
    span: Span = place()


@dataclass(frozen=True)
class Expr:
    """A scalar expression as parsed by sqlglot. It is never changed in place; a caller that edits it must copy it.
    `text` is how a column or a watermark writes it.
    """

    tree: exp.Expr
    span: Span = place()
    text: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return self.tree.sql(dialect="spark")


# ---- window calls ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """An interval literal: `ms` milliseconds, or `months` if its unit is MONTH or YEAR."""

    ms: int
    months: int = 0
    span: Span = place()


@dataclass(frozen=True)
class Descriptor:
    """The time columns of a window. In a group window, `table` is the qualifier of the only one, if it has one."""

    columns: tuple[Name, ...]
    span: Span = place()
    table: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Flag:
    value: bool
    span: Span = place()


@dataclass(frozen=True)
class Input:
    """The table argument of a window call. Only rows that satisfy `where` are read. `descending` are the columns of
    `order_by` with DESC.
    """

    relation: Relation
    partition_by: tuple[Name, ...] = ()
    order_by: tuple[Name, ...] = ()
    descending: tuple[Name, ...] = ()
    where: Expr | None = None
    span: Span = place()


@dataclass(frozen=True)
class Other:
    """An argument of any other form, kept as text for the error message. `columns` are the names in a call with names
    only, such as LOCF(x, y)."""

    text: str
    span: Span = place()
    function: str = ""
    columns: tuple[Name, ...] = ()


@dataclass(frozen=True)
class NamedWindow:
    """A window in WINDOWS(...): `HOP(INTERVAL '1' MINUTE, INTERVAL '1' HOUR) AS hour`. `call` lacks the table and the
    time column."""

    call: WindowCall
    name: Name
    span: Span = place()


@dataclass(frozen=True)
class TextMap:
    """MAP['key', 'value', ...], all strings."""

    pairs: tuple[tuple[str, str], ...]
    span: Span = place()


@dataclass(frozen=True)
class Argument:
    name: Name | None
    value: Input | Descriptor | Interval | Flag | NamedWindow | TextMap | Other
    span: Span = place()


@dataclass(frozen=True)
class WindowCall:
    """TUMBLE(...), HOP(...), CUMULATE(...), SESSION(...), WINDOWS(...) or GAP_FILL(...) in place of a table. For a
    group window `times` are the calls that ask for its time: TUMBLE_ROWTIME, TUMBLE_PROCTIME. `qualifier`: its columns
    can only be used with this qualifier.
    """

    function: str
    arguments: tuple[Argument, ...]
    span: Span = place()
    times: tuple[Name, ...] = ()
    qualifier: str | None = None


@dataclass(frozen=True)
class GroupWindow:
    """GROUP BY TUMBLE(ts, ...) of a SELECT, which is read like a window function. `call` lacks its table. `columns` are
    the spans of calls and the window columns that replace them. `one_table`: FROM is a single table, not a join.

    For a SESSION the other keys are its `partition_by`, and WHERE chooses the rows that make sessions (`takes_where`).
    """

    call: WindowCall
    columns: tuple[tuple[Span, str], ...]
    one_table: bool
    partition_by: tuple[Name, ...] = ()
    takes_where: bool = False


# ---- relations -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alias:
    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableName:
    """A table or view. `short` is its name without the database; `qualified` says whether the database was written."""

    name: str
    alias: Alias | None = None
    span: Span = place()
    short: str = field(default="", compare=False)
    qualified: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Derived:
    """A query in parentheses in place of a table."""

    query: Query
    alias: Alias | None = None
    span: Span = place()


@dataclass(frozen=True)
class WindowTable:
    call: WindowCall
    alias: Alias | None = None
    span: Span = place()


@dataclass(frozen=True)
class JoinTable:
    """`kind` is inner, left, right, full, cross, semi or anti. `as_of` is the time in FOR SYSTEM_TIME AS OF. `natural`:
    with USING of all columns that both sides have. `retention`: for how many ms a stream keeps the rows of each side,
    by the hint STATE_TTL; None: it does not say so.
    """

    left: Relation
    right: Relation
    kind: str
    condition: Expr | None = None
    using: tuple[Name, ...] = ()
    span: Span = place()
    as_of: Expr | None = None
    natural: bool = False
    retention: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True)
class Unnested:
    """UNNEST of an array, a map or a multiset on the right side of a join. `numbered`: WITH ORDINALITY, whose column is
    the last of the alias.
    """

    array: Expr
    alias: Alias | None = None
    numbered: bool = False
    span: Span = place()


@dataclass(frozen=True)
class PatternVariable:
    """A variable of a pattern with its quantifier. `most` is None without a limit."""

    name: Name
    least: int
    most: int | None
    greedy: bool
    span: Span = place()


@dataclass(frozen=True)
class MatchRecognize:
    """MATCH_RECOGNIZE (...). `skip` is `past last row`, `to next row`, `to first` or `to last`, with the variable
    `skip_to`.
    """

    partition_by: tuple[Expr, ...]
    order_by: tuple[OrderItem, ...]
    measures: tuple[SelectItem, ...]
    pattern: tuple[PatternVariable, ...]
    define: tuple[tuple[Name, Expr], ...]
    within: Interval | None
    skip: str
    skip_to: Name | None
    span: Span = place()


@dataclass(frozen=True)
class MatchTable:
    """A relation with MATCH_RECOGNIZE behind it."""

    relation: Relation
    clause: MatchRecognize
    alias: Alias | None = None
    span: Span = place()


Relation = TableName | Derived | WindowTable | JoinTable | Unnested | MatchTable


# ---- queries ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SelectItem:
    """One item of a SELECT list: an expression, or `*` (of `table`, if given)."""

    expr: Expr | None
    alias: Name | None = None
    table: str | None = None
    span: Span = place()


@dataclass(frozen=True)
class OrderItem:
    expr: Expr
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class Cte:
    name: str
    query: Query
    columns: tuple[str, ...] = ()
    span: Span = place()


@dataclass(frozen=True)
class KeySet:
    """One of the sets of GROUPING SETS, CUBE or ROLLUP."""

    keys: tuple[Expr, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.keys))})"


@dataclass(frozen=True)
class Over:
    """ROW_NUMBER, RANK or DENSE_RANK over the rows of a partition; `call` is the whole expression."""

    function: str
    partition_by: tuple[Expr, ...]
    order_by: tuple[OrderItem, ...]
    call: Expr


@dataclass(frozen=True)
class Match:
    """EXISTS, or IN with its `operands`, as a condition of WHERE; `negated`: with NOT."""

    query: Query
    operands: tuple[Expr, ...] = ()
    negated: bool = False
    span: Span = place()


@dataclass(frozen=True)
class Select:
    """A SELECT of the forms that the planner plans itself.

    `grouping_sets` extend the keys of `group_by`. `over` occurs in its items, in QUALIFY or in ORDER BY. `matches` are
    conditions in addition to `where`. `frames` are the functions with OVER in its items, if `over` is not the only one.
    """

    items: tuple[SelectItem, ...]
    relation: Relation | None
    where: Expr | None
    group_by: tuple[Expr, ...]
    having: Expr | None
    distinct: bool
    grouping_sets: tuple[KeySet, ...] = ()
    span: Span = place()
    over: Over | None = None
    qualify: Expr | None = None
    matches: tuple[Match, ...] = ()
    frames: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class SetOperation:
    """UNION, INTERSECT or EXCEPT; its span is that of this keyword. `all` keeps duplicates."""

    kind: str
    all: bool
    left: Query
    right: Query
    span: Span = place()


# reasons for the next
OVER = "an OVER window"
SUBQUERY = "a subquery in an expression"


@dataclass(frozen=True)
class Ordinary:
    """A query that Spark plans itself (OVER, EXISTS, ...). Its tables are separated from it: `tree` refers to `sources`
    by the names given here. `because` is the place of the construct that `reason` names.
    """

    tree: exp.Expr
    sources: tuple[tuple[str, Relation], ...]
    reason: str
    span: Span = place()
    because: Span = place()


@dataclass(frozen=True)
class MaybeOrdinary:
    """A SELECT with functions with OVER, with matches or with UNNEST. If these do not rank or match rows of windows, or
    if the type of an array is not known, the whole query, including its ORDER BY and LIMIT, is `ordinary`,
    or refused where Spark has no such query.
    """

    select: Select
    ordinary: Ordinary | UnsupportedError


ON_CLOSE, ON_UPDATE, EVERY = "ON WINDOW CLOSE", "ON UPDATE", "EVERY"  # of EMIT


@dataclass(frozen=True)
class Emit:
    """EMIT at the end of a query. `when`: ON WINDOW CLOSE, ON UPDATE, EVERY, or "" if only LATENESS is said. In ms:
    `every`, and `lateness` (None: the options say it). `before_close`: late rows do not wait for EVERY."""

    when: str
    every: int = 0
    before_close: bool = False
    lateness: int | None = None
    purge: bool = False
    span: Span = place()


@dataclass(frozen=True)
class Query:
    """A body with the clauses around it: WITH before it; ORDER BY, LIMIT and OFFSET after it.

    `group_window` is the group window that it was written with. `limited` is the place of LIMIT. Only the query of a
    whole statement has `emit`.
    """

    body: Select | SetOperation | MaybeOrdinary | Ordinary | Query
    ctes: tuple[Cte, ...] = ()
    order_by: tuple[OrderItem, ...] = ()
    limit: int | None = None
    offset: int = 0
    span: Span = place()
    limited: Span = place()
    group_window: GroupWindow | None = field(default=None, compare=False, repr=False)
    emit: Emit | None = None


def parts_of(node: Any) -> Iterator[Any]:
    """The values of a node's fields, or the elements of a tuple: what a walk through a tree, or a statement, goes on
    with."""
    if isinstance(node, tuple):
        yield from node
    elif is_dataclass(node):
        yield from (getattr(node, part.name) for part in fields(node))
