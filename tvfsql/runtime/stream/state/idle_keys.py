"""Keys of rows in buckets that are forgotten when they had no rows for a retention, in processing time; and rows that
are forgotten a retention after they came.

A row in state says when its key last had rows. A key is forgotten exactly when the retention has passed, whatever the
borders of micro-batches: who reads its rows leaves those out that are idle. All buckets are looked through about once
in a retention, so that their place becomes free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.arrow.columns import Mask
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.hash_buckets import HashBuckets, hashes_of

TOUCHED = "$touched"  # in kept rows: the processing time of the key's last rows, in epoch ms
UNTIL = "$until"  # in kept rows: the processing time at which a row is forgotten, in epoch ms


def touched(rows: pa.RecordBatch, now: int) -> pa.RecordBatch:
    """The rows with the time at which their keys have rows."""
    return rows.append_column(TOUCHED, pa.array(np.full(rows.num_rows, now, dtype=np.int64)))


@dataclass(frozen=True)
class IdleKeys:
    """The idle keys of some buckets in a micro-batch at time `now`. `retention` is in ms; 0: no key is ever idle.
    `place` tells the buckets of one store apart."""

    buckets: HashBuckets
    retention: int
    now: int
    place: int = 0

    def among(self, rows: pa.RecordBatch) -> Mask:
        """Which rows in state belong to idle keys."""
        if not self.retention:
            return np.zeros(rows.num_rows, dtype=np.bool_)
        idle: Mask = rows.column(TOUCHED).to_numpy() + self.retention <= self.now
        return idle

    def forget(self) -> None:
        """Drop the idle keys from state, about once in the retention."""
        store = self.buckets.store
        known = sorted(key for key in store.keys(Kind.LOOKED_THROUGH) if key.level == self.place)
        if not self.retention or (known and self.now < known[-1].number + self.retention):
            return
        for key in known:
            store.drop(key)
        store.mark(Key(Kind.LOOKED_THROUGH, self.now, self.place))
        for number in self.buckets.every() if known else []:
            stored = self.buckets.read([number])
            rows = joined(stored)
            idle = self.among(rows)
            if idle.any():
                self.buckets.update(rows.filter(pa.array(~idle)), np.unique(hashes_of(rows)[idle]), stored)


def kept_until(rows: pa.RecordBatch, until: int) -> pa.RecordBatch:
    """The rows with the time at which they are forgotten."""
    return rows.append_column(UNTIL, pa.array(np.full(rows.num_rows, until, dtype=np.int64)))


class ExpiredRows(IdleKeys):
    """Rows that are forgotten one by one, each at its own time, whatever the retention of later ones is."""

    def among(self, rows: pa.RecordBatch) -> Mask:
        expired: Mask = rows.column(UNTIL).to_numpy() <= self.now
        return expired
