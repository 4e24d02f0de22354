"""The input of a stateful operator of a stream: rows with watermarks, control rows and channels.

Watermarks and control rows must pass every filter. Therefore a filter between the source and a window aggregate moves
into the rows' time: a row that the filter drops gets NULL as its time and only carries its watermark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import SparkCatalog
from tvfsql.errors import IN_BATCH, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import NULL_TIMES
from tvfsql.physical.copied_rows import is_proctime
from tvfsql.physical.operators import (
    MARK_FIELDS,
    ROW_FIELD,
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
    ToChangelog,
    UpsertMaterialize,
    WatermarkAssigner,
)
from tvfsql.physical.row_operators import RowOperator, StreamGapFill
from tvfsql.physical.streams.history import live_rows
from tvfsql.physical.streams.other_rows import all_of, guarded, in_rows
from tvfsql.physical.window_operators import StreamSliceMerge, WindowExpand, window_time
from tvfsql.physical.words import CHANGES_OF_RESULTS, WITHOUT_WINDOW, origin
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.node import Field, Node, functions_in
from tvfsql.plan.nodes import Item
from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, ROW
from tvfsql.plan.values.scalar import PROCTIME, Ref, Scalar, column, free_name, template, text
from tvfsql.plan.values.types import BOOLEAN, STRING, TIMESTAMP


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


@dataclass(frozen=True)
class MarkedRows:
    """The rows of an operator, computed by `items` from those of `source`, which has MARKS.

    `drops`: a filter drops some of them. These stay, with NULL as their `time`. `passes` is a condition that holds for
    all others.
    """

    source: Node
    items: Mapping[str, Scalar]
    time: str
    drops: bool
    passes: Scalar | None

    def computing(self, items: Iterable[Item]) -> Calc:
        """The rows with these columns over those of `source`. Rows that are dropped may lack them."""
        made = (Item(one.name, guarded(one.scalar, self.passes)) if one.name != self.time else one for one in items)
        return Calc(self.source, tuple(made))

    @property
    def calc(self) -> Calc:
        """The rows without MARKS."""
        return self.computing(Item(name, scalar) for name, scalar in self.items.items())

    @property
    def calc_with_marks(self) -> Calc:
        """The rows with MARKS."""
        return Calc(self.source, (*self.calc.items, *mark_items(self.source)))

    @property
    def kept(self) -> tuple[Scalar, ...]:
        """The condition over the rows for those that are not dropped; empty if none are."""
        is_kept = template("{t} IS NOT NULL", {"t": column(self.time)}, BOOLEAN, atomic=False)
        return (is_kept,) if self.drops else ()


def with_marks(node: Node, time: str, options: Options) -> MarkedRows:
    """Return a stream's rows as the input of a window operator, computed from an input that has MARKS.

    A row that a filter drops may carry a watermark. It stays, with NULL as its `time`, and is in no window; so do
    control rows. If `time` is PROCTIME(), rows carry no watermark. Raises UnsupportedError if no watermark follows
    another `time`.
    """
    calc = node if isinstance(node, Calc) else Calc(node, ())
    kept = calc.items or tuple(Item(part.name, column(part.name, part.type)) for part in calc.schema)
    items = {item.name: item.scalar for item in kept}
    below: tuple[Scalar, ...] = ()
    match calc.input:
        case rows if items[time] == PROCTIME:
            source: Node = handing_marks_on(rows)
            items[time] = in_rows(PROCTIME, template(f"`{CONTROL}` IS NULL", {}, BOOLEAN, atomic=False))
        case TableSourceScan() as scan:
            source = assigned(scan, items[time], options)
        case RowTimeCheck(rows):  # the watermark assigner checks times too
            return with_marks(replace(calc, input=rows), time, options)
        case RowOperator() as operator if not _of_windows(operator):
            operator.refuse_other_time(items[time])
            source = operator.told(marks=True)
        case Calc() as rows if (inner := items[time].column) is not None:
            source, below = _below(rows, inner, options)
        case nodes.Expand() as expand if items[time].columns.isdisjoint((*expand.keys, expand.id)):
            own, inner = _timed(expand.input, items[time])
            rows, below = _below(own, inner, options)
            source = replace(expand, input=rows)
            items[time] = column(inner, items[time].type)
        case nodes.Unnest() as unnest if (inner := items[time].column) in unnest.input.columns:
            rows_below = with_marks(_unnested(unnest), inner or "", options)
            # rows without elements are dropped after their columns are computed
            rows_below = replace(rows_below, passes=with_marks(unnest.input, inner or "", options).passes)
            source, below = replace(unnest, input=rows_below.calc_with_marks, outer=True), rows_below.kept
        case changelogs.FromChangelog() as changes if (inner := items[time].column) is not None:
            rows, below = _below(changes.input, inner, options)
            timed = template("{t} IS NOT NULL", {"t": column(inner)}, BOOLEAN, atomic=False)
            source = replace(changes, input=rows, read=timed)
        case ToChangelog() as changes if (inner := items[time].column) is not None:
            _refuse_results(changes)
            rows, below = _below(changes.input, inner, options)
            source = replace(changes, input=rows)
        case WindowExpand() as expand:  # rows that are in no window stay, because they carry watermarks
            _refuse_other_time(expand, items[time], time)
            rows = expand.input.input if isinstance(expand.input, RowTimeCheck) else expand.input
            rows, below = _below(rows, expand.time, options)
            source = replace(expand, input=rows)
            if expand.struct not in items[time].columns:
                within = template("{w} IS NOT NULL", {"w": column(expand.struct)}, BOOLEAN, atomic=False)
                items[time] = in_rows(items[time], within)
        case nodes.LookupJoin() as join if items[time].column in join.left.columns:
            if join.kind == "inner":
                return with_marks(replace(calc, input=_of_all_rows(join)), time, options)
            rows, below = _below(join.left, items[time].column or "", options)
            source = replace(join, left=rows)
        case nodes.SetOperation() as union if (inner := items[time].column) is not None:
            _refuse_two_clocks(union, inner)
            sides = [*_sides(union, union.columns.index(inner), options)]
            source = _union(side.calc_with_marks for side in sides)
            below = next((replace(side, time=inner).kept for side in sides if side.drops), ())
        case nodes.SetOperation() as union:
            return with_marks(_computed_in_sides(union, items, time, calc.conditions), time, options)
        case windows if _of_windows(windows):
            source = handing_marks_on(windows)
        case other:
            raise UnsupportedError(
                "on streams a window function cannot read this input", span=other.span, hint=IN_BATCH
            )
    conditions = _in_order(calc.conditions, below)
    items[time] = in_rows(items[time], all_of(conditions))
    steady = (one for one in conditions if one.deterministic)
    return MarkedRows(source, items, time, bool(conditions or below), all_of((*below, *steady)))


def _below(node: Node, time: str, options: Options) -> tuple[Calc, tuple[Scalar, ...]]:
    """The rows of an operator below, with MARKS, and the condition for those that are not dropped, if some are."""
    rows = with_marks(node, time, options)
    return rows.calc_with_marks, rows.kept


def _timed(node: Node, time: Scalar) -> tuple[Node, str]:
    """The rows with a column that has the time, and its name."""
    if time.column is not None:
        return node, time.column
    taken = {name.lower() for below in node.walk() for name in below.columns}
    own = free_name("rowtime", taken)
    return _with_item(node, Item(own, time)), own


def _in_order(conditions: tuple[Scalar, ...], below: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """The conditions on rows that meet those `below`. Users' functions are only called for rows that meet the others
    too.
    """
    plain = tuple(one for one in conditions if one.deterministic and not any(functions_in(one.parts)))
    first = all_of(below), all_of((*below, *plain))
    return tuple(guarded(one, first[any(functions_in(one.parts))]) for one in conditions)


def _refuse_results(changes: ToChangelog) -> None:
    """Raise UnsupportedError for the changes of an operator's results."""
    if any(isinstance(node, StreamOperator) for node in changes.walk()):
        raise UnsupportedError(CHANGES_OF_RESULTS, span=changes.span, hint=WITHOUT_WINDOW)


