"""Scopes: the columns that a name can refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from tvfsql.bind import scalar
from tvfsql.bind.scalar import Resolved
from tvfsql.errors import BindError, Span, did_you_mean, nearest
from tvfsql.plan.node import Node
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax import ast
from tvfsql.syntax.queries.group_windows import QUALIFIER

CURRENT_WATERMARK = "CURRENT_WATERMARK"  # a function, and the qualifier of the column with its result


@dataclass(frozen=True)
class Visible:
    """A column as the query sees it: `qualifier.name`; its name in the plan is `plan`. A hidden column is only found
    with its qualifier. The columns of USING are hidden on both sides, and come first without one, as in Flink and
    Spark.
    """

    qualifier: str
    name: str
    plan: str
    type: SqlType
    hidden: bool = False


@dataclass(frozen=True)
class Relation:
    """An operator with the names that its columns have in the query. `time` is the event time's name in the plan."""

    node: Node
    visible: tuple[Visible, ...]
    time: str | None = None

    @classmethod
    def of(cls, node: Node, qualifier: str, names: tuple[str, ...] | None = None, time: str | None = None) -> Relation:
        """A relation with all columns of a node under one qualifier, named `names` (by default the node's names)."""
        pairs = zip(names or node.columns, node.schema, strict=True)
        return cls(node, tuple(Visible(qualifier, name, field.name, field.type) for name, field in pairs), time)

    def lookup(self, table: str | None, name: str, span: Span | None) -> Visible:
        """Return the column that a name refers to. Raises BindError if there is none, or if there are several."""
        found = self.matches(table, name) or (self.matches(QUALIFIER, name) if table is None else [])
        if not found:
            raise self._missing(table, name, span)
        if len({column.plan for column in found}) > 1:
            alike = (part for part in self.visible if part.qualifier and part.name in {each.name for each in found})
            where = " or ".join(sorted(f"{part.qualifier}.{part.name}" for part in alike))
            several = len({column.qualifier for column in found}) > 1
            hint = where if several else f"rename one of them in its query: {name} AS ..."
            raise BindError(f"column {name} is ambiguous", span=span, hint=hint)
        return found[0]

    def matches(self, table: str | None, name: str) -> list[Visible]:
        """The columns with this name: in the same case, else in any case."""
        as_written = [
            column
            for column in self.visible
            if column.name == name and (not column.hidden if table is None else column.qualifier == table)
        ]
        return as_written or [
            column
            for column in self.visible
            if column.name.lower() == name.lower()
            and (not column.hidden if table is None else column.qualifier.lower() == table.lower())
        ]

    def _missing(self, table: str | None, name: str, span: Span | None) -> BindError:
        qualifiers = {column.qualifier for column in self.visible if column.qualifier and column.qualifier != QUALIFIER}
        if table is not None and table.lower() not in {known.lower() for known in qualifiers}:
            hint = did_you_mean(table, qualifiers)
            return BindError(f"there is no table {table} in this FROM", span=span, hint=hint)
        names = [column.name for column in self.visible if table is None or column.qualifier == table]
        if name.lower() == WINDOW_NAME:
            hint = "FROM TABLE(WINDOWS(TABLE t, DESCRIPTOR(ts), TUMBLE(INTERVAL '1' MINUTE) AS minute))"
            return BindError(f"{name} needs WINDOWS in FROM", span=span, hint=hint)
        if name.lower() in WINDOW_COLUMNS:
            return BindError(
                f"{name} needs a window function in FROM",
                span=span,
                hint="FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE))",
            )
        if not names:
            return BindError(f"column {name} needs a FROM clause", span=span, hint="SELECT ... FROM t")
        if table is None and len(qualifiers) == 1 and all(column.qualifier for column in self.visible):
            (table,) = qualifiers
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else did_you_mean(name, names, otherwise="columns: ")
        message = f"table {table} has no column {name}" if table else f"there is no column {name}"
        return BindError(message, span=span, hint=hint)

    def on(self, node: Node) -> Relation:
        """The same names over another operator with the same columns."""
        return replace(self, node=node)


@dataclass(frozen=True)
class Bound:
    """The plan of a query. `names` are the names of its columns outside, in order; they may repeat."""

    node: Node
    names: tuple[str, ...]
    time: str | None = None


def resolve(expr: ast.Expr, relation: Relation) -> Resolved:
    """Resolve every name in an expression over the relation."""

    def lookup(table: str | None, name: str, span: Span | None) -> tuple[str, SqlType]:
        found = relation.lookup(table, name, span)
        return found.plan, found.type

    added = next((part for part in relation.visible if part.qualifier == CURRENT_WATERMARK), None)
    if added and any(calls_of(expr.tree)):
        of = exp.column(added.name, CURRENT_WATERMARK)
        expr = replace(expr, tree=expr.tree.transform(lambda node: of.copy() if _is_call(node) else node))
    return scalar.resolve(expr, lookup)


def calls_of(tree: exp.Expr) -> Iterator[exp.Anonymous]:
    """The calls of CURRENT_WATERMARK in an expression."""
    return (node for node in tree.find_all(exp.Anonymous) if _is_call(node))


def _is_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == CURRENT_WATERMARK
