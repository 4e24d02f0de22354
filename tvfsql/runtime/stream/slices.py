"""Windows of a stream, made of slices or of intervals, as DataFrame operations: what emitted code calls. Source:
DESIGN 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from tvfsql.options import KEY_GROUPS
from tvfsql.plan.firing import Firing
from tvfsql.plan.window import Session, Window
from tvfsql.runtime.expressions import column_of
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.kernel import BEFORE
from tvfsql.runtime.merge import window_schema
from tvfsql.runtime.output import OP
from tvfsql.runtime.partials import Merge, are_kinds
from tvfsql.runtime.stream.control import CHANNEL, CONTROL, WATERMARK, with_now
from tvfsql.runtime.stream.description import Description
from tvfsql.runtime.stream.given import GivenWindows
from tvfsql.runtime.stream.groups import key_group_labels
from tvfsql.runtime.stream.late import LATE, WINDOW, LateRows
from tvfsql.runtime.stream.local import LocalIntervals, LocalSlices
from tvfsql.runtime.stream.processor import (
    OUT,
    FiringWindowProcessor,
    SessionWindowProcessor,
    SlicingWindowProcessor,
    WindowProcessor,
)
from tvfsql.runtime.stream.sessions import SessionWindows
from tvfsql.runtime.stream.slice_rows import SliceRows
from tvfsql.runtime.stream.unpack import SliceWindows, Unpack
from tvfsql.runtime.windows import local_time

COUNTERS = "tvfsql"  # the name under which a query's progress shows them
ROWS = "tvfsql.rows"  # metadata of a payload column: the keys and partials of the rows that went in


def local_slices(
    rows: DataFrame,
    window: Window,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    key_groups: int = KEY_GROUPS,
    on_event: bool = False,
    late: bool = False,
    zone: str = "",
) -> DataFrame:
    """LocalWindowAggregate: the rows of a micro-batch merged by key and slice, in payloads by key group.

    In: `keys`, `time` (timestamp_ntz; rows where it is NULL are in no slice), `$watermark`, `$control` and `$channel`
    as `with_watermarks` makes them, and for each entry of `merges` the partial of a single row: sum, min, max:
    the value (of a count 1 or NULL); concat, distinct: an array of one; moments: struct(1, x, 0); a user's aggregate:
    an array of one struct, of its arguments.
    Out: key_group (int) and a message to it: seq (bigint), payload (binary) or channel (string) and watermark
    (bigint, epoch ms), and now (bigint, epoch ms: the time of the micro-batch). With `on_event` a watermark counts from
    the row after it, in the order of the source, whose rows then pass through one task. Else it counts from the next
    micro-batch. With `late` there is one more column, `$late` (an array of one struct): the row, should it come too
    late. With `zone` windows lie on its wall clock: watermarks are instants, and so is `time` if it is a timestamp. A
    SESSION has intervals instead of slices.
    The number of key groups bounds the parallelism, and belongs to the state: it must not change over a checkpoint.
    """
    labels = key_group_labels(key_groups if keys else 1)
    partials = (*merges, LATE) if late else tuple(merges)
    at = F.pmod(F.xxhash64(*map(column_of, keys)), F.lit(key_groups)) if keys else F.lit(0)
    group = F.element_at(F.array(*map(F.lit, labels)), at.cast("int") + 1).cast("int")
    is_instant = rows.schema[time].dataType == T.TimestampType()
    clock = local_time(time, zone) if zone and is_instant else column_of(time)
    marks = map(column_of, (WATERMARK, CONTROL, CHANNEL))
    chosen = rows.select(*map(column_of, keys), clock, *marks, group, *map(column_of, partials))
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = chosen.toDF(*map(str, range(len(chosen.columns))))
    if on_event:
        numbered = numbered.coalesce(1)
    local: LocalSlices | LocalIntervals
    if isinstance(window, Session):
        of_sessions = Intervals(len(keys), tuple(merges.items()), window.gap, window.limit)
        sent = (LateRows(of_sessions).wide if late else of_sessions).kept
        local = LocalIntervals(window, sent, labels, on_event, zone)
    else:
        of_slices = SliceRows(len(keys), tuple(merges.items()))
        local = LocalSlices(window, LateRows(of_slices).wide if late else of_slices, labels, on_event, zone)
    types = rows.select(*map(column_of, (*keys, *partials))).schema
    payload = T.StructField("payload", T.BinaryType(), metadata={ROWS: nullable_type(types.jsonValue())})
    parts = [
        ("key_group", T.IntegerType()),
        ("seq", T.LongType()),
        ("channel", T.StringType()),
        ("watermark", T.LongType()),
    ]
    return with_now(numbered.mapInArrow(local, T.StructType([*(T.StructField(*part) for part in parts), payload])))


def merge_slice_stream(
    slices: DataFrame,
    window: Window,
    *,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    rows: str,
    name: str = COUNTERS,
    marks: bool = False,
    late: bool = False,
    zone: str = "",
    inputs: Sequence[str] = ("",),
    firing: Firing | None = None,
    proctime: bool = False,
) -> DataFrame:
    """Exchange and GlobalWindowAggregate: the windows of what `local_slices` gives, each when its end has passed.

    In: what `local_slices` gives. `rows` is one of the partials, a sum: how many rows of the input a slice stands for.
    Out: keys, window_start, window_end (timestamp_ntz), merged partials, as `merge_slices` gives them. All rows of a
    window leave in one micro-batch, the one that brought the watermark. Late rows are dropped (semantics.md b.3).
    With `marks` control rows follow that say the operator's watermark to the next one, in the columns that
    `with_watermarks` adds. With `late` late rows follow, in the column `$late` (a struct of the row, window_start,
    window_end and window_time), once per window that they missed; all else is NULL. What happened is in the query's
    progress, as observed metrics under `name`: rowsIn, numLateRecordsDropped, windowsOut, watermark and newestWindow
    (epoch ms; the end of the last window that is open), stateRows, stateBytes, openSlices (the most of one key group),
    due (epoch ms: when the operator is to be called though no rows come).
    With `zone` windows lie on its wall clock; watermarks and window_time are instants. `inputs` are the names that
    channels begin with where `union_streams` has put streams together: windows wait for each of them from the start.
    With `firing` windows also fire before their end and after it, and give out increments, or changes: then `before` (a
    struct of partials) and `$op` (string: +I, -U, +U) follow the partials, as `GivenWindows` makes them.
    By processing time (`proctime`) they wait for none: the watermark is the micro-batch's time, and no row is late.
    """
    if merges.get(rows) != "sum" or not are_kinds(merges.values(), but="running"):
        raise AssertionError(f"{rows} must be a sum, and all kinds ones that can be merged again: {dict(merges)}")
    about = [*([f"emit=[{firing.label}]"] if firing else []), *(["time=[PROCTIME]"] if proctime else [])]
    description = Description("GlobalWindowAggregate", tuple(keys), window, ", ".join(about), zone, tuple(inputs))
    processor: WindowProcessor
    made: SliceWindows | SessionWindows | GivenWindows
    if isinstance(window, Session):
        of_sessions = Intervals(len(keys), tuple(merges.items()), window.gap, window.limit)
        processor = SessionWindowProcessor(
            description, of_sessions, rows, LateRows(of_sessions) if late else None, zone, inputs, proctime
        )
        made = SessionWindows(of_sessions)
    else:
        of_slices = SliceRows(len(keys), tuple(merges.items()))
        kept = LateRows(of_slices) if late else None
        of_windows = (description, window, of_slices, rows, kept, zone, inputs, proctime)
        processor = FiringWindowProcessor(firing, *of_windows) if firing else SlicingWindowProcessor(*of_windows)
        made = GivenWindows(window, of_slices, firing.purge) if firing else SliceWindows(window, of_slices, rows)
    fires = slices.groupBy("key_group").transformWithState(
        statefulProcessor=processor,
        outputStructType=OUT,
        outputMode="append",
        timeMode="None",
    )
    types = T.StructType.fromJson(slices.schema["payload"].metadata[ROWS])
    schema = window_schema(types, window, keys, merges)
    if firing and not firing.purge:
        schema = schema.add(BEFORE, T.StructType(schema.fields[len(keys) + 2 :])).add(OP, T.StringType())
    if marks:
        schema = schema.add(WATERMARK, T.TimestampNTZType()).add(CONTROL, T.LongType()).add(CHANNEL, T.StringType())
    if late:
        row = types[LATE].dataType
        assert isinstance(row, T.ArrayType) and isinstance(row.elementType, T.StructType), row
        clocks = (T.TimestampNTZType(), T.TimestampNTZType(), T.TimestampType() if zone else T.TimestampNTZType())
        window_columns = [T.StructField(part, clock) for part, clock in zip(WINDOW, clocks, strict=True)]
        schema = schema.add(LATE, T.StructType([*row.elementType.fields, *window_columns]))
    unpack = Unpack(made, to_arrow_schema(schema, timezone="UTC") if marks or late else None, zone)
    return fires.observe(name, *counters()).mapInArrow(unpack, schema)


# what emitted code calls them where windows are sessions
local_sessions, merge_session_stream = local_slices, merge_slice_stream


def nullable_type(kind: Any) -> Any:
    """A type of Spark's, as JSON, in which anything may be NULL: as `with_nulls` makes the columns."""
    if isinstance(kind, list):
        return [nullable_type(part) for part in kind]
    if not isinstance(kind, dict):
        return kind
    changed = dict.fromkeys({"nullable", "containsNull"} & kind.keys(), True)
    return {name: part if name == "metadata" else nullable_type(part) for name, part in kind.items()} | changed


def counters() -> list[Column]:
    sums = {
        "numLateRecordsDropped": "late",
        "rowsIn": "rows_in",
        "windowsOut": "windows",
        "stateRows": "state_rows",
        "stateBytes": "state_bytes",
    }
    most = {"watermark": "watermark", "newestWindow": "newest", "openSlices": "open_slices"}
    return [
        *(F.sum(of).alias(name) for name, of in sums.items()),
        *(F.max(of).alias(name) for name, of in most.items()),
        F.min("due").alias("due"),
    ]
