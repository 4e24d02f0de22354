"""What streams need: watermarks assigned at the source, slices made from single rows, and no operator without an end.

Watermarks and control rows must pass every filter, so filters between the source and a window aggregate
become part of the rows' time: a row that does not pass brings its watermark and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from tvfsql.errors import UnsupportedError
from tvfsql.options import Options
from tvfsql.physical.interval_bounds import NoInterval, interval_of
from tvfsql.physical.operators import (
    CHANNEL,
    CONTROL,
    LATE,
    MARKS,
    Calc,
    Exchange,
    ProcessingTimeAssigner,
    RowTimeCheck,
    SliceMerge,
    StreamDeduplicate,
    StreamSlices,
    StreamTopN,
    StreamUnion,
    TableSourceScan,
    WatermarkAssigner,
    WindowExpand,
)
from tvfsql.physical.proctime import is_proctime
from tvfsql.physical.row_operators import RowOperator
from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.call import mergeable
from tvfsql.plan.function import UserFunction, functions_in
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item
from tvfsql.plan.properties import window_of
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.scalar import PROCTIME, Part, Ref, Scalar, column, template
from tvfsql.plan.sharing import Shared, of_shared
from tvfsql.plan.window_join import WindowJoin, window_join
from tvfsql.plan.window_nodes import LocalWindowAggregate
from tvfsql.syntax import ast

REFUSED: dict[type[Node], tuple[str, str]] = {
    nodes.Aggregate: (
        "this aggregate has no window, so on a stream it would never be final",
        "GROUP BY window_start, window_end of a window function, both of them",
    ),
    window_nodes.WindowAggregate: (
        "an aggregate here cannot be merged from slices, or slices are switched off",
        "streams need aggregates of plan.aggregates and table.optimizer.agg-phase-strategy other than ONE_PHASE",
    ),
    WindowJoin: (
        "both sides of a window join are window functions, or what is made of their windows",
        "GROUP BY window_start, window_end and the keys first, or use --mode batch",
    ),
    nodes.Sort: ("a stream has no end, so it cannot be sorted", "leave out ORDER BY, or use --mode batch"),
    nodes.Limit: ("LIMIT on a stream is not built yet", "leave it out, or use --mode batch"),
    nodes.Distinct: ("DISTINCT rows of a stream would need all rows kept", "group by a window"),
    Rank: (
        "a rank without an upper limit keeps all rows of a window",
        "limit it: WHERE place <= 10 around the query, or QUALIFY",
    ),
    nodes.SparkSql: ("this query is one of Spark's own forms, which are not built for streams yet", "--mode batch"),
}


def refuse_unbounded(plan: Node) -> None:
    """Raise UnsupportedError for an operator that streams do not have, with the reason and what to do."""
    for node in plan.walk():
        if isinstance(node, nodes.Join):
            reason, hint = _other_join(node)
            raise UnsupportedError(f"{reason}: {node.label()}", hint=hint)
        if type(node) in REFUSED and not _in_micro_batches(node):
            found = _lacking_set(node) or _of_several_windows(node) or _lacking_merge(node) or _rank_of_rows(node)
            reason, hint = found or REFUSED[type(node)]
            if isinstance(node, nodes.SparkSql) and node.reason == ast.OVER:
                hint = (
                    "rank the rows of windows: PARTITION BY window_start, window_end, with a limit of the rank; "
                    "or keep one row of each key: ROW_NUMBER() OVER (PARTITION BY key ORDER BY time attribute) = 1"
                )
            if isinstance(node, nodes.SparkSql) and node.reason == ast.SUBQUERY:
                hint = "in EXISTS or IN: WHERE l.window_start = r.window_start AND l.window_end = r.window_end"
            raise UnsupportedError(f"{reason}: {node.label()}", hint=hint)
        if isinstance(node, window_nodes.GlobalWindowAggregate):
            _refuse_other_times(node)
        if isinstance(node, WindowTopN | WindowDeduplicate) and not comes_by_window(node.input):
            raise UnsupportedError(
                f"on streams only the rows of a window aggregate come together when their window ends: {node.label()}",
                hint="GROUP BY window_start, window_end and the keys first, or use --mode batch",
            )
        if isinstance(node, nodes.SetOperation) and (node.kind != "union" or not node.all):
            raise UnsupportedError("only UNION ALL works on streams", hint="UNION ALL")


def _other_join(node: nodes.Join) -> tuple[str, str]:
    """Reason and hint for a join that is none of windows, nor of rows within bounds of time."""
    if window_of(node.left) is None and window_of(node.right) is None:
        found = interval_of(node)
        if not isinstance(found, NoInterval):
            found = NoInterval("is left as it is: the rule make_interval_join is switched off")
        return (
            f"on streams rows are joined within bounds of time, or within windows, and this join {found.reason}",
            found.hint,
        )
    made = window_join(node)
    why = made if isinstance(made, str) else "is left as it is: the rule make_window_join is switched off"
    return (
        f"on streams only windows are joined, and this join {why}",
        "ON l.window_start = r.window_start AND l.window_end = r.window_end, of the same windows",
    )


def _lacking_set(node: Node) -> tuple[str, str] | None:
    """Reason and hint for an aggregate whose window some grouping set lacks."""
    expand = node.input if isinstance(node, nodes.Aggregate) else None
    if not isinstance(expand, nodes.Expand):
        return None
    known, kept = window_of(expand.input), window_of(expand)
    if known is None or not known.named_by(known.starts + known.ends) or (kept and kept.named_by(expand.columns)):
        return None
    return (
        "a grouping set here lacks window_start or window_end, so on a stream its groups would never be final",
        "GROUP BY window_start, window_end, GROUPING SETS (...), with both outside the sets or in every set",
    )


def _of_several_windows(node: Node) -> tuple[str, str] | None:
    """Reason and hint for an aggregate over a UNION ALL whose parts have windows that differ."""
    below = node.input if isinstance(node, nodes.Aggregate) else None
    while isinstance(below, nodes.Project | nodes.Filter):
        below = below.input
    if not isinstance(below, nodes.SetOperation) or window_of(below) or not all(map(window_of, below.children)):
        return None
    return (
        "the rows of this aggregate come from different windows, so a group is of no window in particular",
        "aggregate before UNION ALL, or use the same window function in each of its parts",
    )


def _lacking_merge(node: Node) -> tuple[str, str] | None:
    """Reason and hint for an aggregate that a user wrote without merge()."""
    calls = node.calls if isinstance(node, window_nodes.WindowAggregate) else ()
    lacking = next((call.user for call in calls if call.user and not mergeable(call, streaming=True)), None)
    if lacking is None:
        return None
    return (
        f"{lacking.name} has no merge(), without which its windows cannot be made from slices, as streams need",
        f"def merge(self, accumulator, accumulators) in {lacking.path}, or --mode batch",
    )


def _rank_of_rows(node: Node) -> tuple[str, str] | None:
    """Reason and hint for a rank by event time that is no deduplication."""
    if not isinstance(node, Rank) or window_of(node.input) is not None:
        return None
    return (
        "of rows that have no window, streams keep the first or the last one of each key, not those of other ranks",
        f"WHERE {node.name} = 1 around the query, or QUALIFY; PARTITION BY window_start, window_end for other ranks",
    )


def _refuse_other_times(node: window_nodes.GlobalWindowAggregate) -> None:
    """Only the last moment of a window comes with watermarks out of an operator that makes windows."""
    local = node.input
    assert isinstance(local, LocalWindowAggregate), local.label()
    if is_proctime(local.input, local.time):
        return
    if node.attached is None and not all(_goes_by_window_time(*leg) for leg in _legs(local.input, local.time)):
        raise UnsupportedError(
            f"on streams a window over windows goes by their window_time, and {local.time} is another time",
            hint="SELECT window_time AS rowtime, ... GROUP BY window_start, window_end, window_time",
        )


def _legs(node: Node, time: str) -> Iterator[tuple[Node, str]]:
    """The relations that a UNION ALL puts together, each with what it calls a column; under projections of it."""
    match node:
        case nodes.Project(source, items) if renamed := next(i.scalar.column for i in items if i.name == time):
            yield from _legs(source, renamed)
        case nodes.SetOperation(left, right):
            yield from _legs(left, time)
            yield from _legs(right, right.columns[left.columns.index(time)])
        case _:
            yield node, time


def _goes_by_window_time(node: Node, time: str) -> bool:
    over_windows = any(isinstance(below, window_nodes.GlobalWindowAggregate) for below in node.walk())
    known = window_of(node)
    return not over_windows or (known is not None and time in known.times)


def comes_by_window(node: Node) -> bool:
    """Whether all rows of a window leave the operator in one micro-batch."""
    if isinstance(node, nodes.Project | nodes.Filter | nodes.Unnest | WindowTopN | WindowDeduplicate | Shared):
        return comes_by_window(node.input)
    made = isinstance(node, window_nodes.WindowAggregate | window_nodes.GlobalWindowAggregate)
    return made or _in_micro_batches(node)


def _in_micro_batches(node: Node) -> bool:
    """Whether it is an aggregate by window or a join of windows over what INSERTs of a set share: all rows of a window
    are in the micro-batch that it works on, as in batch."""
    if not isinstance(node, nodes.Aggregate | nodes.Expand | WindowJoin) or not of_shared(node):
        return False
    known = window_of(node)
    return known is not None and known.named_by(node.columns) is not None and all(map(comes_by_window, node.children))


def stream_rank(node: WindowTopN | WindowDeduplicate) -> StreamTopN | StreamDeduplicate:
    """The same operator for the rows of a micro-batch."""
    made = StreamTopN if isinstance(node, WindowTopN) else StreamDeduplicate
    return made(**{part.name: getattr(node, part.name) for part in fields(node)})


def stream_slices(node: LocalWindowAggregate, options: Options) -> StreamSlices:
    """The slices of a stream; `node.input` is physical. Raises UnsupportedError for what streams lack yet."""
    source = marked(node.input, node.time, options)
    items = {item.name: item.scalar for item in source.items}
    keys = tuple(Item(key, items[key]) for key in node.keys)
    partials = tuple(Item(part.name, part.row.substitute(items)) for part in node.partials)
    made = Calc(source.input, (*keys, Item(node.time, items[node.time]), *partials, *mark_items()))
    merges = tuple((part.name, part.merge) for part in node.partials)
    key_groups = int(options["pipeline.max-parallelism"])
    proctime = is_proctime(node.input, node.time)
    one_by_one = on_event(source) and not proctime
    slices = StreamSlices(made, node.window, node.time, node.keys, merges, node.zone, one_by_one, key_groups)
    return replace(slices, proctime=proctime)


def inputs_of(node: Node) -> tuple[str, ...]:
    """What the names of the channels begin with that speak to an operator: more than "" behind a StreamUnion."""
    match node:
        case StreamUnion(sides):
            return tuple(f"{i}/{name}" for i, side in enumerate(sides, 1) for name in inputs_of(side))
        case SliceMerge() | WatermarkAssigner() | ProcessingTimeAssigner() | RowOperator():
            return ("",)
    (source,) = node.children
    return inputs_of(source)


def marked(node: Node, time: str, options: Options) -> Calc:
    """A stream's rows on their way to a window operator, computed from an input that has MARKS.

    Rows that a filter leaves out may bring a watermark, so they stay, with NULL as their `time`: they are rows of no
    window. Control rows have none either. Where `time` is PROCTIME() no row brings a watermark. Raises UnsupportedError
    if nothing brings watermarks for another `time`.
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
        case RowTimeCheck(below):  # where watermarks are assigned, times are looked at too
            return marked(replace(calc, input=below), time, options)
        case RowOperator() as kept_rows:
            kept_rows.refuse_other_time(items[time])
            source = kept_rows.with_marks()
        case Calc() as below if (inner := items[time].column) is not None:
            computed = marked(below, inner, options)
            source = Calc(computed.input, (*computed.items, *mark_items()))
        case nodes.Expand() as expand if (inner := items[time].column) is not None:
            computed = marked(expand.input, inner, options)
            source = replace(expand, input=Calc(computed.input, (*computed.items, *mark_items())))
        case WindowExpand() as expand:  # rows that are in no window stay, for the watermarks that they bring
            rows = expand.input.input if isinstance(expand.input, RowTimeCheck) else expand.input
            computed = marked(rows, expand.time, options)
            source = replace(expand, input=Calc(computed.input, (*computed.items, *mark_items())))
            if expand.struct not in items[time].columns:
                within = template("{w} IS NOT NULL", {"w": column(expand.struct)}, "boolean", atomic=False)
                items[time] = in_rows(items[time], within)
        case nodes.SetOperation() as union if len(items[time].columns) == 1:
            (inner,) = items[time].columns  # where it is NULL, so is the time
            _refuse_two_clocks(union, inner)
            source = StreamUnion(tuple(_marked_sides(union, union.columns.index(inner), options)))
        case windows if _of_windows(windows):
            source = handing_marks_on(windows)
        case other:
            raise UnsupportedError(
                f"on streams a window function does not read {other.label()} yet", hint="--mode batch"
            )
    return Calc(
        source, tuple(Item(n, in_rows(s, all_of(calc.conditions)) if n == time else s) for n, s in items.items())
    )


