"""Behind a window operator: the rows that its payloads stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tvfsql.plan.window import Sliced
from tvfsql.runtime.stream.control import CHANNEL, CONTROL
from tvfsql.runtime.stream.fire import Fire
from tvfsql.runtime.stream.given import GivenWindows
from tvfsql.runtime.stream.late import LATE, missed
from tvfsql.runtime.stream.said import SOURCE
from tvfsql.runtime.stream.sessions import SessionWindows
from tvfsql.runtime.stream.slice_rows import SliceRows, from_bytes
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.valve import TICK


@dataclass(frozen=True)
class SliceWindows:
    """How windows are made of the slices that leave a key group."""

    window: Sliced
    layout: SliceRows
    rows: str

    def windows(self, fired: Any, first: int, last: int) -> Iterator[Any]:
        return Fire(fired, first, last).windows(Span(self.window), self.layout, self.rows)

    def missed(self, late: Any, zone: str) -> Any:
        return missed(Span(self.window), late, zone)


@dataclass(frozen=True)
class Unpack:
    """What `mapInArrow` runs behind the processor: the windows of each fire, as batches of bounded size.

    `schema` is the Arrow schema of what comes out, if that is more than windows: with `$control` among its columns the
    operator's watermark follows in control rows, with `$late` each late row follows, once per window that it missed.
    """

    made: SliceWindows | SessionWindows | GivenWindows
    schema: Any = None
    zone: str = ""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        names = () if self.schema is None else self.schema.names
        for batch in batches:
            columns = (batch.column(name) for name in ("payload", "first", "last"))
            for payload, first, last in zip(*columns, strict=True):
                if payload.is_valid:
                    fired = from_bytes(payload.as_buffer())
                    for made in self.made.windows(fired, first.as_py(), last.as_py()):
                        yield made if self.schema is None else self._wide(made.num_rows, made.columns)
            if LATE in names:
                for late in batch.column("missed").drop_null():
                    rows = self.made.missed(from_bytes(late.as_buffer()), self.zone)
                    yield self._wide(len(rows), [], {LATE: rows})
            if CONTROL in names and len(watermarks := handed_on(batch, "watermark")):
                said = {CONTROL: watermarks, CHANNEL: pa.array([SOURCE] * len(watermarks))}
                yield self._wide(len(watermarks), [], said)

    def _wide(self, rows: int, first: list[Any], named: Mapping[str, Any] | None = None) -> Any:
        """Rows with all columns: the first ones, and some by name; the others are NULL."""
        found = dict(zip(self.schema.names, first, strict=False)) | dict(named or {})
        columns = [found.get(name, pa.nulls(rows)).cast(self.schema.field(name).type) for name in self.schema.names]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def handed_on(batch: Any, name: str) -> Any:
    """What the key groups say to the operators above: the watermark in that column, or a TICK if there is none yet."""
    return batch.column(name).filter(batch.column("rows_in").is_valid()).fill_null(TICK)
