"""Statements as frozen nodes with their spans, before names are resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tvfsql.errors import Span
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax import ast
from tvfsql.syntax.databases import Databases


@dataclass(frozen=True)
class Column:
    """A column. `metadata` is the key of METADATA FROM; `virtual`: it is only read, never written.
    `written` is the text of its type; "" if it is that of a query.
    """

    name: ast.Name
    type: SqlType
    comment: str | None = None
    metadata: str | None = None
    virtual: bool = False
    written: str = ""


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
    """`folder` is where a relative path in `value` starts; None: the folder of the script that is executed."""

    key: str
    value: str
    span: Span = ast.place()
    folder: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Parts:
    """The parts between the parentheses of CREATE TABLE and ALTER TABLE. `names` are columns without a type, as in
    CREATE TABLE ... AS, where they give the query's columns an order. `places` has the columns with FIRST or AFTER.
    """

    columns: tuple[Column | ComputedColumn, ...] = ()
    watermark: Watermark | None = None
    primary_key: tuple[ast.Name, ...] = ()
    names: tuple[ast.Name, ...] = ()
    places: tuple[Position, ...] = ()


@dataclass(frozen=True)
class Position:
    """Where ALTER TABLE puts a column: after another one; None: first."""

    column: ast.Name
    after: ast.Name | None = None


@dataclass(frozen=True)
class Like:
    """LIKE table (...): `rules` are pairs such as (including, all), in lower case."""

    table: ast.Name
    rules: tuple[tuple[str, str], ...] = ()
    span: Span = ast.place()


@dataclass(frozen=True)
class CreateTable:
    """CREATE TABLE. `names` are columns without a type; `query` is the query after AS. `distributed` is the text of the
    clause DISTRIBUTED, "" without it.
    """

    name: ast.Name
    columns: tuple[Column | ComputedColumn, ...]
    watermark: Watermark | None
    options: tuple[Option, ...]
    partitioned_by: tuple[ast.Name, ...] = ()
    if_not_exists: bool = False
    span: Span = ast.place()
    primary_key: tuple[ast.Name, ...] = ()
    distributed_by: tuple[ast.Name, ...] = ()
    distributed: str = ""
    or_replace: bool = False
    like: Like | None = None
    names: tuple[ast.Name, ...] = ()
    query: ast.Query | None = None
    comment: str | None = None
    temporary: bool = False


@dataclass(frozen=True)
class SetOptions:
    options: tuple[Option, ...]


@dataclass(frozen=True)
class ResetOptions:
    keys: tuple[str, ...]


@dataclass(frozen=True)
class RenameTable:
    name: ast.Name


@dataclass(frozen=True)
class RenameColumn:
    old: ast.Name
    new: ast.Name


@dataclass(frozen=True)
class Add:
    parts: Parts


@dataclass(frozen=True)
class Modify:
    parts: Parts


@dataclass(frozen=True)
class DropParts:
    """The columns, watermark or primary key to drop."""

    columns: tuple[ast.Name, ...] = ()
    watermark: bool = False


Change = SetOptions | ResetOptions | RenameTable | RenameColumn | Add | Modify | DropParts


@dataclass(frozen=True)
class AlterTable:
    table: ast.Name
    change: Change
    if_exists: bool = False
    span: Span = ast.place()


@dataclass(frozen=True)
class CreateView:
    name: ast.Name
    columns: tuple[ast.Name, ...]
    query: ast.Query
    or_replace: bool = False
    if_not_exists: bool = False
    span: Span = ast.place()
    temporary: bool = False


@dataclass(frozen=True)
class AlterView:
    """ALTER VIEW: a new name, or a new query."""

    view: ast.Name
    change: ast.Name | ast.Query
    span: Span = ast.place()


@dataclass(frozen=True)
class CreateFunction:
    """`path` is the text after AS; `language` is in upper case, "" if absent."""

    name: ast.Name
    path: str
    language: str
    if_not_exists: bool = False
    path_span: Span = ast.place()
    span: Span = ast.place()


@dataclass(frozen=True)
class Insert:
    """`conflict` is the clause ON CONFLICT; its text is its last word, in upper case. `partition` are the columns that
    PARTITION gives a value.
    """

    table: ast.Name
    columns: tuple[ast.Name, ...]
    query: ast.Query
    overwrite: bool = False
    span: Span = ast.place()
    conflict: ast.Name | None = None
    partition: tuple[tuple[ast.Name, ast.Expr], ...] = ()


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
    """A string, or a string after a type name: TIMESTAMP '...'. `type` is in upper case, "" if absent."""

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
    """SET 'key' = 'value'; a bare SET (without a key) lists the options."""

    key: str | None
    value: str | None
    span: Span = ast.place()


@dataclass(frozen=True)
class Reset:
    key: str | None
    span: Span = ast.place()


@dataclass(frozen=True)
class Pattern:
    """A pattern of SHOW: `%` and `_` stand for any text and any character."""

    pattern: str
    negated: bool = False
    any_case: bool = False

    def takes(self, name: str) -> bool:
        parts = {"%": ".*", "_": "."}
        pattern = "".join(parts.get(char) or re.escape(char) for char in self.pattern)
        flags = re.DOTALL | (re.IGNORECASE if self.any_case else re.NOFLAG)
        return (re.fullmatch(pattern, name, flags) is not None) is not self.negated


@dataclass(frozen=True)
class Show:
    """SHOW TABLES, VIEWS, FUNCTIONS, USER FUNCTIONS, COLUMNS; `what` is in lower case. `place` is the prefix of names
    in the database that it asks about. `rows` are the catalogs or databases if it asks for those. `of` is the
    database, catalog or table after FROM; `exists`: whether the session has that database or catalog.
    """

    what: str
    span: Span = ast.place()
    place: str = ""
    rows: tuple[str, ...] | None = None
    of: ast.Name | None = None
    exists: bool = True
    like: Pattern | None = None


@dataclass(frozen=True)
class InDatabases:
    """CREATE CATALOG, CREATE DATABASE, USE. `after` are the databases as it leaves them, on which the names in later
    statements depend. `done` says what it does; `outside` is the database then in use if it must be Spark's.
    """

    done: str
    after: Databases
    span: Span = ast.place()
    outside: ast.Name | None = None


@dataclass(frozen=True)
class ShowCreate:
    name: ast.Name
    span: Span = ast.place()


@dataclass(frozen=True)
class Describe:
    """DESCRIBE of a table or view, or of a query."""

    what: ast.Name | ast.Query
    span: Span = ast.place()


@dataclass(frozen=True)
class Summarize:
    """SUMMARIZE of the query after the keyword, or of the table or file that is named there."""

    keyword: Span
    is_query: bool
    span: Span = ast.place()


@dataclass(frozen=True)
class Drop:
    """`kind` is table, view or function."""

    kind: str
    name: ast.Name
    if_exists: bool = False
    span: Span = ast.place()
    temporary: bool = False


@dataclass(frozen=True)
class Declare:
    """DECLARE of a parameter, which `syntax.parameters` has carried out."""

    name: ast.Name
    span: Span = ast.place()


@dataclass(frozen=True)
class UseModules:
    """USE MODULES: where Flink finds functions, in this order."""

    names: tuple[ast.Name, ...]
    span: Span = ast.place()


@dataclass(frozen=True)
class TableHint:
    """Options that a table has in one statement."""

    table: ast.Name
    options: tuple[Option, ...]
    span: Span = ast.place()


@dataclass(frozen=True)
class Hinted:
    """A statement with hints. `idle` are the names of hints that have no effect here."""

    statement: Statement
    tables: tuple[TableHint, ...]
    idle: tuple[str, ...] = ()
    span: Span = ast.place()


Statement = (
    ast.Query
    | Hinted
    | CreateTable
    | AlterTable
    | CreateView
    | AlterView
    | CreateFunction
    | Insert
    | StatementSet
    | Explain
    | Declare
    | Call
    | SetOption
    | Reset
    | Show
    | InDatabases
    | ShowCreate
    | Describe
    | Summarize
    | Drop
    | UseModules
)
