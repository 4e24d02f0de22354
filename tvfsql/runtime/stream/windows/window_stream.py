"""Window aggregates of a stream as DataFrame operations, for emitted code. Source: architecture.md#streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.stream import StreamContext, StreamOptions
from tvfsql.plan.tables.internal_columns import BEFORE, CHANNEL, LATE, OP
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Endless, Session, Several, Window
from tvfsql.runtime.frames.assigned_windows import local_time
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.frames.window_schema import merged_type, neutral_partials, nullable_type, window_schema
from tvfsql.runtime.merge.partials import Merge, are_kinds
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.backfill import Read, with_history
from tvfsql.runtime.stream.exchange.late_rows import LATES, LateRows
from tvfsql.runtime.stream.exchange.local_phase import local_phase
from tvfsql.runtime.stream.exchange.local_windows import LocalIntervals, LocalSlices
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.windows.by_input import INPUT, input_of, with_input
from tvfsql.runtime.stream.windows.endless import EndlessOperator
from tvfsql.runtime.stream.windows.sessions.operator import SessionOperator
from tvfsql.runtime.stream.windows.several_operator import SeveralOperator
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

COUNTERS = "tvfsql"  # the name of the counters in a query's progress
ROWS = "tvfsql.rows"  # metadata of a payload column: the types of keys and partials


def local_slices(
    rows: DataFrame,
    window: Window,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    same: Mapping[str, str] | None = None,
    ones: Sequence[str] = (),
    history: Mapping[str, Read] | None = None,
    zeros: Sequence[str] = (),
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """LocalWindowAggregate: the rows of a micro-batch, merged by key and slice, in payloads by key group.

    In: `keys`, `time` (timestamp_ntz; a row with NULL is in no slice), the watermark columns of `with_watermarks`, and
    for each entry of `merges` the partial of a single row: for sum, min and max the value (for a count 1 or NULL); for
    concat and distinct an array of one value; for moments struct(1, x, 0); for a user's aggregate an array of one
    struct of its arguments. `same` names the column of a partial that has none of its own: that of another partial, or
    of a key. Partials in `ones` are 1 in each row. With `delay` `$watermark` is not read: the watermark of each row is
    its `time` minus so many ms.
    Out: key_group (int) and the messages to it: seq (bigint), payload (binary) or channel (string) and watermark
    (bigint, epoch ms), and now (bigint, epoch ms: the time of the micro-batch).
    With `on_event` a watermark counts from the next row on, in the order of the source, so all rows pass through one
    task; otherwise from the next micro-batch on. With `late` there is an input column `$late` with the row, in case it
    is late (`exchange.late_rows`). With `by_input` rows of different inputs, whose channels `union_streams` names, stay
    apart. With `zone` windows follow its wall clock: watermarks are instants, and so is
    `time` if it is a timestamp. `key_groups` is the maximum parallelism, and must not change over a checkpoint.
    `history` has functions that return rows that come before those of the stream, as `with_history` takes them,
    with the counts `zeros`.
    """
    context = StreamContext(**options)
    layout = SliceRows(len(keys), tuple(merges.items()))
    assert not isinstance(window, Session), window
    slices = window.slices if isinstance(window, Several) else window
    strategy = LocalSlices(LateRows(layout).wide if context.late else layout, slices)
    if history:
        rows = with_history(rows, history, window, time=time, keys=keys, merges=merges, zone=context.zone, zeros=zeros)
    if context.by_input:
        strategy = replace(strategy, layout=with_input(strategy.layout))
    return _local(rows, strategy, context, time, keys, merges, same or {}, ones)


def local_sessions(
    rows: DataFrame,
    window: Session,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    same: Mapping[str, str] | None = None,
    ones: Sequence[str] = (),
    history: Mapping[str, Read] | None = None,
    zeros: Sequence[str] = (),
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Like `local_slices`, but for sessions: payloads contain intervals instead of slices."""
    context = StreamContext(**options)
    layout = Intervals(len(keys), tuple(merges.items()), window.gap, window.limit)
    strategy = LocalIntervals((LateRows(layout).wide if context.late else layout).kept, context.on_event)
    if history:
        rows = with_history(rows, history, window, time=time, keys=keys, merges=merges, zone=context.zone, zeros=zeros)
    return _local(rows, strategy, context, time, keys, merges, same or {}, ones)


def _local(
    rows: DataFrame,
    strategy: LocalSlices | LocalIntervals,
    context: StreamContext,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    same: Mapping[str, str],
    ones: Sequence[str],
) -> DataFrame:
    partials = (*merges, LATES) if context.late else tuple(merges)
    is_instant = rows.schema[time].dataType == T.TimestampType()
    clock = local_time(time, context.zone) if context.zone and is_instant else column_of(time)
    if context.late:  # as a partial that is a list of rows
        passed = column_of(LATE).isNotNull()
        rows = rows.withColumn(LATES, F.when(passed, F.array(column_of(LATE))))
    of = {name: same.get(name, name) for name in partials if name not in ones}
    of_input = (INPUT,) if context.by_input else ()
    rows = rows.withColumn(INPUT, input_of(CHANNEL)) if context.by_input else rows
    grouped = (*keys, *of_input)
    sent = list(dict.fromkeys((*grouped, *of.values())))
    strategy = replace(strategy, places=tuple(sent.index(of[name]) if name in of else None for name in partials))
    columns = [*map(column_of, grouped), clock, *map(column_of, sent[len(grouped) :])]
    one = F.lit(1).cast("bigint")
    kinds = ((column_of(of[name]) if name in of else one).alias(name) for name in partials)
    metadata = {ROWS: nullable_type(rows.select(*map(column_of, keys), *kinds).schema.jsonValue())}
    return local_phase(rows, columns, strategy, context, keys=keys, metadata=metadata)


