"""KLL sketches as bytes, in the format of Apache DataSketches, for whole columns at a time.

A sketch has levels of values; a value of level i stands for 2^i values. The format, in words of 4 bytes, little-endian:
sizes and flags, k, the number of values (2 words), the k of the least exact sketch that was merged with the number of
levels, the start of each level, the least and the greatest value, and the values, level by level: one word each for
FLOAT, else two. A sketch of one value is the first two words and the value; an empty one has only the first two words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from tvfsql.errors import DataError
from tvfsql.runtime.arrow.columns import Ints, Mask, presence

FAMILY, WIDTH = 15, 8  # KLL's number among the sketches; the least number of values of a level
EMPTY, SINGLE = 1, 4
HEAD = 5  # words before the starts of levels
DEEPEST = 30  # below it every level has the least number of values

Values = NDArray[Any]  # of float64, int64 or float32
Kind = type[np.float64] | type[np.int64] | type[np.float32]
Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Sketches:
    """A column of sketches. Those of the values `values[starts[i] : starts[i + 1]]`, of these `levels`, are of row i.

    `counts` are how many values a sketch stands for, `least` and `greatest` the extremes among them (arbitrary for an
    empty sketch), `k` its size; `least_k` is the least size of those merged into it. The levels of a row ascend.
    """

    values: Values
    levels: Ints
    starts: Ints
    counts: Ints
    least: Values
    greatest: Values
    k: Ints
    least_k: Ints

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def held(self) -> Ints:
        """How many values each sketch has."""
        return np.diff(self.starts)

    @property
    def row_of_value(self) -> Ints:
        return np.repeat(np.arange(len(self)), self.held)


def of_values(column: pa.Array, k: int) -> Sketches:
    """Values as sketches of one value each; NULL and NaN as empty ones."""
    present = presence(column)
    values: Values = column.fill_null(0).to_numpy() if present is not None else column.to_numpy()
    known = np.ones(len(values), dtype=np.bool_) if present is None else present
    if values.dtype.kind == "f":
        known = known & ~np.isnan(values)
    starts = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(known, out=starts[1:])
    sizes = np.full(len(values), k, dtype=np.int64)
    kept = values[known]
    return Sketches(kept, np.zeros(len(kept), np.int64), starts, known.astype(np.int64), values, values, sizes, sizes)


def decoded(column: pa.Array, name: str, dtype: Kind, k: int) -> Sketches:
    """Sketches from their bytes; NULL as an empty one of size `k`. Raises DataError for other bytes."""
    if pa.types.is_large_binary(column.type):
        offsets = np.frombuffer(column.buffers()[1], dtype=np.int64)
    else:
        offsets = np.frombuffer(column.buffers()[1], dtype=np.int32).astype(np.int64)
    offsets = offsets[column.offset : column.offset + len(column) + 1]
    data = column.buffers()[2]
    raw = np.frombuffer(b"" if data is None else data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    present = presence(column)
    if present is not None and (np.diff(offsets)[~present] > 0).any():
        return decoded(pa.array(column.to_pylist(), column.type), name, dtype, k)  # bytes where there is no value
    empty = np.diff(offsets) == 0
    if (offsets % 4).any() or (empty if present is None else empty & present).any():
        raise _no_sketch(name)
    words = np.ascontiguousarray(raw).view(np.uint32)
    return _Decoder(name, words, offsets // 4).sketches(dtype, k)


class _Decoder:
    def __init__(self, name: str, words: Words, offsets: Ints) -> None:
        self.name, self.words, self.at, self.sizes = name, words, offsets[:-1], np.diff(offsets)

    def sketches(self, dtype: Kind, k: int) -> Sketches:
        given, wide = self.sizes > 0, width(dtype)
        self._require(self.sizes[given] >= 2)
        first = np.full(len(self.at), FAMILY << 16 | EMPTY << 24, dtype=np.int64)
        first[given] = self.words[self.at[given]]
        flags = first >> 24
        self._require((first >> 16 & 255 == FAMILY) & (first >> 8 & 255 <= 2))
        size = np.full(len(self.at), k, dtype=np.int64)
        size[given] = self.words[self.at[given] + 1] & 0xFFFF
        single, full = flags & SINGLE > 0, flags & (SINGLE | EMPTY) == 0
        self._require(self.sizes[single] == 2 + wide)
        self._require(self.sizes[full] > HEAD + 2 * wide)
        counts = single.astype(np.int64)
        at = self.at[full]
        counts[full] = self._wide(at + 2, np.int64)
        least_k, levels = size.copy(), np.zeros(len(self.at), dtype=np.int64)
        least_k[full] = self.words[at + 4] & 0xFFFF
        levels[full] = self.words[at + 4] >> 16 & 255
        held = counts * single
        held[full] = (self.sizes[full] - HEAD - levels[full] - 2 * wide) // wide
        self._require(held[full] >= 1)
        starts = np.zeros(len(held) + 1, dtype=np.int64)
        np.cumsum(held, out=starts[1:])
        first_value = np.where(full, self.at + HEAD + levels + 2 * wide, self.at + 2)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], held)
        values = self._wide(np.repeat(first_value, held) + wide * within, dtype)
        ends = np.where(full, self.at + HEAD + levels, self.at + 2)
        some = held > 0
        least, greatest = np.zeros(len(held), dtype=dtype), np.zeros(len(held), dtype=dtype)
        least[some], greatest[some] = self._wide(ends[some], dtype), self._wide(ends[some] + wide * full[some], dtype)
        of_level = self._levels(full, levels, held)
        return Sketches(values, of_level, starts, counts, least, greatest, size, least_k)

    def _levels(self, full: Mask, levels: Ints, held: Ints) -> Ints:
        """The level of each value: those of a sketch are in the order of their levels."""
        rows = np.flatnonzero(full)
        number = np.repeat(rows, levels[rows])
        nth = np.arange(len(number)) - np.repeat(np.cumsum(levels[rows]) - levels[rows], levels[rows])
        begins = self.words[self.at[number] + HEAD + nth].astype(np.int64)
        first = begins[nth == 0]
        ends = np.append(begins[1:], 0)
        ends[np.cumsum(levels[rows]) - 1] = first + held[rows]
        self._require(ends >= begins)
        made = np.zeros(int(held.sum()), dtype=np.int64)
        starts = np.cumsum(held) - held
        sizes = ends - begins
        at = np.repeat(starts[number] + begins - np.repeat(first, levels[rows]), sizes)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        made[at + within] = np.repeat(nth, sizes)
        return made

    def _wide(self, at: Ints, dtype: Kind) -> Values:
        """Values of one word or two."""
        wide = width(dtype)
        if len(at) and int(at.max()) + wide > len(self.words):
            raise _no_sketch(self.name)
        made = np.empty((len(at), wide), dtype=np.uint32)
        for word in range(wide):
            made[:, word] = self.words[at + word]
        return made.reshape(-1).view(dtype)

    def _require(self, holds: Mask) -> None:
        if not holds.all():
            raise _no_sketch(self.name)


def encoded(sketches: Sketches, present: Mask | None) -> pa.Array:
    """The bytes of sketches; NULL where not `present`."""
    held, counts, wide = sketches.held, sketches.counts, width(sketches.values.dtype)
    rows = len(counts)
    row = sketches.row_of_value
    levels = np.ones(rows, dtype=np.int64)
    np.maximum.at(levels, row, sketches.levels + 1)
    full = counts > 1
    sizes = np.where(full, HEAD + levels + wide * (2 + held), np.where(counts == 1, 2 + wide, 2))
    if present is not None:
        sizes = np.where(present, sizes, 0)
    at = np.cumsum(sizes) - sizes
    words = np.zeros(int(sizes.sum()), dtype=np.uint32)
    some = np.flatnonzero(sizes)
    flags = np.where(full, 0, np.where(counts == 1, SINGLE, EMPTY))
    first = np.where(full, 5, 2) | np.where(counts == 1, 2, 1) << 8 | FAMILY << 16 | flags << 24
    words[at[some]] = first[some]
    words[at[some] + 1] = sketches.k[some] | WIDTH << 16
    _put(words, at + 2, counts, full)
    words[at[full] + 4] = sketches.least_k[full] | levels[full] << 16
    _put(words, at + HEAD + levels, sketches.least, full)
    _put(words, at + HEAD + levels + wide, sketches.greatest, full)
    _put_levels(words, at, sketches, levels, full)
    head = np.where(full, HEAD + levels + 2 * wide, 2)
    within = np.arange(len(row)) - sketches.starts[row]
    everywhere = np.ones(len(row), dtype=np.bool_)
    if present is not None:
        everywhere = present[row]
    _put(words, at[row] + head[row] + wide * within, sketches.values, everywhere)
    offsets = np.append(at, len(words)) * 4
    valid = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    if offsets[-1] >= 2**31:
        raise AssertionError("more than 2 GiB of sketches in one column")
    buffers = [valid, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(words)]
    return pa.Array.from_buffers(pa.binary(), rows, buffers)


def _put_levels(words: Words, at: Ints, sketches: Sketches, levels: Ints, full: Mask) -> None:
    """Write where each level starts: the values end at the sketch's capacity."""
    rows = np.flatnonzero(full)
    number = np.repeat(rows, levels[rows])
    nth = np.arange(len(number)) - np.repeat(np.cumsum(levels[rows]) - levels[rows], levels[rows])
    key = sketches.row_of_value * 64 + sketches.levels
    before = np.searchsorted(key, number * 64 + nth) - sketches.starts[number]
    free = capacity(sketches.k[rows], levels[rows]) - sketches.held[rows]
    words[at[number] + HEAD + nth] = before + np.repeat(free, levels[rows])


