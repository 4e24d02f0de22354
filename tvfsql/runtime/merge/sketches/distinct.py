"""Sketches of distinct values (`plan.aggregate.sketches`), which Apache DataSketches makes and merges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from struct import Struct
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.sketches import TUPLE_MODES, DistinctSketch
from tvfsql.runtime.merge.accumulators import Accumulators
from tvfsql.runtime.merge.ranges import Blocks

Value = Any  # of a row: a number, a text, or a dict of both arguments
Sketch = Any  # or a part of one: datasketches has no types


class DistinctSketches(Accumulators):
    """Sketches as binary, or the values of single rows. The result is binary."""

    def __init__(self, kind: DistinctSketch, name: str, column: pa.Array, blocks: Blocks) -> None:
        self.function = self.family = _family(kind, name)
        self.blocks = blocks
        self.values: Sequence[Value] = column.to_pylist()

    def _of_rows(self, value: Value, accumulator: object) -> object:
        return self.family.of_value(value, accumulator)


def _family(kind: DistinctSketch, name: str) -> Hll | Theta | Tuples | Common | Bitmaps:
    if kind.family == "bitmap":
        return Bitmaps(name, common=kind.common)
    if kind.family == "hll":
        return Hll(kind.lg, name)
    if kind.common:
        return Common(kind, name)
    return Theta(kind.lg, name) if kind.family == "theta" else Tuples(kind, name)


class Hll:
    """HyperLogLog with 2^lg registers of a byte; 0: as many as the sketches that are merged."""

    def __init__(self, lg: int, name: str) -> None:
        self.lg, self.name = lg, name
        self.library = library(name)

    def of_value(self, value: int | str | float, union: Sketch) -> Sketch:
        union = self.library.hll_union(self.lg) if union is None else union
        union.update(value)
        return union

    def merged(self, union: Sketch, other: Sketch) -> Sketch:
        if union.lg_config_k != other.lg_config_k:
            raise DataError(
                f"{self.name} has HLL sketches of the sizes 2^{union.lg_config_k} and 2^{other.lg_config_k}",
                hint="HLL_SKETCH_AGG(x, 12) everywhere",
            )
        union.update(self._sketch(other))
        return union

    def packed(self, union: Sketch) -> bytes:
        return bytes(self._sketch(union).serialize_updatable())

    def unpacked(self, sketch: bytes) -> Sketch:
        found = read(self.library.hll_sketch.deserialize, sketch, self.name, "an HLL sketch", "HLL_SKETCH_AGG")
        union = self.library.hll_union(found.lg_config_k)
        union.update(found)
        return union

    def _sketch(self, union: Sketch) -> Sketch:
        return union.get_result(self.library.HLL_8)


class Theta:
    """Theta sketches of at most 2^lg hashes."""

    def __init__(self, lg: int, name: str) -> None:
        self.lg, self.name = lg, name
        self.library = library(name)

    def of_value(self, value: int | str | float, union: Sketch) -> Sketch:
        union = _ThetaUnion(self.library, self.lg) if union is None else union
        union.values.update(value)
        return union

    def merged(self, union: Sketch, other: Sketch) -> Sketch:
        union.union.update(other.sketch)
        return union

    def packed(self, union: Sketch) -> bytes:
        return bytes(union.sketch.serialize())

    def unpacked(self, sketch: bytes) -> Sketch:
        union = _ThetaUnion(self.library, self.lg)
        union.union.update(_thetas(self, sketch))
        return union


class _ThetaUnion:
    """Values and sketches. Each part is made when it is needed: most slices have only one of them."""

    def __init__(self, of: Sketch, lg: int) -> None:
        self.of, self.lg = of, lg

    @cached_property
    def values(self) -> Sketch:
        return self.of.update_theta_sketch(self.lg)

    @cached_property
    def union(self) -> Sketch:
        return self.of.theta_union(self.lg)

    @property
    def sketch(self) -> Sketch:
        if "union" not in self.__dict__:
            return self.values.compact()
        if "values" in self.__dict__:
            self.union.update(self.values.compact())
        return self.union.get_result()


class Tuples:
    """Theta sketches with a number for each hash: a union of sketches, to which rows are added as small sketches."""

    def __init__(self, kind: DistinctSketch, name: str) -> None:
        self.lg, self.name = kind.lg, name
        self.library = library(name)
        self.policy, self.numbers = _numbers(kind, name)

    def of_value(self, value: Mapping[str, float], rows: Sketch) -> Sketch:
        rows = self.library.update_tuple_sketch(self.policy, self.lg) if rows is None else rows
        if isinstance(rows, self.library.tuple_union):
            return self._joined(rows, self.of_value(value, None))
        rows.update(value["x"], value["y"])
        return rows

    def merged(self, left: Sketch, right: Sketch) -> Sketch:
        return self._joined(self._united(left), right)

    def packed(self, made: Sketch) -> bytes:
        sketch = made.get_result() if isinstance(made, self.library.tuple_union) else made.compact()
        return bytes(sketch.serialize(self.numbers))

    def unpacked(self, sketch: bytes) -> Sketch:
        return self._united(_tuples(self, sketch))

    def _united(self, made: Sketch) -> Sketch:
        if isinstance(made, self.library.tuple_union):
            return made
        return self._joined(self.library.tuple_union(self.policy, self.lg), made)

    def _joined(self, union: Sketch, other: Sketch) -> Sketch:
        union.update(other.get_result() if isinstance(other, self.library.tuple_union) else other)
        return union


class Common:
    """What theta or tuple sketches have in common."""

    def __init__(self, kind: DistinctSketch, name: str) -> None:
        self.kind, self.name = kind, name
        self.library = library(name)
        if kind.family != "theta":
            self.policy, self.numbers = _numbers(kind, name)

    def of_value(self, value: object, accumulator: object) -> Sketch:
        raise AssertionError(f"{self.name}: sketches are intersected, not values")

    def merged(self, common: Sketch, other: Sketch) -> Sketch:
        common.update(other.get_result())
        return common

    def packed(self, common: Sketch) -> bytes:
        sketch = common.get_result()
        return bytes(sketch.serialize() if self.kind.family == "theta" else sketch.serialize(self.numbers))

    def unpacked(self, sketch: bytes) -> Sketch:
        if self.kind.family == "theta":
            common = self.library.theta_intersection()
            common.update(_thetas(self, sketch))
            return common
        common = self.library.tuple_intersection(self.policy)
        common.update(_tuples(self, sketch))
        return common


BITS = 32_768  # of a bitmap


class Bitmaps:
    """Bitmaps of 4,096 bytes, as Spark's: united, or with `common` intersected. Missing bytes are zeros."""

    def __init__(self, name: str, *, common: bool) -> None:
        self.name = name
        self.operator = np.bitwise_and if common else np.bitwise_or

    def of_value(self, value: int, bits: Sketch) -> Sketch:
        if not 0 <= value < BITS:
            message = f"{self.name}: {value} is not a position in a bitmap, which has {BITS:,} bits"
            raise DataError(message, hint="BITMAP_CONSTRUCT_AGG(BITMAP_BIT_POSITION(x))")
        bits = np.zeros(BITS // 8, np.uint8) if bits is None else bits
        bits[value >> 3] |= 1 << (value & 7)
        return bits

    def merged(self, bits: Sketch, other: Sketch) -> Sketch:
        return self.operator(bits, other, out=bits)

    def packed(self, bits: Sketch) -> bytes:
        return bytes(bits.tobytes())

    def unpacked(self, bitmap: bytes) -> Sketch:
        bits = np.zeros(BITS // 8, np.uint8)
        given = np.frombuffer(bitmap, np.uint8)[: len(bits)]
        bits[: len(given)] = given
        return bits


def _thetas(of: Theta | Common, sketch: bytes) -> Sketch:
    deserialize = of.library.compact_theta_sketch.deserialize
    return read(deserialize, sketch, of.name, "a theta sketch", "THETA_SKETCH_AGG")


def _tuples(of: Tuples | Common, sketch: bytes) -> Sketch:
    return read(
        lambda found: of.library.compact_tuple_sketch.deserialize(found, of.numbers),
        sketch,
        of.name,
        "a tuple sketch",
        "TUPLE_SKETCH_AGG_DOUBLE",
    )


MODES: Mapping[str, Callable[[float, float], float]] = {
    "sum": lambda number, other: number + other,
    "min": min,
    "max": max,
    "alwaysone": lambda number, other: 1,
}


def _numbers(kind: DistinctSketch, name: str) -> tuple[Sketch, Sketch]:
    """How the numbers of tuple sketches are merged, and how they are written: with the place of their mode, as by
    Java."""
    of = library(name)
    whole = kind.family == "tuple_integer"
    layout = Struct("<iB" if whole else "<dB")
    place, operator = TUPLE_MODES.index(kind.mode), MODES[kind.mode]

    class Policy(of.TuplePolicy):  # type: ignore[name-defined, misc]
        def create_summary(self) -> Sketch:
            return None

        def update_summary(self, summary: Sketch, update: Sketch) -> Sketch:
            first = (1 if kind.mode == "alwaysone" else update) if summary is None else operator(summary, update)
            return _wrapped(first) if whole else float(first)

        def __call__(self, summary: Sketch, other: Sketch) -> Sketch:
            return self.update_summary(summary, other)

    class Numbers(of.PyObjectSerDe):  # type: ignore[name-defined, misc]
        def get_size(self, number: Sketch) -> int:
            return layout.size

        def to_bytes(self, number: Sketch) -> bytes:
            return layout.pack(number, place)

        def from_bytes(self, data: bytes, offset: int) -> tuple[float, int]:
            return layout.unpack_from(data, offset)[0], layout.size

    return Policy(), Numbers()


def _wrapped(number: float) -> int:
    """An INTEGER as Java adds it up."""
    return (int(number) + 2**31) % 2**32 - 2**31


def library(name: str) -> Any:
    """Apache DataSketches. Raises DataError if it is not installed where the rows are."""
    try:
        import datasketches
    except ImportError as error:
        raise DataError(
            f"{name} needs the package datasketches on every worker", hint="pip install 'tvfsql[sketches]'"
        ) from error
    return datasketches


def read(deserialize: Callable[[bytes], Sketch], sketch: bytes, name: str, kind: str, makes: str) -> Sketch:
    """A sketch from its bytes. Raises DataError for other bytes."""
    try:
        return deserialize(sketch)
    except (ValueError, IndexError, RuntimeError) as error:
        raise DataError(f"{name} has bytes that are not {kind}: {error}", hint=f"{makes} makes them") from error
