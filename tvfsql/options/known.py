"""The options that have a meaning: Flink's names where Flink has one, `tvfsql.` otherwise."""

from __future__ import annotations

from typing import Any, TypeVar

from tvfsql.options.option import Option
from tvfsql.options.readers import Choice, Reader, count, count_or_unset, duration, flag, names, start, text_of, zone
from tvfsql.options.words import (
    CountDistinct,
    LateRecords,
    LateResults,
    MissingFiles,
    Mode,
    NullTimes,
    Phases,
    ResultMode,
    Steps,
)
from tvfsql.plan import stream
from tvfsql.plan.start_mode import USUAL
from tvfsql.plan.values.times import duration as spelled

T = TypeVar("T")
KNOWN: dict[str, Option[Any]] = {}


def _known(key: str, read: Reader[T], default: str, doc: str) -> Option[T]:
    option = Option(key, read, default, doc)
    KNOWN[key] = option
    return option


RUNTIME_MODE = _known(
    "execution.runtime-mode",
    Choice(Mode),
    "automatic",
    "batch, streaming, or automatic: streaming only if a table is unbounded",
)
ZONE = _known("table.local-time-zone", zone, "UTC", "the time zone whose wall clock windows over TIMESTAMP_LTZ follow")
INTERVAL = _known(
    "execution.checkpointing.interval",
    duration,
    "0 ms",
    "the time between two micro-batches of an unbounded stream; 0: as soon as there are rows",
)
PACE = _known(
    "tvfsql.pace",
    duration,
    spelled(stream.PACE),
    "the time between two micro-batches of an unbounded stream, unless a window ends before; 0: as soon as there are "
    "rows",
)
PACE_BETWEEN_WINDOWS = _known(
    "tvfsql.pace.between-windows",
    duration,
    spelled(stream.PACE_BETWEEN_WINDOWS),
    "the same if rows only leave the stream when windows end",
)
REAL_TIME = _known(
    "tvfsql.real-time",
    flag,
    "false",
    "whether INSERTs from Kafka into Kafka without state run in Spark's real-time mode, which writes each row at once",
)
START_MODE = _known(
    "tvfsql.start-mode",
    start,
    str(USUAL),
    "where a stream starts: at its checkpoint, or at a place in its sources, in the words of Flink's START_MODE",
)
FINAL = _known(
    "tvfsql.final",
    flag,
    "false",
    "whether the end of a run over a checkpoint is the end of its tables: all windows fire, and no rows may follow",
)
NAME = _known("pipeline.name", text_of, "", "the name of a stream's query in Spark")
PHASES = _known(
    "table.optimizer.agg-phase-strategy",
    Choice(Phases),
    "AUTO",
    "whether windows are made from slices (two phases) or from a copy of each row per window (one)",
)
SLICES_IN_PYTHON = _known(
    "tvfsql.batch.slices-in-python",
    flag,
    "false",
    "whether batch makes the slices of keys in Python, and shuffles once instead of twice: faster where few rows share "
    "a key and a slice",
)
MAX_COPIES = _known(
    "tvfsql.window.max-copies",
    count,
    "100",
    "how many copies of each row an aggregate may make that cannot be merged from slices",
)
APPROX_COUNT_DISTINCT = _known(
    "tvfsql.approx-count-distinct",
    Choice(CountDistinct),
    "exact",
    "how APPROX_COUNT_DISTINCT counts: exact, or by a HyperLogLog sketch of bounded size (hll)",
)
DUPLICATES = _known(
    "table.exec.source.cdc-events-duplicate",
    flag,
    "false",
    "whether a changelog says some changes twice: each row then replaces the one with its PRIMARY KEY",
)
NULL_TIMES = _known(
    "table.exec.source.rowtime-null-handling",
    Choice(NullTimes),
    "FAIL",
    "what happens to a NULL in the time column: fail the query, drop the row, or keep it out of windows",
)
IDLE_TIMEOUT = _known(
    "table.exec.source.idle-timeout",
    duration,
    "0 ms",
    "the time without rows after which a channel is idle and no longer holds windows back; 0: never",
)
IDLE_ADVANCE = _known(
    "tvfsql.source.lossy-idle-advance",
    flag,
    "false",
    "whether open windows fire when all sources of a stream are idle, and the rest of their rows is then late; "
    "false: they wait, as in Flink",
)
MISSING_FILES = _known(
    "tvfsql.source.missing-files",
    Choice(MissingFiles),
    "FAIL",
    "whether a file that is deleted before a stream reads it is an error or is counted",
)
STATE_TTL = _known(
    "table.exec.state.ttl",
    duration,
    "0 ms",
    "the time without rows after which streams forget a key; 0: never. Event time for final rows of deduplication and "
    "OVER, processing time for groups, Top-N and joins without a window or time bounds",
)
DISTINCT_SPLIT = _known(
    "table.optimizer.distinct-agg.split.enabled",
    flag,
    "false",
    "whether aggregates with DISTINCT are computed in buckets of values first, so that tasks share a hot key",
)
BUCKETS = _known(
    "table.optimizer.distinct-agg.split.bucket-num", count, "1024", "the number of buckets of DISTINCT values"
)
REUSE = _known(
    "table.optimizer.reuse-sub-plan-enabled",
    flag,
    "true",
    "whether parts that several INSERTs of a statement set share, or that a batch query reads twice, are computed once",
)
KEY_GROUPS = _known(
    "pipeline.max-parallelism",
    count_or_unset,
    "-1",
    "the number of key groups of a new stream, which limits its parallelism; -1: by cores. Its checkpoint keeps it",
)
STEPS = _known(
    "tvfsql.cumulate.emit",
    Choice(Steps),
    "all",
    "which steps CUMULATE emits: all, or those whose results differ from the step before",
)
EARLY_FIRE = _known(
    "table.exec.emit.early-fire.enabled",
    flag,
    "false",
    "whether windows of a stream emit results before their end",
)
EARLY_DELAY = _known(
    "table.exec.emit.early-fire.delay",
    duration,
    "0 ms",
    "the delay of early results after a row; 0: in its micro-batch",
)
LATE_FIRE = _known(
    "table.exec.emit.late-fire.enabled",
    flag,
    "false",
    "whether late rows that are allowed are collected and emitted together; false: in each micro-batch",
)
LATE_DELAY = _known(
    "table.exec.emit.late-fire.delay", duration, "0 ms", "the delay of collected late rows after the first of them"
)
LATENESS = _known(
    "table.exec.emit.allow-lateness",
    duration,
    "0 ms",
    "how long after its end, in event time, a window of a stream accepts rows",
)
LATE_RESULTS = _known(
    "tvfsql.emit.late",
    Choice(LateResults),
    "accumulate",
    "what a window emits when it fires again: changes of its whole result, or with purge only what arrived since",
)
LATE_RECORDS = _known(
    "tvfsql.late",
    Choice(LateRecords),
    "drop",
    "what windows of a stream do with rows that are late for all of them: drop them, or count them in the first open"
    " window",
)
LATE_OUTPUT = _known(
    "tvfsql.late-output", text_of, "", "a table for rows of a stream that are late for all their windows"
)
DEAD_LETTER = _known(
    "tvfsql.dead-letter",
    text_of,
    "",
    "a table for rows and messages that streams cannot read; without it they stop the query",
)
WAREHOUSE = _known(
    "tvfsql.warehouse", text_of, "", "the folder of tables without a connector; by default a temporary one"
)
RESULT_MODE = _known(
    "sql-client.execution.result-mode",
    Choice(ResultMode),
    "TABLE",
    "how the shell shows a stream: a table that changes in place, its changes, or one table after the other",
)
MOST_ROWS = _known(
    "sql-client.execution.max-table-result.rows",
    count,
    "100000",
    "how many rows of a stream the shell keeps; it drops the oldest first",
)
DISABLED_RULES = _known("tvfsql.rules.disabled", names, "", "planner rules that must not fire, separated by commas")
