"""What a statement says, before anything is looked up: frozen nodes with their place in the text."""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.errors import Span
from tvfsql.syntax import ast


@dataclass(frozen=True)
class Column:
    """A column with a Spark type. `metadata` is the key of METADATA FROM; `virtual`: only read, never written."""

    name: ast.Name
    type: str
    comment: str | None = None
    metadata: str | None = None
    virtual: bool = False


@dataclass(frozen=True)
class ComputedColumn:
    name: ast.Name
    expr: ast.Expr
    comment: str | None = None


@dataclass(frozen=True)
class Watermark:
    column: ast.Name
    expr: ast.Expr


@dataclass(frozen=True)
class Option:
    key: str
    value: str
    span: Span = ast.place()


@dataclass(frozen=True)
class CreateTable:
    name: ast.Name
    columns: tuple[Column | ComputedColumn, ...]
    watermark: Watermark | None
    options: tuple[Option, ...]
    partitioned_by: tuple[ast.Name, ...] = ()
    if_not_exists: bool = False
    span: Span = ast.place()


@dataclass(frozen=True)
class CreateView:
    name: ast.Name
    columns: tuple[ast.Name, ...]
    query: ast.Query
    or_replace: bool = False
    if_not_exists: bool = False
    span: Span = ast.place()


@dataclass(frozen=True)
class CreateFunction:
    """`path` is the text behind AS; `language` is in upper case, "" if none is named."""

    name: ast.Name
    path: str
    language: str
    if_not_exists: bool = False
    path_span: Span = ast.place()
    span: Span = ast.place()


@dataclass(frozen=True)
class Insert:
    table: ast.Name
    columns: tuple[ast.Name, ...]
    query: ast.Query
    overwrite: bool = False
    span: Span = ast.place()


@dataclass(frozen=True)
class StatementSet:
    inserts: tuple[Insert, ...]
    span: Span = ast.place()


@dataclass(frozen=True)
class Explain:
    """`stages` are the words between EXPLAIN and the statement, in lower case."""

    statement: ast.Query | Insert | StatementSet
    stages: tuple[str, ...] = ()
    span: Span = ast.place()


@dataclass(frozen=True)
class Constant:
    """A string, or a string behind the name of its type: TIMESTAMP '...'. `type` is in upper case, "" for none."""

    type: str
    text: str
    span: Span = ast.place()


@dataclass(frozen=True)
class Call:
    """CALL procedure(arguments)."""

    procedure: ast.Name
    arguments: tuple[Constant | ast.Other, ...]
    span: Span = ast.place()


@dataclass(frozen=True)
class SetOption:
    """SET 'key' = 'value'; a bare SET (no key) lists the options."""

    key: str | None
    value: str | None
    span: Span = ast.place()


@dataclass(frozen=True)
class Reset:
    key: str | None
    span: Span = ast.place()


@dataclass(frozen=True)
class Show:
    """SHOW TABLES, VIEWS, FUNCTIONS, USER FUNCTIONS; `what` is in lower case."""

    what: str
    span: Span = ast.place()


@dataclass(frozen=True)
class ShowCreate:
    name: ast.Name
    span: Span = ast.place()


@dataclass(frozen=True)
class Describe:
    name: ast.Name
    span: Span = ast.place()


@dataclass(frozen=True)
class Drop:
    """`kind` is table, view or function."""

    kind: str
    name: ast.Name
    if_exists: bool = False
    span: Span = ast.place()


Statement = (
    ast.Query
    | CreateTable
    | CreateView
    | CreateFunction
    | Insert
    | StatementSet
    | Explain
    | Call
    | SetOption
    | Reset
    | Show
    | ShowCreate
    | Describe
    | Drop
)
