"""Lookup joins: JOIN t FOR SYSTEM_TIME AS OF a processing time, and Flink 2.4's JOIN LATERAL SNAPSHOT(TABLE t). The
table is read when a row is processed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation, resolve
from tvfsql.catalog import Catalog, Table
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.options.known import DUPLICATES
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import PROCTIME
from tvfsql.syntax import ast

KINDS = ("inner", "left")
AS_OF, SNAPSHOT = "FOR SYSTEM_TIME AS OF", "SNAPSHOT"
SNAPSHOT_JOIN = "JOIN LATERAL SNAPSHOT(input => TABLE t) AS t ON o.k = t.k"
ENDLESS = ("kafka", "upsert-kafka", "datagen", "faker", "nexmark")  # besides those that Spark calls unbounded
TIMES = (
    "the column of its WATERMARK, for the version at that time; "
    "or proc AS PROCTIME() in CREATE TABLE, then FOR SYSTEM_TIME AS OF o.proc"
)


def snapshot_of(join: ast.JoinTable) -> ast.Input | None:
    """The table that LATERAL SNAPSHOT reads on the right side; None for other joins. Raises UnsupportedError for other
    parameters and kinds of join, BindError for what is no table.
    """
    if not isinstance(join.right, ast.WindowTable) or join.right.call.function != SNAPSHOT:
        return None
    call = join.right.call
    _refuse_kind(join, f"LATERAL {SNAPSHOT}", SNAPSHOT_JOIN)
    for at, argument in enumerate(call.arguments):
        name = argument.name.text if argument.name else "a second parameter" if at else "input"
        if name.upper() != "INPUT":
            raise UnsupportedError(
                f"{SNAPSHOT} takes a table only, not {name}: each micro-batch reads all of it",
                span=argument.span,
                hint=SNAPSHOT_JOIN,
            )
    table = call.arguments[0].value if call.arguments else None
    if not isinstance(table, ast.Input) or table.partition_by or table.order_by:
        raise BindError(f"{SNAPSHOT} needs a table", span=call.span, hint=SNAPSHOT_JOIN)
    return table


def _refuse_kind(join: ast.JoinTable, what: str, hint: str) -> None:
    if join.kind not in KINDS:
        raise UnsupportedError(
            f"{what} does not work in a {join.kind.upper()} JOIN", span=join.span, hint=f"{hint}, or LEFT JOIN"
        )


def event_time(join: ast.JoinTable, time: ast.Expr, left: Relation) -> str | None:
    """The event time of the left side that FOR SYSTEM_TIME AS OF names; None for a processing time. Raises
    UnsupportedError for another kind of join, and BindError for a time that is not a time attribute of the left side.
    """
    _refuse_kind(join, AS_OF, "JOIN t FOR SYSTEM_TIME AS OF o.proc AS t ON o.k = t.k")
    scalar = resolve(time, left).scalar()
    if scalar == PROCTIME or (scalar.column is not None and is_proctime(left.node, scalar.column)):
        return None
    window = window_of(left.node)
    if scalar.column is not None and scalar.column in ((left.time,) if window is None else (left.time, *window.times)):
        return scalar.column
    raise BindError("FOR SYSTEM_TIME AS OF needs a time attribute of the left side", span=time.span, hint=TIMES)


def looked_up(join: ast.JoinTable, right: Relation, catalog: Catalog) -> Relation:
    """The right side as a table that is read when rows are processed. Raises UnsupportedError if it is not such a
    table.
    """
    scan = _table_of(right.node)
    table = catalog.get(scan.table) if scan else None
    span = spanned(join.right, join.span)
    if not isinstance(table, Table):
        raise UnsupportedError(f"{_asked(join)} needs a table, or a view that only filters and projects one", span=span)
    if table.connector is not None and (table.connector.endless or table.connector.name in ENDLESS):
        raise UnsupportedError(
            f"{table.name} cannot be looked up: its connector {table.connector.name} is a stream",
            span=span,
            hint="a table of jdbc, filesystem or a catalog; or the version at an event time, "
            "FOR SYSTEM_TIME AS OF o.ts; or a join that bounds the times of both streams",
        )
    if any(isinstance(node, changelogs.ChangelogNormalize) for node in right.node.walk()):
        hint = f"SET '{DUPLICATES.key}' = 'false'"
        raise UnsupportedError(f"{table.name} cannot be looked up where changes come twice", span=span, hint=hint)
    return right.on(right.node.transform(_read_anew))


def _asked(join: ast.JoinTable) -> str:
    return AS_OF if join.as_of is not None else f"LATERAL {SNAPSHOT}"


def spanned(relation: ast.Relation, otherwise: Span) -> Span:
    """The place of a table's name; of anything else, the other place."""
    return relation.span if isinstance(relation, ast.TableName) else otherwise


def refuse_scans(join: ast.JoinTable, conditions: Sequence[Resolved], table: Node, span: Span) -> None:
    """Raise UnsupportedError if no condition is an equality with a column of the table."""
    known = {*table.columns}
    if not any(isinstance(one.tree, exp.EQ) and one.scalar().columns & known for one in conditions):
        raise UnsupportedError(
            f"{_asked(join)} needs a condition that equates a column of the table", span=span, hint="ON o.k = t.k"
        )


def _table_of(node: Node) -> nodes.Scan | None:
    """The only table below projections and filters; None if there is another operator."""
    while isinstance(node, nodes.Project | nodes.Filter | changelogs.ChangelogNormalize):
        node = node.input
    return node if isinstance(node, nodes.Scan) else None


def _read_anew(node: Node) -> Node:
    return replace(node, looked_up=True) if isinstance(node, nodes.Scan) else node
