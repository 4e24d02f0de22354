"""Lookup joins: JOIN t FOR SYSTEM_TIME AS OF a processing time. The table is read when a row is processed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, resolve
from tvfsql.catalog import Catalog, Table
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.scalar import PROCTIME
from tvfsql.plan.types import is_time
from tvfsql.syntax import ast

KINDS = ("inner", "left")
ENDLESS = ("kafka", "upsert-kafka", "datagen", "faker", "nexmark")  # besides those that Spark calls unbounded
PROC = "proc AS PROCTIME() in CREATE TABLE, then FOR SYSTEM_TIME AS OF o.proc"


def looked_up(join: ast.JoinTable, time: ast.Expr, left: Relation, right: Relation, catalog: Catalog) -> Relation:
    """The right side as a table that is read when rows are processed. Raises UnsupportedError for another kind of
    join, another time, or a side that is not such a table.
    """
    if join.kind not in KINDS:
        raise UnsupportedError(
            f"FOR SYSTEM_TIME AS OF does not work in a {join.kind.upper()} JOIN",
            span=join.span,
            hint="JOIN t FOR SYSTEM_TIME AS OF o.proc AS t ON o.k = t.k, or LEFT JOIN",
        )
    _refuse_other_time(time, left)
    scan = _table_of(right.node)
    table = catalog.get(scan.table) if scan else None
    if not isinstance(table, Table):
        raise UnsupportedError(
            "FOR SYSTEM_TIME AS OF needs a table, or a view that only filters and projects one",
            span=join.right.span if isinstance(join.right, ast.TableName) else join.span,
        )
    if table.connector is not None and (table.connector.endless or table.connector.name in ENDLESS):
        raise UnsupportedError(
            f"{table.name} cannot be looked up: its connector {table.connector.name} is a stream",
            span=join.right.span if isinstance(join.right, ast.TableName) else join.span,
            hint="a table of jdbc, filesystem or a catalog; or a join that bounds the times of both streams",
        )
    return right.on(right.node.transform(_read_anew))


def refuse_scans(conditions: Sequence[Resolved], table: Node, span: Span) -> None:
    """Raise UnsupportedError if no condition is an equality with a column of the table."""
    known = {*table.columns}
    if not any(isinstance(one.tree, exp.EQ) and one.scalar().columns & known for one in conditions):
        raise UnsupportedError(
            "FOR SYSTEM_TIME AS OF needs a condition that equates a column of the table", span=span, hint="ON o.k = t.k"
        )


def _refuse_other_time(time: ast.Expr, left: Relation) -> None:
    scalar = resolve(time, left).scalar()
    if scalar == PROCTIME or (scalar.column is not None and is_proctime(left.node, scalar.column)):
        return
    if is_time(scalar.type) and scalar.column is not None:
        raise UnsupportedError(
            "a join with the version of a table at an event time is not supported, only at processing time",
            span=time.span,
            hint=PROC,
        )
    raise BindError("FOR SYSTEM_TIME AS OF needs a processing time of the left side", span=time.span, hint=PROC)


def _table_of(node: Node) -> nodes.Scan | None:
    """The only table below projections and filters; None if there is another operator."""
    while isinstance(node, nodes.Project | nodes.Filter):
        node = node.input
    return node if isinstance(node, nodes.Scan) else None


def _read_anew(node: Node) -> Node:
    return replace(node, looked_up=True) if isinstance(node, nodes.Scan) else node
