"""GlobalWindowAggregate of a stream: the shell between Spark's state and `Windows`, which does the work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tvfsql.plan.window import Window
from tvfsql.runtime.stream.fire import Fire
from tvfsql.runtime.stream.local import larger
from tvfsql.runtime.stream.slice_rows import SliceRows, from_bytes, to_bytes
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.store import ChunkKey, SliceStore
from tvfsql.runtime.stream.windows import Windows

# A row is a fire (payload, first, last) or what a micro-batch did to a key group (the rest).
OUT = (
    "payload BINARY, first BIGINT, last BIGINT, rows_in BIGINT, late BIGINT, windows BIGINT, watermark BIGINT,"
    " state_rows BIGINT, state_bytes BIGINT, open_slices BIGINT"
)
_NOTHING = dict.fromkeys(field.split()[0] for field in OUT.split(","))


class SlicingWindowProcessor(StatefulProcessor):
    """For each key group: its slices in state, the windows that fire, and what that came to.

    State: `chunks` maps (slice_end, level, chunk) to an Arrow IPC stream of (keys, slice, partials), where
    slice_end and the level are as in `SliceStore`, in slices; `index` holds the watermark and the list of chunks.
    A call costs 100-200 microseconds: their number depends on the slices that are touched, never on keys.
    """

    def __init__(self, window: Window, layout: SliceRows, rows: str) -> None:
        self.span, self.layout, self.rows = Span(window), layout, rows

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = SparkState(
            handle.getValueState("index", "watermark BIGINT, chunks BINARY"),
            handle.getMapState("chunks", "slice_end BIGINT, level INT, chunk INT", "data BINARY"),
        )

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        store = SliceStore(self.layout, self.state)
        windows = Windows(self.span, self.layout, self.rows, store)
        watermark: int | None = None
        payloads = []
        for row in rows:
            watermark = larger(watermark, row["watermark"])
            if row["payload"] is not None:
                payloads.append(from_bytes(row["payload"]))
        if payloads:
            windows.add(payloads)
        fire = windows.advance(watermark) if watermark is not None else None
        store.flush()
        if fire is not None:
            yield _row(payload=to_bytes(fire.rows), first=fire.first, last=fire.last)
        counts = windows.counts
        yield _row(
            rows_in=counts.rows_in,
            late=counts.late,
            windows=counts.windows,
            watermark=store.watermark,
            state_rows=store.rows,
            state_bytes=store.size,
            open_slices=sum(1 for _ in store.slices()),
        )

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class SparkState:
    """The state of the key group at hand."""

    value: Any
    chunks: Any

    def index(self) -> tuple[int | None, bytes] | None:
        found = self.value.get()
        return None if found is None else (found[0], bytes(found[1]))

    def set_index(self, watermark: int | None, chunks: bytes) -> None:
        self.value.update((watermark, chunks))

    def chunk(self, key: ChunkKey) -> bytes:
        return bytes(self.chunks.getValue(key)[0])

    def set_chunk(self, key: ChunkKey, data: bytes) -> None:
        self.chunks.updateValue(key, (data,))

    def remove_chunk(self, key: ChunkKey) -> None:
        self.chunks.removeKey(key)


@dataclass(frozen=True)
class Unpack:
    """What `mapInArrow` runs behind the processor: the windows of each fire, as batches of bounded size."""

    window: Window
    layout: SliceRows
    rows: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        span = Span(self.window)
        for batch in batches:
            columns = (batch.column(name) for name in ("payload", "first", "last"))
            for payload, first, last in zip(*columns, strict=True):
                if payload.is_valid:
                    fire = Fire(from_bytes(payload.as_buffer()), first.as_py(), last.as_py())
                    yield from fire.windows(span, self.layout, self.rows)


def _row(**values: Any) -> Row:
    return Row(**(_NOTHING | values))
