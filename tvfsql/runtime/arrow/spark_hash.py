"""Spark's `xxhash64` of Arrow columns, which decides the key group of a row.

State keeps keys but not their hash. Computed here, on whole columns, the rows need not leave Arrow. Source: XXH64
(Collet), and Spark's XxHash64 for what it does with each type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tvfsql.errors import UnsupportedError
from tvfsql.runtime.arrow.columns import Ints, Mask, counts_as_int64, integers, structs

Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[Any]

SEED = 42
P1, P2, P3, P4, P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
STRIPE = 32  # bytes
LONG_DECIMAL = 18  # the most digits of a decimal that Spark hashes as a number
STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def xxhash64(columns: Sequence[pa.Array], rows: int) -> Ints:
    """The hash of each row's values. Raises UnsupportedError for a type whose hash is not known."""
    seeds = np.full(rows, SEED, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            seeds = _of(column, seeds)
    return seeds.view(np.int64)


def _of(column: pa.Array, seeds: Hashes) -> Hashes:
    """The hash of each value, which continues from its seed. NULL leaves the seed as it is."""
    if not len(column):
        return seeds
    if column.null_count:
        valid: Mask = column.is_valid().to_numpy(zero_copy_only=False)
        hashes = seeds.copy()
        hashes[valid] = _of_values(column.filter(column.is_valid()), seeds[valid])
        return hashes
    return _of_values(column, seeds)


def _of_values(column: pa.Array, seeds: Hashes) -> Hashes:
    kind = column.type
    if pa.types.is_null(kind) or not len(column):
        return seeds
    if counts_as_int64(kind):
        numbers = integers(column)
        return _words(numbers.astype(np.int32), seeds) if kind.bit_width <= 32 else _longs(numbers, seeds)
    if kind == pa.float64():
        return _longs(_bits(column.to_numpy(), np.int64), seeds)
    if pa.types.is_floating(kind):
        return _words(_bits(column.to_numpy(), np.int32), seeds)
    if pa.types.is_decimal(kind):
        return _decimals(column, kind, seeds)
    if any(of(kind) for of in STRINGS):
        return _strings(column.cast(pa.large_binary()), seeds)
    if pa.types.is_struct(kind):
        for part in structs(column).flatten():
            seeds = _of(part, seeds)
        return seeds
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(column, kind.value_type, seeds)
    raise UnsupportedError(f"a key of type {kind} has no known hash, so its key group cannot be found")


def _words(values: Numbers, seeds: Hashes) -> Hashes:
    mixed = (seeds + P5 + np.uint64(4)) ^ (values.view(np.uint32).astype(np.uint64) * P1)
    return _finished(_rotated(mixed, 23) * P2 + P3)


def _longs(values: Numbers, seeds: Hashes) -> Hashes:
    return _finished(_with_long(seeds + P5 + np.uint64(8), np.ascontiguousarray(values).view(np.uint64)))


def _strings(column: pa.Array, seeds: Hashes) -> Hashes:
    """Values of one length at a time, as the rows of a matrix of bytes."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    starts, lengths = ends[:-1], np.diff(ends)
    hashes = np.empty_like(seeds)
    for length in np.unique(lengths).tolist():
        at = np.flatnonzero(lengths == length)
        hashes[at] = _bytes(text[starts[at][:, None] + np.arange(length)], seeds[at])
    return hashes


def _bytes(text: Bytes, seeds: Hashes) -> Hashes:
    """The hash of each row of a matrix."""
    length = text.shape[1]
    striped, done = length - length % STRIPE, length - length % 8
    mixed = (_stripes(text[:, :striped], seeds) if striped else seeds + P5) + np.uint64(length)
    for start in range(striped, done, 8):
        mixed = _with_long(mixed, _numbers(text[:, start : start + 8], np.uint64))
    if length - done >= 4:
        word = _numbers(text[:, done : done + 4], np.uint32).astype(np.uint64)
        mixed = _rotated(mixed ^ (word * P1), 23) * P2 + P3
        done += 4
    for place in range(done, length):
        mixed = _rotated(mixed ^ (text[:, place].astype(np.uint64) * P5), 11) * P1
    return _finished(mixed)


def _stripes(text: Bytes, seeds: Hashes) -> Hashes:
    lanes: list[Hashes] = [seeds + P1 + P2, seeds + P2, seeds, seeds - P1]
    for start in range(0, text.shape[1], STRIPE):
        for lane in range(4):
            word: Hashes = _numbers(text[:, start + 8 * lane : start + 8 * lane + 8], np.uint64)
            lanes[lane] = _rotated(lanes[lane] + word * P2, 31) * P1
    mixed = _rotated(lanes[0], 1) + _rotated(lanes[1], 7) + _rotated(lanes[2], 12) + _rotated(lanes[3], 18)
    for values in lanes:
        mixed = (mixed ^ (_rotated(values * P2, 31) * P1)) * P1 + P4
    return mixed


def _decimals(column: pa.Array, kind: pa.Decimal128Type, seeds: Hashes) -> Hashes:
    """The number without its point: up to 18 digits as a number, more as its bytes, the highest first."""
    unscaled = np.frombuffer(column.cast(pa.decimal128(38, kind.scale)).buffers()[1], dtype=np.int64)
    low, high = unscaled.reshape(-1, 2)[column.offset : column.offset + len(column)].T
    if kind.precision <= LONG_DECIMAL:
        return _longs(low, seeds)
    numbers = [(more << 64) + (less & (2**64 - 1)) for less, more in zip(low.tolist(), high.tolist(), strict=True)]
    texts = [number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True) for number in numbers]
    return _strings(pa.array(texts, pa.large_binary()), seeds)


def _lists(column: pa.Array, of: pa.DataType, seeds: Hashes) -> Hashes:
    """Element by element: the hash of one is the seed of the next."""
    hashes = seeds.copy()
    for place, elements in enumerate(column.to_pylist()):
        for element in elements:
            hashes[place : place + 1] = _of(pa.array([element], of), hashes[place : place + 1])
    return hashes


def _bits(values: Numbers, kind: type[np.generic]) -> Numbers:
    """The bits of floating-point numbers: one for both zeros, and one for all NaNs."""
    alike = np.where(values == 0, values.dtype.type(0), np.where(np.isnan(values), values.dtype.type("nan"), values))
    return alike.view(kind)


def _numbers(text: Bytes, kind: type[np.generic]) -> Numbers:
    numbers: Numbers = np.ascontiguousarray(text).view(kind)[:, 0]
    return numbers


def _with_long(mixed: Hashes, value: Numbers) -> Hashes:
    return _rotated(mixed ^ (_rotated(value * P2, 31) * P1), 27) * P1 + P4


def _rotated(values: Hashes, by: int) -> Hashes:
    return (values << np.uint64(by)) | (values >> np.uint64(64 - by))


def _finished(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(33))) * P2
    values = (values ^ (values >> np.uint64(29))) * P3
    return values ^ (values >> np.uint64(32))
