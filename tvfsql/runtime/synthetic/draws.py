"""Random numbers for rows. Each depends only on the seed, the number of the row, and the name of the draw."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tvfsql.runtime.arrow.columns import Floats, Ints

Bits = NDArray[np.uint64]
Characters = NDArray[np.uint8]

# SplitMix64 (Steele, Lea and Flood, 2014): the step between numbers, then two rounds of mixing.
STEP = np.uint64(0x9E3779B97F4A7C15)
ROUNDS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
LAST = np.uint64(31)
UNIT = 2.0**-53
PAIRS = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), dtype=np.uint16)  # digits of each byte


class Draws:
    """Random numbers for rows. Each name is a separate draw."""

    def __init__(self, seed: int, rows: Ints) -> None:
        self.seed, self.rows = seed, rows

    def bits(self, name: str) -> Bits:
        """64 random bits per row."""
        key = blake2b(f"{self.seed}/{name}".encode(), digest_size=8).digest()
        with np.errstate(over="ignore"):
            mixed: Bits = self.rows.astype(np.uint64) * STEP + np.frombuffer(key, dtype="<u8")[0]
            for shift, factor in ROUNDS:
                mixed = (mixed ^ (mixed >> shift)) * factor
        return mixed ^ (mixed >> LAST)

    def below(self, name: str, bound: int | Ints) -> Ints:
        """Integers from 0 up to, but not including, `bound`, which is one number for all rows, or one per row."""
        return (self.bits(name) % np.asarray(bound).astype(np.uint64)).astype(np.int64)

    def between(self, name: str, low: int, high: int) -> Ints:
        """64-bit integers from `low` to `high`, both inclusive."""
        width, bits = high - low + 1, self.bits(name)
        part = bits if width == 2**64 else bits % np.uint64(width)
        return (part + np.uint64(low % 2**64)).view(np.int64)

    def unit(self, name: str) -> Floats:
        """Numbers from 0 up to, but not including, 1."""
        return (self.bits(name) >> np.uint64(11)).astype(np.float64) * UNIT

    def hexadecimal(self, name: str, length: int) -> Characters:
        """`length` hexadecimal digits per row, as an array of characters."""
        words = [self.bits(f"{name}/{i}").astype(">u8") for i in range(-(-length // 16))]
        raw = np.stack(words, axis=1).view(np.uint8) if words else np.empty((len(self.rows), 0), np.uint8)
        return PAIRS[raw].view(np.uint8).reshape(len(self.rows), -1)[:, :length]
