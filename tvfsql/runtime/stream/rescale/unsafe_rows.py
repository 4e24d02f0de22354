"""Rows of Spark's state as bytes: its UnsafeRow, for the types that our state variables have.

An UnsafeRow is a word of NULL bits, a word per field, and then the bytes of fields of variable length, each filled up
to whole words; their words hold the place and the length. A word has 8 bytes, the lowest first. Source: Spark's
UnsafeRow and UnsafeRowWriter.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

WORD = 8
Field = int | bytes | None  # an INT that is not negative, a BIGINT; a STRING, a BINARY or a row; NULL


def packed(*fields: Field) -> bytes:
    """A row of up to 64 fields."""
    words, rest = [0], bytearray()
    start = WORD * (1 + len(fields))
    for place, value in enumerate(fields):
        if value is None:
            words[0] |= 1 << place
            words.append(0)
        elif isinstance(value, int):
            words.append(value)
        else:
            words.append((start + len(rest)) << 32 | len(value))
            rest += value + bytes(-len(value) % WORD)
    return struct.pack(f"<{len(words)}q", *words) + bytes(rest)


def unpacked(row: bytes, kinds: Sequence[type]) -> list[Any]:
    """The fields of a row, whose types are int or bytes; None for NULL."""
    nulls, *words = struct.unpack_from(f"<{1 + len(kinds)}q", row)
    found: list[Any] = []
    for place, (kind, word) in enumerate(zip(kinds, words, strict=True)):
        if nulls >> place & 1:
            found.append(None)
        elif kind is int:
            found.append(word)
        else:
            found.append(row[word >> 32 : (word >> 32) + (word & 0xFFFFFFFF)])
    return found
