"""The columns of a datagen table, computed from row numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tvfsql.plan.synthetic.datagen import Counted, Digits, Made, Times, Uniform
from tvfsql.runtime.arrow.columns import Floats, Ints, Mask, from_integers, from_words
from tvfsql.runtime.synthetic.draws import Characters, Draws

DAY_MS = 86_400_000


def column(made: Made, draws: Draws, kind: pa.DataType) -> pa.Array:
    """The values of a column for some rows, as the Arrow type `kind`."""
    present = draws.unit(f"{made.name}/null") >= made.null_rate if made.null_rate else None
    match made.values:
        case Digits(length):
            return _digits(draws.hexadecimal(made.name, length * _digits_each(kind)), kind, present)
        case Uniform(float() as low, float() as high):
            share = draws.unit(made.name)
            return _floats(low * (1 - share) + high * share, kind, present)
        case Uniform(low, high):
            return _whole(draws.between(made.name, int(low), int(high)), kind, present)
        case Counted(start):
            return _counted(start + draws.rows, kind, present)
        case Times(start, step, rows, past):
            delay = draws.below(made.name, past) if past else 0
            return times(start + draws.rows * step // rows - delay, kind, present)
    raise AssertionError(made)


def times(ms: Ints, kind: pa.DataType, present: Mask | None = None) -> pa.Array:
    """Points in time (epoch ms) as dates or timestamps."""
    return from_integers(ms // DAY_MS if pa.types.is_date(kind) else ms * 1000, kind, present)


def texts(characters: Characters, kind: pa.DataType | None = None, present: Mask | None = None) -> pa.Array:
    """Strings or binaries of one length from an array of characters with a row for each."""
    rows, length = characters.shape
    offsets = pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(length))
    valid = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(characters))
    return pa.Array.from_buffers(kind or pa.string(), rows, [valid, offsets, data])


def _digits(characters: Characters, kind: pa.DataType, present: Mask | None) -> pa.Array:
    if pa.types.is_string(kind):
        return texts(characters, kind, present)
    # two digits make a byte
    values: Characters = np.where(characters >= ord("a"), characters - (ord("a") - 10), characters - ord("0"))
    return texts(values[:, ::2] << np.uint8(4) | values[:, 1::2], kind, present)


def _digits_each(kind: pa.DataType) -> int:
    return 1 if pa.types.is_string(kind) else 2


def _floats(values: Floats | Ints, kind: pa.DataType, present: Mask | None) -> pa.Array:
    return pa.array(values.astype(kind.to_pandas_dtype()), mask=None if present is None else ~present)


def _counted(values: Ints, kind: pa.DataType, present: Mask | None) -> pa.Array:
    if pa.types.is_string(kind):
        return _whole(values, pa.int64(), present).cast(kind)
    if pa.types.is_floating(kind):
        return _floats(values, kind, present)
    return _whole(values * 10**kind.scale if pa.types.is_decimal(kind) else values, kind, present)


def _whole(values: Ints, kind: pa.DataType, present: Mask | None) -> pa.Array:
    if pa.types.is_decimal(kind):
        return from_words(values, values >> 63, kind, present)
    return from_integers(values, kind, present)
