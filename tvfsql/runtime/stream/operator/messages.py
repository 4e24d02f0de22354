"""What an operator emits for a key group, and how it travels from the processor through Spark to `Unpack`.

All operators share one codec: a row of OUTPUT names the kind of message, and contains a body (an Arrow IPC stream) or a
report (a JSON object).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql import types as T

from tvfsql.runtime.arrow.batches import PIECE_BYTES, from_bytes, in_pieces, to_bytes
from tvfsql.runtime.arrow.columns import changes
from tvfsql.runtime.merge.slice_rows import SLICE


@dataclass(frozen=True)
class Fire:
    """Windows that fire: slices by key, and the first and the last window end. `window`: which of several they are of.

    The ends are epoch ms on the operator's clock, inclusive. `Unpack` makes the windows from the slices, so few rows
    travel, whatever the ratio of size to slide.
    """

    slices: pa.RecordBatch
    first_end: int
    last_end: int
    window: str = ""


@dataclass(frozen=True)
class Emit:
    """Rows to emit, in the operator's own layout: the result of a join, sessions, or changes of windows."""

    rows: pa.RecordBatch


@dataclass(frozen=True)
class Late:
    """Late rows to emit, in the operator's own layout."""

    rows: pa.RecordBatch


@dataclass(frozen=True)
class PassedLate:
    """Late rows as they leave the operator, in a column of structs: those of operators below, and rows that are late
    but have no window."""

    rows: pa.RecordBatch


@dataclass(frozen=True)
class Report:
    """What one micro-batch did to a key group. Times are epoch ms. None: does not apply to the operator.

    `late_right`: the late rows that came from the second input. `late_versions`: late rows that were not dropped.
    `adjusted`: rows that were late and count in the first open window. `rows_out`: the rows or windows that were
    emitted.
    `output_watermark`: all rows at or before it have been emitted. `newest_end`: the end of the last open window.
    `next_end`: that of the next one to fire, in event time. `fired_end`: the end of the oldest window that fired at its
    end.
    `open_ends`: the first ends of open windows, by number, which key groups share.
    `zone`: the time zone on whose clock the windows are.
    `due`: when the operator must be called even without rows. `channels`: the `ChannelState`s of its inputs as a JSON
    list.
    """

    rows_in: int
    late: int
    late_right: int
    late_versions: int
    adjusted: int
    rows_out: int
    watermark: int | None
    output_watermark: int | None
    newest_end: int | None
    fired_end: int | None
    due: int | None
    state_rows: int
    state_bytes: int
    open_slices: int | None
    channels: str | None = None
    zone: str | None = None
    open_ends: list[int] | None = None
    next_end: int | None = None


Output = Fire | Emit | Late | PassedLate | Report

# A report is text: Spark observes it as it is, while each metric of its own takes a millisecond of each micro-batch.
OUTPUT = T.StructType(
    [
        T.StructField("kind", T.StringType()),
        T.StructField("body", T.BinaryType()),
        T.StructField("report", T.StringType()),
    ]
)


def encoded(message: Output) -> Iterator[Row]:
    """A message as rows of OUTPUT, with bodies of bounded size."""
    kind = type(message).__name__
    match message:
        case Fire():
            bounds = {"first_end": str(message.first_end), "last_end": str(message.last_end), "window": message.window}
            for slices in _by_whole_keys(message.slices):
                yield Row(kind=kind, body=to_bytes(slices.replace_schema_metadata(bounds)), report=None)
        case Emit() | Late() | PassedLate():
            for rows in in_pieces(message.rows):
                yield Row(kind=kind, body=to_bytes(rows), report=None)
        case Report():
            yield Row(kind=kind, body=None, report=json.dumps(vars(message)))


def _by_whole_keys(slices: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Slices by key, in pieces of about PIECE_BYTES. All slices of a key are needed to make its windows."""
    parts = -(-slices.nbytes // PIECE_BYTES)
    if parts <= 1:
        yield slices
        return
    new_key = np.zeros(slices.num_rows, dtype=np.bool_)
    for column in slices.columns[: slices.schema.names.index(SLICE)]:
        new_key |= changes(column)
    heads = np.append(np.flatnonzero(new_key), slices.num_rows)
    wanted = np.arange(1, parts) * slices.num_rows // parts
    cuts = heads[np.searchsorted(heads, wanted)].tolist()
    for start, stop in pairwise(sorted({0, *cuts, slices.num_rows})):
        yield slices.slice(start, stop - start)


def decoded(batch: pa.RecordBatch) -> Iterator[Output]:
    """The messages in an Arrow batch of rows of OUTPUT."""
    for kind, body, report in zip(*(batch.column(name) for name in ("kind", "body", "report")), strict=True):
        match kind.as_py():
            case "Fire":
                slices = from_bytes(body.as_buffer())
                bounds = slices.schema.metadata or {}
                first, last = (int(bounds[name]) for name in (b"first_end", b"last_end"))
                yield Fire(slices.replace_schema_metadata(None), first, last, bounds[b"window"].decode())
            case "Emit":
                yield Emit(from_bytes(body.as_buffer()))
            case "Late":
                yield Late(from_bytes(body.as_buffer()))
            case "PassedLate":
                yield PassedLate(from_bytes(body.as_buffer()))
            case "Report":
                yield Report(**json.loads(report.as_py()))
            case unknown:
                raise AssertionError(f"unknown kind of message: {unknown}")