def _refuse_two_clocks(union: nodes.SetOperation, time: str) -> None:
    """Raise UnsupportedError where processing time meets event time in a column."""
    at = union.columns.index(time)
    found = {is_proctime(side, side.columns[at]) for side in union.children}
    if len(found) > 1:
        raise UnsupportedError(
            "rows of processing time and rows of event time have no time in common, so no window holds both",
            hint="windows over PROCTIME() on both sides, or over columns with a WATERMARK",
        )


def _marked_sides(node: Node, at: int, options: Options) -> Iterator[Calc]:
    """What a UNION ALL puts together, marked; the time is the column at that place."""
    if isinstance(node, nodes.SetOperation):
        yield from _marked_sides(node.left, at, options)
        yield from _marked_sides(node.right, at, options)
    else:
        computed = marked(node, node.columns[at], options)
        yield Calc(computed.input, (*computed.items, *mark_items()))


def _of_windows(node: Node) -> bool:
    """Whether rows come from an operator that makes windows, through none that does or reads several inputs."""
    while isinstance(node, Calc | Exchange | nodes.Unnest | StreamTopN | StreamDeduplicate):
        node = node.input
    return isinstance(node, SliceMerge)


def handing_marks_on(node: Node) -> Node:
    """Operators that make no windows, down to the one that does or to the source, with MARKS beside their columns.
    Control rows pass; of a source there is nothing else in MARKS."""
    match node:
        case SliceMerge():
            return replace(node, marks=True)
        case TableSourceScan():
            return ProcessingTimeAssigner(node, node.source.name)
        case RowOperator():
            return node.with_marks()
        case nodes.SetOperation(left, right):
            return StreamUnion((handing_marks_on(left), handing_marks_on(right)))
        case Calc():
            kept = node.items or tuple(Item(part.name, column(part.name, part.type)) for part in node.schema)
            passes = all_of(node.conditions)
            either = template(f"`{CONTROL}` IS NOT NULL OR ({{p}})", {"p": passes}, "boolean") if passes else None
            return Calc(handing_marks_on(node.input), (*kept, *mark_items()), (either,) if either else ())
        case Exchange() | nodes.Unnest() | StreamTopN() | StreamDeduplicate() | nodes.Expand() | WindowExpand():
            return replace(node, input=handing_marks_on(node.input))
        case RowTimeCheck():
            return handing_marks_on(node.input)
    raise AssertionError(node.label())


