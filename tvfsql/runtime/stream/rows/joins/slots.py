"""The rows of an interval join in state: slots of time for each side, and which of their rows have had a partner.

A slot is not written again before it is dropped: the key and the time of rows that have had a partner are appended
beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Mask
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.rows.joins.pairing import Pairing
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore

MET = "$met"  # whether a row has had a partner


@dataclass(frozen=True)
class JoinSlots:
    """The slots of a key group, which are `width` ms wide."""

    pairing: Pairing
    store: ChunkStore
    width: int

    def __contains__(self, slot: Key) -> bool:
        return slot in self.store

    def rows(self, slot: Key) -> pa.RecordBatch:
        return joined(self.store.read(slot))

    def near(self, rows: pa.RecordBatch, side: int) -> list[Key]:
        """The slots of the other side that can contain partners of the rows."""
        times, width = self.pairing.micros(rows, side), self.width * 1000
        low, high = self.pairing.partners(side)
        first, last = (int(times.min()) + low) // width, (int(times.max()) + high) // width
        slots = (key for key in self.store.keys(Kind.JOIN_SLOT) if key.level == 1 - side)
        return sorted(slot for slot in slots if first <= slot.number <= last)

    def add(self, rows: pa.RecordBatch, side: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Put new rows into their slots. Returns the number of each slot, with its new rows."""
        numbers = self.pairing.micros(rows, side) // 1000 // self.width
        order = sort_order([numbers])
        numbers, rows = numbers[order], rows.take(pa.array(order))
        heads = np.flatnonzero(changes_in(numbers))
        stops = np.append(heads[1:], len(numbers))
        for start, stop in zip(heads.tolist(), stops.tolist(), strict=True):
            number, part = int(numbers[start]), rows.slice(start, stop - start)
            self.store.append(slot_of(side, number), part)
            yield number, part

    def note_met(self, slot: Key, stored: pa.RecordBatch, partners: Mask) -> Mask:
        """Remember which rows in state have had a partner, on sides where that decides what is emitted. Returns those
        that had none before."""
        if not (slot.level in self.pairing.preserved or self.pairing.of_left) or not partners.any():
            return np.zeros(stored.num_rows, dtype=np.bool_)
        fresh: Mask = partners & ~self.met_in(slot, stored)
        if fresh.any():
            self.store.append(_met_of(slot), self._bare(stored.filter(pa.array(fresh)), slot.level))
        return fresh

    def met_in(self, slot: Key, stored: pa.RecordBatch) -> Mask:
        """Which rows of a slot have had a partner: when they came, or since. Those of one key and time have the same
        partners."""
        noted = self.store.read(_met_of(slot))
        if not noted:
            return met(stored)
        every = joined([each.select(self.pairing.identity(slot.level)) for each in (stored, *noted)])
        codes = key_codes(every.columns, every.num_rows)
        since: Mask = np.isin(codes[: stored.num_rows], codes[stored.num_rows :])
        return met(stored) | since

    def drop(self, slot: Key) -> None:
        self.store.drop(slot)
        if (noted := _met_of(slot)) in self.store:
            self.store.drop(noted)

    def _bare(self, rows: pa.RecordBatch, side: int) -> pa.RecordBatch:
        """Rows in state without what their partners do not depend on."""
        kept = {*self.pairing.identity(side), MET}
        columns = [
            column if name in kept else pa.nulls(rows.num_rows, column.type)
            for name, column in zip(rows.schema.names, rows.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


def slot_of(side: int, number: int) -> Key:
    return Key(Kind.JOIN_SLOT, number, level=side)


def met(rows: pa.RecordBatch) -> Mask:
    """The column MET."""
    values: Mask = rows.column(MET).to_numpy(zero_copy_only=False)
    return values


def with_met(rows: pa.RecordBatch, had_partner: Mask) -> pa.RecordBatch:
    """Rows with the column MET, without HASH."""
    own = [name for name in rows.schema.names if name not in (HASH, MET)]
    arrays = [*(rows.column(name) for name in own), pa.array(had_partner)]
    return pa.RecordBatch.from_arrays(arrays, names=[*own, MET])


def _met_of(slot: Key) -> Key:
    return Key(Kind.JOIN_MET, slot.number, level=slot.level)
