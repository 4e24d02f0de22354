"""A table with a history: rows of another table, followed by its own.

In batch it is a UNION ALL of both. On streams, window aggregates read the history once, in batch, before the stream
starts (`runtime/stream/backfill`); other operators refuse it. Source: docs/streams.md#history-then-live.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.table_options import HISTORY
from tvfsql.errors import BindError, OtherMode, UnsupportedError, did_you_mean
from tvfsql.physical.operators import (
    Calc,
    Exchange,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamUnion,
    TableSourceScan,
    WatermarkAssigner,
)
from tvfsql.physical.window_operators import StreamSlices, WindowExpand
from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import CHANNEL
from tvfsql.plan.values.scalar import Scalar, column, template
from tvfsql.plan.values.types import BOOLEAN, TIMESTAMP_LTZ


def history_of(table: Table, catalog: Catalog) -> Table | None:
    """Return the table that is the history of `table`; None if it has none. Raises BindError unless it has the same
    columns.
    """
    if table.history is None:
        return None
    name = table.history.name
    found = catalog.look_up(name)
    if not isinstance(found, Table) or found.connector is None:
        problem = "is not a table with a connector" if found else "does not exist"
        hint = did_you_mean(name, catalog.names(Table)) or f"CREATE TABLE {name} (...) WITH (...)"
        raise BindError(f"the history of {table.name}, {name}, {problem}", hint=hint)
    if found.is_changelog or found.history is not None:
        problem = "is a changelog" if found.is_changelog else "has a history itself"
        raise BindError(f"the history of {table.name}, {name}, {problem}", hint="name another table")
    stored = {part.name: part.type for part in found.physical}
    for part in table.physical:
        if stored.get(part.name) != part.type:
            kind = stored.get(part.name)
            problem = f"has no column {part.name}" if kind is None else f"has {part.name} as {kind.flink}"
            wanted = f"{part.name} {part.type.flink}"
            raise BindError(f"the history of {table.name}, {name}, {problem}", hint=f"{wanted} in CREATE TABLE {name}")
    found.connector.refuse_batch(found.name)
    return found


def with_history(scan: TableSourceScan, history: Table) -> Node:
    """The rows of a table in batch, after those of its history."""
    before, since = _cut(scan.source)
    missing = before.columns - {*scan.columns} if before else frozenset()
    fields = (*scan.fields, *(part for part in scan.source.physical if part.name in missing))
    kept = tuple(Item(part.name, column(part.name, part.type)) for part in scan.fields) if missing else ()

    def part(rows: TableSourceScan, condition: Scalar | None) -> Node:
        return Calc(rows, kept, (condition,)) if condition else rows

    live = replace(scan, fields=fields)
    past = replace(live, source=history, dead_letters=None)
    return nodes.SetOperation(part(past, before), part(live, since), "union", True)


def live_rows(scan: TableSourceScan) -> Node:
    """The rows of a stream that do not belong to its history."""
    _, since = _cut(scan.source)
    return Calc(scan, (), (since,)) if since else scan


def histories(slices: StreamSlices) -> Iterator[tuple[str, Node]]:
    """The rows of each history below a window aggregate, up to its input, as a batch plan. With each comes the name
    prefix of the channels of its stream.
    """
    yield from _histories(slices.input, "")


def refuse_history(plan: Node) -> None:
    """Raise UnsupportedError if an operator of a stream would leave out the history of a table."""
    read = []
    for node in plan.walk():
        if isinstance(node, StreamSlices):
            of_node = [_scan(rows) for _, rows in histories(node)]
            read += [scan.source for scan in of_node]
            if of_node and node.context.on_event:
                problem = f"{HISTORY} does not work with 'scan.watermark.emit.strategy' = 'on-event'"
                raise UnsupportedError(problem, span=of_node[0].span, hint=OtherMode("batch", "leave out that option"))
    wanted = [node for node in plan.walk() if isinstance(node, TableSourceScan) and node.history is not None]
    for scan in wanted:
        assert scan.history is not None
        if scan.history in read:
            read.remove(scan.history)
            continue
        proctime = any(isinstance(node, ProcessingTimeAssigner) and node.input == scan for node in plan.walk())
        problem = f"on streams only a window aggregate over {scan.source.name} can read its history"
        if proctime:
            problem = f"processing time has no history, but {scan.source.name} has one"
        raise UnsupportedError(problem, span=scan.span, hint=OtherMode("batch", after=f"a table without '{HISTORY}'"))


def _histories(node: Node, prefix: str) -> Iterator[tuple[str, Node]]:
    match node:
        case TableSourceScan(history=Table() as history):
            fields = tuple(part for part in node.fields if part.name != CHANNEL)
            before, _ = _cut(node.source)
            conditions = (*((before,) if before else ()), *node.history_where)
            own = replace(node, source=history, fields=fields, streaming=False, dead_letters=None, history=None)
            past = replace(own, history_where=()).below(conditions)
            yield prefix, Calc(past, (), conditions) if conditions else past
        case WatermarkAssigner(TableSourceScan() as scan) | WatermarkAssigner(Calc(TableSourceScan() as scan)):
            for name, rows in _histories(scan, prefix):
                yield name, replace(node, input=rows)
        case StreamUnion(sides):
            for i, side in enumerate(sides, 1):
                names = tuple(zip(node.schema, side.columns, strict=True))
                items = tuple(Item(own.name, column(name, own.type)) for own, name in names)
                moved = side.columns != node.columns
                for name, rows in _histories(side, f"{prefix}{i}/"):
                    yield name, Calc(rows, items) if moved else rows
        case nodes.LookupJoin(left):
            yield from ((name, replace(node, left=rows)) for name, rows in _histories(left, prefix))
        case Calc() | Exchange() | RowTimeCheck() | nodes.Expand() | WindowExpand():
            yield from ((name, replace(node, input=rows)) for name, rows in _histories(node.input, prefix))


def _scan(rows: Node) -> TableSourceScan:
    return next(node for node in rows.walk() if isinstance(node, TableSourceScan))


def _cut(table: Table) -> tuple[Scalar | None, Scalar | None]:
    """The conditions on rows of the history and on live rows; None, None: all rows count. Rows without a time meet
    both, so that none is dropped silently.
    """
    history, mark = table.history, table.watermark
    if history is None or history.until is None or mark is None:
        return None, None
    part = next(part for part in table.columns if part.name == mark.column)
    time = part.scalar or column(part.name, part.type)
    instant = part.type == TIMESTAMP_LTZ
    until = f"TIMESTAMP_LTZ '{history.until} {history.zone}'" if instant else f"TIMESTAMP_NTZ '{history.until}'"
    made = (
        template(f"{{t}} IS NULL OR {{t}} {sign} {until}", {"t": time}, BOOLEAN, atomic=False)
        for sign in "< >=".split()
    )
    before, since = made
    return before, since
