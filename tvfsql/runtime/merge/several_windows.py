"""Several windows of the same slices: each slice is read once, and becomes a part of one slice of each window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from tvfsql.plan.tables.internal_columns import SLICE_END, WINDOW_NAME
from tvfsql.plan.window import Cumulate, Hop, Several, Tumble, of_slices
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.merge.kernel import TIMESTAMP, Carried, Feed, SliceKernel
from tvfsql.runtime.merge.partials import Merge


def kernel_of(
    window: Tumble | Hop | Cumulate | Several, keys: tuple[str, ...], merges: tuple[tuple[str, Merge], ...], rows: str
) -> SliceKernel | SeveralKernels:
    """The function for `mapInArrow` that merges the slices of each key to windows."""
    if isinstance(window, Several):
        kernels = ((name, SliceKernel(of_slices(one), keys, merges, rows)) for name, one in window.windows)
        return SeveralKernels(tuple(kernels))
    return SliceKernel(of_slices(window), keys, merges, rows)


@dataclass(frozen=True)
class SeveralKernels:
    """In: what `SliceKernel` reads, with the slices of the window that has the shortest. Out: what it emits for each
    window, with the name of the window after the keys."""

    kernels: tuple[tuple[str, SliceKernel], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _, first = self.kernels[0]
        feed = Feed(batch.rename_columns(first.names) for batch in batches)
        carried = [Carried() for _ in self.kernels]
        while True:
            rows = max(first.chunk_rows, *(one.rows for one in carried))
            fresh = feed.take(rows, max(first.chunk_bytes, *(one.bytes for one in carried)))
            for at, (name, kernel) in enumerate(self.kernels):
                own = [_with_slices_of(kernel.window, batch) for batch in fresh]
                chunk = kernel.chunk(own, carried[at])
                if chunk is None:
                    continue
                for windows in chunk.windows():
                    yield with_name(windows, name, len(kernel.keys))
                if fresh:
                    carried[at] = chunk.carry()
            if not fresh:
                return


def with_name(windows: pa.RecordBatch, name: str, at: int) -> pa.RecordBatch:
    """The windows with their name after the keys, of which there are `at`."""
    columns, names = [*windows.columns], [*windows.schema.names]
    columns.insert(at, pa.repeat(pa.scalar(name, pa.string()), windows.num_rows))
    names.insert(at, WINDOW_NAME)
    return pa.RecordBatch.from_arrays(columns, names)


def _with_slices_of(window: Hop | Cumulate, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with the ends of the slices of one window, which contain their own."""
    at = batch.schema.names.index(SLICE_END)
    micros: Ints = batch.column(at).cast(TIMESTAMP).view(pa.int64()).to_numpy()
    width, offset = window.slice_size * 1000, window.offset * 1000
    ends = offset - (offset - micros) // width * width
    return batch.set_column(at, SLICE_END, pa.array(ends).view(TIMESTAMP))
