"""What each operator of a plan does, in one sentence for people who do not know the operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from tvfsql.options.words import NullTimes
from tvfsql.physical.operators import (
    AppliedChanges,
    Calc,
    Exchange,
    LateOutput,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamOperator,
    StreamSort,
    StreamUnion,
    TableSourceScan,
    ToChangelog,
    UpsertMaterialize,
    WatermarkAssigner,
)
from tvfsql.physical.phrases import counted, joined, listed, noun_of, of_slice, ordered, per, ranks, where
from tvfsql.physical.window_operators import GroupByWindow, RowSlices, SliceMerge, WindowExpand
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.analysis.sharing import CommonPart, Reused, Shared
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin, bound
from tvfsql.plan.node import Node
from tvfsql.plan.over import OverAggregate, OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.tables.internal_columns import shown
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Cumulate, Endless, Hop, Session, Several, time_ranges
from tvfsql.plan.window_nodes import (
    GlobalWindowAggregate,
    LocalWindowAggregate,
    TimeRanges,
    WindowAggregate,
    WindowTableFunction,
)


@singledispatch
def sentence(node: Node) -> str:
    """What the operator does with its rows, without a capital and a full stop."""
    raise AssertionError(f"{type(node).__name__} has no sentence")


# ------------------------------------------------------------------------------------------ sources and sinks


@sentence.register
def _(node: TableSourceScan) -> str:
    columns = listed(part.name for part in node.fields)
    of = f"{columns} of {node.source.name}" if columns else f"the rows of {node.source.name}"
    rest = ", as its rows arrive" if node.streaming else ""
    rest += f", after the history in {node.source.history}" if node.history is not None else ""
    rest += f"; rows that cannot be read go into {node.dead_letters.name}" if node.dead_letters is not None else ""
    return f"reads {of}{rest}"


@sentence.register
def _(node: nodes.Scan) -> str:
    columns = listed(node.columns)
    return f"reads {columns} of {node.table}" if columns else f"reads the rows of {node.table}"


@sentence.register
def _(node: nodes.Values) -> str:
    return "makes one row"


@sentence.register
def _(node: nodes.Sink) -> str:
    return f"replaces the rows of {node.table}" if node.overwrite else f"writes the rows into {node.table}"


@sentence.register
def _(node: LateOutput) -> str:
    return f"writes late rows into {listed(table.name for table in node.tables)}, and passes on the others"


@sentence.register
def _(node: nodes.SparkSql) -> str:
    return f"is planned by Spark alone, because of {node.reason}"


# ------------------------------------------------------------------------------------------ rows, one by one


@sentence.register
def _(node: Calc) -> str:
    return _calculated(node.items, node.conditions, node.columns)


@sentence.register
def _(node: nodes.Project) -> str:
    return _calculated(node.items, (), node.columns)


@sentence.register
def _(node: nodes.Filter) -> str:
    return _calculated((), node.conditions, node.columns)


def _calculated(items: Sequence[nodes.Item], conditions: Sequence[Scalar], columns: Sequence[str]) -> str:
    kept = f"keeps the rows{where(conditions)}" if conditions else ""
    made = listed(item.name for item in items if item.scalar.column is None)
    if made:
        return f"{kept}, and computes {made}" if kept else f"computes {made}"
    names = listed(columns)
    if kept or not names:
        return kept or "passes on its rows"
    return f"keeps the column{'s' if len([*shown(columns)]) != 1 else ''} {names}"


@sentence.register
def _(node: RowTimeCheck) -> str:
    return (
        f"stops the query if {node.time} is NULL in a row"
        if node.nulls is NullTimes.FAIL
        else f"drops and counts the rows whose {node.time} is NULL"
    )


@sentence.register
def _(node: WatermarkAssigner) -> str:
    return f"takes the watermark of {node.table} from its rows: {node.watermark}"


@sentence.register
def _(node: ProcessingTimeAssigner) -> str:
    return f"takes the time of the micro-batch as that of the rows of {node.table}"


@sentence.register
def _(node: nodes.CurrentWatermark) -> str:
    return f"adds the watermark of {node.time} as it was when each row came"


@sentence.register
def _(node: nodes.Unnest) -> str:
    rest = ", and keeps rows without elements" if node.outer else ""
    return f"makes a row of each element of {node.rows}{rest}"


@sentence.register
def _(node: nodes.Expand) -> str:
    return f"copies each row once for each of {counted(len(node.sets), 'grouping set')}"


@sentence.register
def _(node: nodes.Limit) -> str:
    rest = f", after the first {node.offset:,}" if node.offset else ""
    return (
        f"skips the first {node.offset:,} rows" if node.count is None else f"keeps {counted(node.count, 'row')}{rest}"
    )


# ------------------------------------------------------------------------------------------ from task to task


@sentence.register
def _(node: Exchange) -> str:
    names = listed(node.keys)
    return f"sends rows with the same {names} to the same task" if names else "sends all rows to one task"


@sentence.register
def _(node: StreamUnion) -> str:
    return f"passes on the rows of {counted(len(node.sides), 'input')}"


@sentence.register
def _(node: nodes.SetOperation) -> str:
    match node.kind, node.all:
        case "union", True:
            return "passes on the rows of both inputs"
        case "union", False:
            return "keeps each different row of both inputs once"
        case "intersect", _:
            return "keeps the rows that both inputs have"
    return "keeps the rows of the first input that the second one lacks"


@sentence.register
def _(node: Shared | CommonPart) -> str:
    return f"keeps its rows as part {node.number}, which is computed once and read repeatedly"


@sentence.register
def _(node: Reused) -> str:
    return f"reads the rows of part {node.number} again"


# ------------------------------------------------------------------------------------------ windows


@sentence.register
def _(node: WindowExpand | WindowTableFunction) -> str:
    if isinstance(node.window, Session):
        return (
            f"gives each row its session: rows{per(node.partition)} no further apart than {duration(node.window.gap)}"
        )
    copies = getattr(node.window, "copies", 1)
    return f"copies each row into its {copies:,} windows" if copies > 1 else "gives each row its window"


@sentence.register
def _(node: RowSlices | LocalWindowAggregate) -> str:
    of_keys = per(node.keys)
    match node.window:
        case Session():
            what = f"joins rows{of_keys} no further apart than {duration(node.window.gap)} to intervals"
        case Endless():
            what = f"adds up the rows{of_keys}"
        case _:
            what = f"adds up the rows of each slice{of_slice(node.window)}{of_keys}"
    return f"{what}, so that fewer are shuffled"


@sentence.register
def _(node: SliceMerge | GlobalWindowAggregate) -> str:
    of_keys = per(name for name in node.keys)
    match node.window:
        case Session():
            made = f"joins the intervals{of_keys} to sessions"
        case Endless():
            return f"keeps the totals{of_keys}, and emits those that a micro-batch changes"
        case Several(((_, alone),)):
            made = f"makes each {noun_of(alone)}{of_keys} from the slices of several windows"
        case Hop() | Cumulate() | Several():
            made = f"makes each {noun_of(node.window)}{of_keys} from its slices{of_slice(node.window)}"
        case _:
            made = f"adds up the partial results of each {noun_of(node.window)}{of_keys}"
    if not isinstance(node, StreamOperator):
        return made
    ends = "session" if isinstance(node.window, Session) else "window"
    early = ", or before" if node.context.firing is not None else ""
    if node.context.by_input:
        return f"{made}, for both sides of a join; a {ends} leaves when the watermarks of both have passed its end"
    time = "the clock" if node.context.proctime else "the watermark"
    return f"{made}; a {ends} leaves when {time} has passed its end{early}"


@sentence.register
def _(node: GroupByWindow | WindowAggregate) -> str:
    copies = getattr(node.window, "copies", 1)
    rest = f", from {copies:,} copies of each row" if copies > 1 else ""
    if isinstance(node.window, Endless):
        return f"aggregates all rows{per(node.keys)}"
    return f"aggregates the rows of each {noun_of(node.window)}{per(node.keys)}{rest}"


@sentence.register
def _(node: TimeRanges) -> str:
    return (
        f"copies slices into ranges of {duration(time_ranges(node.window).slide)}, so that several tasks make windows"
    )


@sentence.register
def _(node: WindowTopN) -> str:
    of_keys = per(node.window.without(node.partition))
    return f"keeps the rows ranked {ranks(node)} of each window{of_keys}, {ordered(node.order)}"


@sentence.register
def _(node: TopN) -> str:
    return f"emits what changes in the rows ranked {ranks(node)} so far{per(node.partition)}, {ordered(node.order)}"


@sentence.register
def _(node: WindowDeduplicate) -> str:
    which = "last" if node.order.descending else "first"
    return f"keeps the {which} row of each window{per(node.window.without(node.partition))}"


# ------------------------------------------------------------------------------------------ many rows


@sentence.register
def _(node: nodes.Aggregate) -> str:
    return f"aggregates the rows{per(node.keys)}" if node.keys else "aggregates all rows to one"


@sentence.register
def _(node: nodes.UpsertAggregate) -> str:
    return f"keeps the totals{per(node.keys)} in Spark's own aggregate, and emits those of the rows of a micro-batch"


@sentence.register
def _(node: nodes.Distinct) -> str:
    return "keeps each different row once"


@sentence.register
def _(node: nodes.Sort) -> str:
    batch = " of each micro-batch" if isinstance(node, StreamSort) else ""
    return f"sorts the rows{batch}, {ordered(node.order)}"


@sentence.register
def _(node: nodes.TemporalSort) -> str:
    return f"keeps rows until the watermark has passed them, and emits them {ordered(node.order)}"


@sentence.register
def _(node: Rank) -> str:
    return f"numbers the rows{per(node.partition)}, {ordered(node.order)}"


@sentence.register
def _(node: OverPartials | OverAggregate) -> str:
    frames = [frame for frame, _ in node.frames] if isinstance(node, OverPartials) else node.frames
    which = "around it" if any(frame.following for frame in frames) else "before it"
    return f"aggregates for each row the rows {which}{per(node.partition)}, by {node.time}"


@sentence.register
def _(node: Deduplicate) -> str:
    which = "last" if node.order.descending else "first"
    return f"keeps the {which} row{per(node.partition)}, by {node.order.scalar}"


@sentence.register
def _(node: changelogs.ChangelogNormalize) -> str:
    return f"keeps the last row{per(node.key)}, and emits what each new one changes"


@sentence.register
def _(node: changelogs.FromChangelog) -> str:
    return f"takes the rows as changes, with their operation in {node.op}"


@sentence.register
def _(node: UpsertMaterialize) -> str:
    return f"takes the changes of a micro-batch together{per(node.keys)}: the row that comes, or that it goes"


@sentence.register(changelogs.ToChangelog)
@sentence.register(ToChangelog)
def _(node: changelogs.ToChangelog | ToChangelog) -> str:
    return f"makes a row of each change, with its operation in {node.op}"


@sentence.register
def _(node: AppliedChanges) -> str:
    return f"keeps the rows that remain after all changes of {node.table}"


@sentence.register
def _(node: GapFill) -> str:
    return f"adds the windows that have no rows{per(node.partition)}"


@sentence.register
def _(node: GridFill) -> str:
    return f"adds a row{per(node.partition)} at each full {duration(node.grid.size)}"


@sentence.register
def _(node: PatternMatch) -> str:
    return f"finds the pattern {node.pattern} in the rows{per(node.partition)}, by {node.time}"


# ------------------------------------------------------------------------------------------ joins


@sentence.register
def _(node: nodes.Join) -> str:
    return f"{joined(node.kind)}{where(node.conditions)}"


@sentence.register
def _(node: nodes.LookupJoin) -> str:
    alone = ", and keeps rows without one" if node.kind == "left" else ""
    return f"looks up the rows of the table{where(node.conditions)}, when a row comes{alone}"


@sentence.register
def _(node: WindowJoin) -> str:
    return f"{joined(node.kind)} of the same window{where((*node.pairs, *node.rest))}"


@sentence.register
def _(node: IntervalJoin) -> str:
    bounds = f"{node.left_time} {bound(node.low)} to {bound(node.high)} after {node.right_time}"
    return f"{joined(node.kind)} with {bounds}{where(node.pairs)}"


@sentence.register
def _(node: RegularJoin) -> str:
    kept = " and ".join(dict.fromkeys(map(duration, node.retention)))
    changes = "; emits what changes" if node.updating else ""
    return f"{joined(node.kind)}{where(node.pairs)}, of the rows of the last {kept}{changes}"


@sentence.register
def _(node: TemporalJoin) -> str:
    alone = ", and keeps rows without one" if node.kind == "left" else ""
    return f"joins each row to the version of the second input that was valid at its {node.left_time}{alone}"