def _put(words: Words, at: Ints, values: Values, where: Mask) -> None:
    """Write values of one word or two to their places."""
    wide = width(values.dtype)
    parts = np.ascontiguousarray(values[where]).view(np.uint32).reshape(-1, wide)
    for word in range(wide):
        words[at[where] + word] = parts[:, word]


def width(dtype: DTypeLike) -> int:
    """How many words a value has."""
    return int(np.dtype(dtype).itemsize) // 4


def room(k: Ints, depth: Ints) -> Ints:
    """The number of values that a level has room for, `depth` levels below the highest one: k * (2/3)^depth."""
    near = np.minimum(depth, DEEPEST)
    made = ((k * 2 << near) // 3**near + 1) >> 1
    return np.maximum(WIDTH, np.where(depth > DEEPEST, 0, made))


def capacity(k: Ints, levels: Ints) -> Ints:
    """The number of values that a sketch with so many levels has room for."""
    found = np.zeros(len(k), dtype=np.int64)
    for depth in range(int(levels.max(initial=0))):
        found += np.where(depth < levels, room(k, np.full(len(k), depth)), 0)
    return found


def _no_sketch(name: str) -> DataError:
    return DataError(f"{name} has bytes that are not a KLL sketch", hint="KLL_SKETCH_AGG_DOUBLE makes them")
