"""The parts of a syntax tree that rules look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from sqlglot import exp

from tvfsql.api.script import Script
from tvfsql.catalog import Table
from tvfsql.errors import Span
from tvfsql.syntax import ast, statements
from tvfsql.syntax.places import span_of

T = TypeVar("T")


@dataclass
class Seen:
    """What rules know of a script besides a statement: all statements, the catalog and options at its end, its text."""

    script: Script
    statements: tuple[statements.Statement, ...] = field(default=())
    sql: str = ""

    def table(self, name: str) -> Table | None:
        """A table that the script knows, which is not a view."""
        found = self.script.catalog.find(name)
        return found if isinstance(found, Table) else None


def nodes(node: Any) -> Iterator[Any]:
    """A node of the tree and all below it."""
    if isinstance(node, tuple):
        for each in node:
            yield from nodes(each)
    elif is_dataclass(node):
        yield node
        for part in fields(node):
            yield from nodes(getattr(node, part.name))


def of_kind(node: Any, kind: type[T]) -> Iterator[T]:
    """The nodes of a kind."""
    return (each for each in nodes(node) if isinstance(each, kind))


def expressions(node: Any) -> Iterator[tuple[exp.Expr, Span]]:
    """The nodes of the expressions in it, with their spans."""
    for each in nodes(node):
        if isinstance(each, (ast.Expr, ast.Ordinary)):
            for below in each.tree.walk():
                yield below, span_of(below, each.span)


def inner_queries(statement: statements.Statement) -> Iterator[ast.Query]:
    """The queries whose rows another query or a table takes: all but the one whose rows are shown."""
    shown = statement.statement if isinstance(statement, statements.Hinted | statements.Explain) else statement
    for query in of_kind(statement, ast.Query):
        if query is not shown and not (isinstance(shown, ast.Query) and shown.body is query):
            yield query


def tables_of(relation: ast.Relation | None) -> Iterator[ast.TableName]:
    """The tables that a FROM names itself, also as the inputs of window functions; not those of inner queries."""
    match relation:
        case ast.TableName():
            yield relation
        case ast.JoinTable(left, right):
            yield from tables_of(left)
            yield from tables_of(right)
        case ast.WindowTable(call):
            for argument in call.arguments:
                if isinstance(argument.value, ast.Input):
                    yield from tables_of(argument.value.relation)
