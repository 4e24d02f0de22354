"""The input of a stateful operator of a stream: rows with watermarks, control rows and channels.

Watermarks and control rows must pass every filter. Therefore a filter between the source and a window aggregate moves
into the rows' time: a row that the filter drops gets NULL as its time and only carries its watermark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import SparkCatalog
from tvfsql.errors import UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import NULL_TIMES
from tvfsql.physical.operators import (
    MARK_FIELDS,
    Calc,
    Exchange,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamDeduplicate,
    StreamOperator,
    StreamSort,
    StreamTopN,
    StreamUnion,
    TableSourceScan,
    WatermarkAssigner,
)
from tvfsql.physical.row_operators import RowOperator
from tvfsql.physical.streams.history import live_rows
from tvfsql.physical.streams.proctime import is_proctime
from tvfsql.physical.window_operators import StreamSliceMerge, WindowExpand
from tvfsql.plan import nodes
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL
from tvfsql.plan.values.scalar import PROCTIME, Scalar, column, free_name, template, text


def inputs_of(node: Node) -> tuple[str, ...]:
    """The name prefixes of the channels that reach an operator; just "" unless there is a StreamUnion below it."""
    match node:
        case StreamUnion(sides):
            return tuple(f"{i}/{name}" for i, side in enumerate(sides, 1) for name in inputs_of(side))
        case StreamSliceMerge() | WatermarkAssigner() | ProcessingTimeAssigner() | RowOperator():
            return ("",)
        case nodes.LookupJoin(left):
            return inputs_of(left)
    (source,) = node.children
    return inputs_of(source)


def marked(node: Node, time: str, options: Options) -> Calc:
    """Return a stream's rows as the input of a window operator, computed from an input that has MARKS.

    A row that a filter drops may carry a watermark. It stays, with NULL as its `time`, and is in no window; so do
    control rows. If `time` is PROCTIME(), rows carry no watermark. Raises UnsupportedError if no watermark follows
    another `time`.
    """
    calc = node if isinstance(node, Calc) else Calc(node, ())
    kept = calc.items or tuple(Item(part.name, column(part.name, part.type)) for part in calc.schema)
    items = {item.name: item.scalar for item in kept}
    match calc.input:
        case below if items[time] == PROCTIME:
            source: Node = handing_marks_on(below)
            items[time] = in_rows(PROCTIME, template(f"`{CONTROL}` IS NULL", {}, "boolean", atomic=False))
        case TableSourceScan() as scan:
            source = assigned(scan, items[time], options)
        case RowTimeCheck(below):  # the watermark assigner checks times too
            return marked(replace(calc, input=below), time, options)
        case RowOperator() as kept_rows:
            kept_rows.refuse_other_time(items[time])
            source = kept_rows.told(marks=True)
        case Calc() as below if (inner := items[time].column) is not None:
            computed = marked(below, inner, options)
            source = Calc(computed.input, (*computed.items, *mark_items()))
        case nodes.Expand() as expand if (inner := items[time].column) is not None:
            computed = marked(expand.input, inner, options)
            source = replace(expand, input=Calc(computed.input, (*computed.items, *mark_items())))
        case nodes.Unnest() as unnest if (inner := items[time].column) in unnest.input.columns:
            computed = marked(_unnested(unnest), inner or "", options)
            source = replace(unnest, input=Calc(computed.input, (*computed.items, *mark_items())), outer=True)
        case WindowExpand() as expand:  # rows that are in no window stay, because they carry watermarks
            rows = expand.input.input if isinstance(expand.input, RowTimeCheck) else expand.input
            computed = marked(rows, expand.time, options)
            source = replace(expand, input=Calc(computed.input, (*computed.items, *mark_items())))
            if expand.struct not in items[time].columns:
                within = template("{w} IS NOT NULL", {"w": column(expand.struct)}, "boolean", atomic=False)
                items[time] = in_rows(items[time], within)
        case nodes.LookupJoin() as join if items[time].column in join.left.columns:
            if join.kind == "inner":
                return marked(replace(calc, input=_of_all_rows(join)), time, options)
            computed = marked(join.left, items[time].column or "", options)
            source = replace(join, left=Calc(computed.input, (*computed.items, *mark_items())))
        case nodes.SetOperation() as union if len(items[time].columns) == 1:
            (inner,) = items[time].columns  # if it is NULL, so is the time
            _refuse_two_clocks(union, inner)
            source = StreamUnion(tuple(_marked_sides(union, union.columns.index(inner), options)))
        case windows if _of_windows(windows):
            source = handing_marks_on(windows)
        case other:
            raise UnsupportedError(
                "on streams a window function cannot read this input", span=other.span, hint="--mode batch"
            )
    return Calc(
        source, tuple(Item(n, in_rows(s, all_of(calc.conditions)) if n == time else s) for n, s in items.items())
    )


def _unnested(node: nodes.Unnest) -> Node:
    """The input of UNNEST, without rows that an inner join drops. A control row has no elements, but must pass."""
    if node.outer:
        return node.input
    below = node.input if isinstance(node.input, Calc) else Calc(node.input, ())
    return below.where((node.has_rows,))


def _of_all_rows(join: nodes.LookupJoin) -> Calc:
    """An inner join as a filter of an outer join, whose result has all rows of the left side: they may carry
    watermarks.
    """
    taken = {name.lower() for name in join.columns}
    found = free_name("found", lambda name: name.lower() in taken)
    kept = tuple(Item(part.name, column(part.name, part.type)) for part in join.right.schema)
    right = Calc(join.right, (*kept, Item(found, text("TRUE", "boolean"))))
    items = tuple(Item(part.name, column(part.name, part.type)) for part in join.schema)
    return Calc(replace(join, right=right, kind="left"), items, (column(found, "boolean"),))


def _refuse_two_clocks(union: nodes.SetOperation, time: str) -> None:
    """Raise UnsupportedError if a column has processing time in one input and event time in another."""
    at = union.columns.index(time)
    found = {is_proctime(side, side.columns[at]) for side in union.children}
    if len(found) > 1:
        raise UnsupportedError(
            "a window cannot mix rows of processing time and event time",
            span=union.span,
            hint="PROCTIME() on both sides, or columns with a WATERMARK",
        )


def _marked_sides(node: Node, at: int, options: Options) -> Iterator[Calc]:
    """The inputs of a UNION ALL with MARKS; the time is the column at position `at`."""
    if isinstance(node, nodes.SetOperation):
        yield from _marked_sides(node.left, at, options)
        yield from _marked_sides(node.right, at, options)
    else:
        computed = marked(node, node.columns[at], options)
        yield Calc(computed.input, (*computed.items, *mark_items()))


def _of_windows(node: Node) -> bool:
    """Whether the rows come from a window operator, with no other window operator or several inputs in between."""
    while isinstance(
        node, Calc | Exchange | nodes.Unnest | StreamTopN | StreamDeduplicate | StreamSort | nodes.LookupJoin
    ):
        node = node.left if isinstance(node, nodes.LookupJoin) else node.input
    return isinstance(node, StreamSliceMerge)


def handing_marks_on(node: Node) -> Node:
    """Add MARKS to the operators down to the window operator or the source. Control rows pass through; above a source
    no other row carries anything in MARKS.
    """
    match node:
        case StreamOperator():
            return node.told(marks=True)
        case TableSourceScan():
            return ProcessingTimeAssigner(node, node.source.name)
        case nodes.SetOperation(left, right):
            return StreamUnion((handing_marks_on(left), handing_marks_on(right)))
        case Calc():
            kept = node.items or tuple(Item(part.name, column(part.name, part.type)) for part in node.schema)
            passes = all_of(node.conditions)
            either = template(f"`{CONTROL}` IS NOT NULL OR ({{p}})", {"p": passes}, "boolean") if passes else None
            return Calc(handing_marks_on(node.input), (*kept, *mark_items()), (either,) if either else ())
        case nodes.LookupJoin(left, kind=kind):
            rows = replace(node, left=handing_marks_on(left))
            return rows if kind == "left" else handing_marks_on(_of_all_rows(node))
        case nodes.Unnest():
            return replace(node, input=handing_marks_on(_unnested(node)), outer=True)
        case Exchange() | StreamTopN() | StreamDeduplicate() | StreamSort():
            return replace(node, input=handing_marks_on(node.input))
        case nodes.Expand() | WindowExpand():
            return replace(node, input=handing_marks_on(node.input))
        case RowTimeCheck():
            return handing_marks_on(node.input)
    raise AssertionError(node.label())


def assigned(scan: TableSourceScan, time: Scalar, options: Options) -> WatermarkAssigner:
    """The source's rows with their watermarks. The window must be over the watermark's column."""
    table = scan.source
    mark = table.watermark
    computed = {part.name: part.scalar for part in table.columns if part.scalar is not None}
    of = computed.get(mark.column, column(mark.column)) if mark else None
    if mark is None or of is None or of != time:
        raise _no_watermark(table, time)
    watermark = mark.scalar.substitute(computed)
    missing = (watermark.columns | of.columns) - set(scan.columns)
    if missing:
        fields = tuple(field for field in table.physical if field.name in missing or field in scan.fields)
        scan = replace(scan, fields=fields)
    if table.connector is not None and table.connector.partitioned:
        scan = replace(scan, fields=(*scan.fields, Field(CHANNEL, "string")))
    rows = live_rows(scan) if scan.history is not None else scan
    return WatermarkAssigner(rows, table.name, of, watermark, options[NULL_TIMES])


def _no_watermark(table: Table, time: Scalar) -> UnsupportedError:
    if not time.lasting:
        reason = f"on streams a processing-time window needs PROCTIME() itself, not {time}"
        return UnsupportedError(reason, hint="proc AS PROCTIME() in CREATE TABLE, then DESCRIPTOR(proc)")
    known = time.column or next((part.name for part in table.columns if part.scalar == time), None)
    name = known or "rt"
    wanted = f"WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND in CREATE TABLE {table.name}"
    if known is None:
        wanted = f"{name} AS {time.sql}, {wanted}"
    if table.watermark:
        reason = f"the watermark of {table.name} is for {table.watermark.column}, not for {known or time}"
        return UnsupportedError(reason, hint=f"use {table.watermark.column}, or declare {wanted}")
    reason = f"table {table.name} has no watermark for {known or time}, so windows never end"
    if known is not None and isinstance(table.connector, SparkCatalog):
        wanted = f"ALTER TABLE {table.name} ADD WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND"
    return UnsupportedError(reason, hint=wanted)


def mark_items() -> tuple[Item, ...]:
    """The columns MARKS, passed through."""
    return tuple(Item(part.name, column(part.name, part.type)) for part in MARK_FIELDS)


def on_event(node: Node) -> bool:
    """Whether lateness is decided row by row. It is not for rows of windows that are emitted together, which have no
    order and whose watermark follows them all, nor for copies of a row.
    """
    parts = [*node.walk()]
    marks = [part.source.watermark for part in parts if isinstance(part, TableSourceScan)]
    together = any(isinstance(part, StreamSliceMerge | WindowExpand | nodes.LookupJoin) for part in parts)
    return not together and any(mark and mark.on_event for mark in marks)


def all_of(conditions: tuple[Scalar, ...]) -> Scalar | None:
    """The conjunction of all conditions; None if there are none."""
    whole: Scalar | None = None
    for one in conditions:
        whole = one if whole is None else template("{a} AND {b}", {"a": whole, "b": one}, "boolean", atomic=False)
    return whole


def in_rows(value: Scalar, passes: Scalar | None) -> Scalar:
    """The value in rows that pass the filters, NULL in the others."""
    if passes is None:
        return value
    return template("CASE WHEN {p} THEN {v} END", {"p": passes, "v": value}, value.type)