def merge_slice_stream(
    slices: DataFrame,
    window: Window,
    *,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    rows: str,
    name: str = COUNTERS,
    zeros: Sequence[str] = (),
    retention: int = 0,
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and GlobalWindowAggregate: emits each window when the watermark reaches its end.

    In: the output of `local_slices`. `rows` names one of the partials, a sum: the number of input rows in a slice.
    Out: keys, window_start, window_end (timestamp_ntz), merged partials, as in `merge_slices`. All rows of a window are
    emitted in one micro-batch, the one that brings the watermark. Late rows are dropped, or with `adjust` count in the
    first open window (semantics.md#late-rows).
    With `marks` control rows follow, which carry the operator's output watermark in the columns of `with_watermarks`.
    With `late` late rows follow as control rows, once per window that they missed: in the column `$late`, with the
    times of the window. So do the late rows of operators below. `marks` is set too then.
    With `firing` windows also fire before and after their end. They emit increments, or changes with two more columns
    after the partials: `before` (a struct of partials) and `$op` (+I, -U, +U).
    With `zone` windows follow its wall clock; watermarks and window_time are instants. `inputs` are the prefixes of the
    channels of each input, as `union_streams` makes them. Windows wait for each input from the start. With `by_input` a
    row is late by the watermark of its own input, as if each had an operator of its own before. With `proctime`
    the watermark is the time of the micro-batch, and no row is late. Rows in state that lack partials, which the query
    did not have before, have NULL there, or 0 for the counts in `zeros`.
    The query's progress has what each key group reports under `name`, as JSON, from which `progress.key_groups` makes
    the counters: rows in, late and emitted, the watermark, open windows, and the size of the state.
    With an endless window it is GroupAggregate: keys and merged partials of the groups of a micro-batch, with `firing`
    as changes, else each group once. A group without rows for `retention` ms of processing time is forgotten; 0: never.
    """
    context = StreamContext(**options)
    assert not isinstance(window, Session), window
    layout = SliceRows(len(keys), tuple(merges.items()))
    operator: SlicingOperator | SeveralOperator | EndlessOperator
    if isinstance(window, Endless):
        operator = EndlessOperator(layout, rows, context, retention=retention)
    elif isinstance(window, Several):
        operator = SeveralOperator(window, layout, rows, context)
    else:
        operator = SlicingOperator(window, layout, rows, context)
    return _merged(slices, operator, window, keys, merges, name, zeros)


def merge_session_stream(
    sessions: DataFrame,
    window: Session,
    *,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    rows: str,
    name: str = COUNTERS,
    zeros: Sequence[str] = (),
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Like `merge_slice_stream`, but for the output of `local_sessions`. With `firing` a session that has grown, or
    merged with others, replaces them: their `$op` is -D, and `before` NULL."""
    layout = Intervals(len(keys), tuple(merges.items()), window.gap, window.limit)
    operator = SessionOperator(layout, rows, StreamContext(**options))
    return _merged(sessions, operator, window, keys, merges, name, zeros)


def _merged(
    sent: DataFrame,
    operator: SlicingOperator | SeveralOperator | SessionOperator | EndlessOperator,
    window: Window,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    name: str,
    zeros: Sequence[str],
) -> DataFrame:
    rows = operator.rows
    if merges.get(rows) != "sum" or not are_kinds(merges.values()):
        raise AssertionError(f"{rows} must be a sum, and all merge kinds must exist: {dict(merges)}")
    context = operator.context
    inputs = tuple(context.inputs)
    if isinstance(operator, EndlessOperator):
        kept = f"retention=[{duration(operator.retention)}]" if operator.retention else ""
        description = Description("GroupAggregate", tuple(keys), about=kept, inputs=inputs)
    else:
        about = [f"emit=[{context.firing.label}]"] if context.firing else []
        about += ["time=[PROCTIME]"] if context.proctime else []
        about += [f"sides=[{len(inputs)}]"] if context.by_input else []
        description = Description("GlobalWindowAggregate", tuple(keys), window, ", ".join(about), context.zone, inputs)
    types = T.StructType.fromJson(sent.schema["payload"].metadata[ROWS])
    schema = window_schema(types, window, keys, merges)
    partials = [T.StructField(name, merged_type(kind, types[name].dataType)) for name, kind in merges.items()]
    operator = replace(operator, lacking=neutral_partials(T.StructType(partials), zeros))
    if context.emits_changes:
        schema = schema.add(BEFORE, T.StructType(schema.fields[-len(merges) :])).add(OP, T.StringType())
    lates: Any = types[LATES].dataType if context.late else None
    return apply_operator(sent, operator, description, schema, name=name, late=lates and lates.elementType)