def _refuse_other_time(expand: WindowExpand, time: Scalar, name: str) -> None:
    """Raise UnsupportedError for a time of a window function's rows that watermarks do not follow."""
    end = Scalar((Ref(expand.struct), ".end"), TIMESTAMP)
    own = time.column
    if own == expand.time or time in (window_time(end, expand.zone), window_time(end, "")):
        return
    if own is not None and is_proctime(expand, own):
        return
    raise UnsupportedError(
        f"on streams the time attribute of a window function's rows is window_time, not "
        f"{origin(expand, own) if own else name}",
        hint="DESCRIPTOR(window_time)",
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
    right = Calc(join.right, (*kept, Item(found, text("TRUE", BOOLEAN))))
    items = tuple(Item(part.name, column(part.name, part.type)) for part in join.schema)
    return Calc(replace(join, right=right, kind="left"), items, (column(found, BOOLEAN),))


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


def _sides(node: Node, at: int, options: Options) -> Iterator[MarkedRows]:
    """The inputs of a UNION ALL with MARKS; the time is the column at position `at`."""
    if isinstance(node, nodes.SetOperation):
        yield from _sides(node.left, at, options)
        yield from _sides(node.right, at, options)
    else:
        yield with_marks(node, node.columns[at], options)


def _computed_in_sides(
    union: nodes.SetOperation, items: Mapping[str, Scalar], time: str, conditions: tuple[Scalar, ...]
) -> Calc:
    """The columns `items` of a UNION ALL, whose sides compute the time: each of them must have a watermark for it."""
    rows, own = _timed(union, items[time])
    moved = (Item(name, column(own, one.type) if name == time else one) for name, one in items.items())
    return Calc(rows, tuple(moved), conditions)


def _with_item(node: Node, item: Item) -> Node:
    """The rows with one more column, which each side of a UNION ALL computes."""
    if isinstance(node, nodes.SetOperation):
        names = dict(zip(node.left.columns, node.right.columns, strict=True))
        right = replace(item, scalar=item.scalar.renamed(names))
        return replace(node, left=_with_item(node.left, item), right=_with_item(node.right, right))
    calc = node if isinstance(node, Calc) else Calc(node, ())
    kept = calc.items or tuple(Item(part.name, column(part.name, part.type)) for part in calc.schema)
    computed = {each.name: each.scalar for each in kept}
    return replace(calc, items=(*kept, Item(item.name, item.scalar.substitute(computed))))


def _of_windows(node: Node) -> bool:
    """Whether the rows come from a window operator, with no other window operator or several inputs in between."""
    while isinstance(
        node, Calc | Exchange | nodes.Unnest | StreamTopN | StreamDeduplicate | StreamSort | nodes.LookupJoin
    ):
        node = node.left if isinstance(node, nodes.LookupJoin) else node.input
    return isinstance(node, StreamSliceMerge | StreamGapFill)


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
            rows = handing_marks_on(node.input)
            return Calc(rows, (*kept, *mark_items(rows)), (_or_control(passes),) if passes else ())
        case nodes.LookupJoin(left, kind=kind):
            joined = replace(node, left=handing_marks_on(left))
            return joined if kind == "left" else handing_marks_on(_of_all_rows(node))
        case nodes.Unnest():
            return replace(node, input=handing_marks_on(_unnested(node)), outer=True)
        case Exchange() | StreamTopN() | StreamDeduplicate() | StreamSort() | UpsertMaterialize():
            return replace(node, input=handing_marks_on(node.input))
        case changelogs.FromChangelog():
            no_control = template(f"`{CONTROL}` IS NULL", {}, BOOLEAN, atomic=False)
            return replace(node, input=handing_marks_on(node.input), read=no_control)
        case nodes.Expand() | WindowExpand() | ToChangelog():
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
        scan = replace(scan, fields=(*scan.fields, Field(CHANNEL, STRING)))
    rows = live_rows(scan) if scan.history is not None else scan
    return WatermarkAssigner(rows, table.name, of, watermark, options[NULL_TIMES], mark.on_event)


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


def mark_items(rows: Node) -> tuple[Item, ...]:
    """The columns of MARKS that the rows have, passed through."""
    marks = (*MARK_FIELDS, *((ROW_FIELD,) if on_event(rows) else ()))
    return tuple(Item(part.name, column(part.name, part.type)) for part in marks)


def on_event(rows: Node) -> bool:
    """Whether lateness is decided row by row. It is not for the rows that another operator emits: these come together,
    in no order, and its watermark follows them all.
    """
    return ROW in rows.columns


def _union(sides: Iterable[Calc]) -> StreamUnion:
    """UNION ALL of rows with MARKS. If one side has ROW, all get it."""
    every = tuple(sides)
    if not any(map(on_event, every)):
        return StreamUnion(every)
    none = Item(ROW, text(f"CAST(NULL AS {ROW_FIELD.type})", ROW_FIELD.type))
    return StreamUnion(tuple(one if on_event(one) else replace(one, items=(*one.items, none)) for one in every))


def _or_control(passes: Scalar) -> Scalar:
    """The condition, which control rows pass too. EXPLAIN shows what the query says."""
    either = template(f"`{CONTROL}` IS NOT NULL OR ({{p}})", {"p": passes}, BOOLEAN)
    return replace(either, written=passes.shown)