def calling_for_rows(node: Node) -> Node:
    """The operator with the user's functions called for rows of the query alone: not for control rows, nor for late
    ones on their way to a table, in which all columns of the query are NULL."""
    if not isinstance(node, Calc) or not any(functions_in((node.items, node.conditions))):
        return node
    others = next((name for name in (CONTROL, LATE) if name in node.input.columns), None)
    if others is None:
        return node
    items = tuple(Item(item.name, _for_rows(item.scalar, others)) for item in node.items)
    return Calc(node.input, items, tuple(_for_rows(one, others) for one in node.conditions))


def _for_rows(scalar: Scalar, others: str) -> Scalar:
    parts: list[Part] = []
    for part in scalar.parts:
        if parts and isinstance(parts[-1], UserFunction):
            assert isinstance(part, str) and part.startswith("("), scalar.sql
            parts += ["(", Ref(others), ")" if part.startswith("()") else ", "]
            part = part.removeprefix("()" if part.startswith("()") else "(")
        parts.append(part.for_rows if isinstance(part, UserFunction) else part)
    return replace(scalar, parts=tuple(part for part in parts if part != ""))


def assigned(scan: TableSourceScan, time: Scalar, options: Options) -> WatermarkAssigner:
    """The source's rows with their watermarks. The window's time column must be the one they are of."""
    table = scan.source
    mark = table.watermark
    computed = {part.name: part.scalar for part in table.columns if part.scalar is not None}
    of = computed.get(mark.column, column(mark.column)) if mark else None
    if mark is None or of is None or of != time:
        if not time.lasting:
            raise UnsupportedError(
                f"{time} is computed of the clock, and on streams windows go by PROCTIME() itself",
                hint="DESCRIPTOR(proc), where proc is PROCTIME() AS proc",
            )
        raise UnsupportedError(
            f"table {table.name} has no watermark for {time.sql}, so its windows would never be final",
            hint=f"WATERMARK FOR {time.sql} AS {time.sql} - INTERVAL '5' SECOND in CREATE TABLE {table.name}",
        )
    watermark = mark.scalar.substitute(computed)
    missing = (watermark.columns | of.columns) - set(scan.columns)
    if missing:
        fields = tuple(field for field in table.physical if field.name in missing or field in scan.fields)
        scan = replace(scan, fields=fields)
    if table.connector is not None and table.connector.partitioned:
        scan = replace(scan, fields=(*scan.fields, Field(CHANNEL, "string")))
    return WatermarkAssigner(
        scan, table.name, of, watermark, options["table.exec.source.rowtime-null-handling"].lower()
    )


def mark_items() -> tuple[Item, ...]:
    """The columns MARKS, handed through."""
    return tuple(Item(part.name, column(part.name, part.type)) for part in MARKS)


def on_event(node: Node) -> bool:
    """Whether rows are judged one by one. Windows that leave an operator together have no order among them, and their
    watermark comes after them all; nor have the copies of a row."""
    parts = [*node.walk()]
    marks = [part.source.watermark for part in parts if isinstance(part, TableSourceScan)]
    together = any(isinstance(part, SliceMerge | WindowExpand) for part in parts)
    return not together and any(mark and mark.on_event for mark in marks)


def all_of(conditions: tuple[Scalar, ...]) -> Scalar | None:
    """One condition that holds if all do."""
    whole: Scalar | None = None
    for one in conditions:
        whole = one if whole is None else template("{a} AND {b}", {"a": whole, "b": one}, "boolean", atomic=False)
    return whole


def in_rows(value: Scalar, passes: Scalar | None) -> Scalar:
    """The value in rows that pass the filters, NULL in others."""
    if passes is None:
        return value
    return template("CASE WHEN {p} THEN {v} END", {"p": passes, "v": value}, value.type)
