"""Sketches of distinct values (`plan.aggregate.sketches`), which Apache DataSketches makes and merges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.sketches import DistinctSketch
from tvfsql.runtime.merge.accumulators import Accumulators
from tvfsql.runtime.merge.ranges import Blocks


class DistinctSketches(Accumulators):
    """Sketches as binary, or the values of single rows. The result is binary."""

    def __init__(self, kind: DistinctSketch, name: str, column: pa.Array, blocks: Blocks) -> None:
        self.function = self.family = (Hll if kind.family == "hll" else Theta)(kind.lg, name)
        self.blocks = blocks
        self.values: Sequence[Any] = column.to_pylist()

    def _of_rows(self, value: Any, accumulator: object) -> object:
        return self.family.of_value(value, accumulator)


class Hll:
    """HyperLogLog with 2^lg registers of a byte; 0: as many as the sketches that are merged."""

    def __init__(self, lg: int, name: str) -> None:
        self.lg, self.name = lg, name
        self.library = library(name)

    def of_value(self, value: int | str | float, union: Any) -> Any:
        union = self.library.hll_union(self.lg) if union is None else union
        union.update(value)
        return union

    def merged(self, union: Any, other: Any) -> Any:
        if union.lg_config_k != other.lg_config_k:
            raise DataError(
                f"{self.name} has HLL sketches of the sizes 2^{union.lg_config_k} and 2^{other.lg_config_k}",
                hint="HLL_SKETCH_AGG(x, 12) everywhere",
            )
        union.update(self._sketch(other))
        return union

    def packed(self, union: Any) -> bytes:
        return bytes(self._sketch(union).serialize_updatable())

    def unpacked(self, sketch: bytes) -> Any:
        found = read(self.library.hll_sketch.deserialize, sketch, self.name, "an HLL sketch", "HLL_SKETCH_AGG")
        union = self.library.hll_union(found.lg_config_k)
        union.update(found)
        return union

    def _sketch(self, union: Any) -> Any:
        return union.get_result(self.library.HLL_8)


class Theta:
    """Theta sketches of at most 2^lg hashes."""

    def __init__(self, lg: int, name: str) -> None:
        self.lg, self.name = lg, name
        self.library = library(name)

    def of_value(self, value: int | str | float, union: Any) -> Any:
        union = _ThetaUnion(self.library, self.lg) if union is None else union
        union.values.update(value)
        return union

    def merged(self, union: Any, other: Any) -> Any:
        union.union.update(other.sketch)
        return union

    def packed(self, union: Any) -> bytes:
        return bytes(union.sketch.serialize())

    def unpacked(self, sketch: bytes) -> Any:
        found = read(
            self.library.compact_theta_sketch.deserialize, sketch, self.name, "a theta sketch", "THETA_SKETCH_AGG"
        )
        union = _ThetaUnion(self.library, self.lg)
        union.union.update(found)
        return union


class _ThetaUnion:
    """Values and sketches. Each part is made when it is needed: most slices have only one of them."""

    def __init__(self, of: Any, lg: int) -> None:
        self.of, self.lg = of, lg

    @cached_property
    def values(self) -> Any:
        return self.of.update_theta_sketch(self.lg)

    @cached_property
    def union(self) -> Any:
        return self.of.theta_union(self.lg)

    @property
    def sketch(self) -> Any:
        if "union" not in self.__dict__:
            return self.values.compact()
        if "values" in self.__dict__:
            self.union.update(self.values.compact())
        return self.union.get_result()


def library(name: str) -> Any:
    """Apache DataSketches. Raises DataError if it is not installed where the rows are."""
    try:
        import datasketches
    except ImportError as error:
        raise DataError(
            f"{name} needs the package datasketches on every worker", hint="pip install 'tvfsql[sketches]'"
        ) from error
    return datasketches


def read(deserialize: Callable[[bytes], Any], sketch: bytes, name: str, kind: str, makes: str) -> Any:
    """A sketch from its bytes. Raises DataError for other bytes."""
    try:
        return deserialize(sketch)
    except (ValueError, IndexError, RuntimeError) as error:
        raise DataError(f"{name} has bytes that are not {kind}: {error}", hint=f"{makes} makes them") from error
