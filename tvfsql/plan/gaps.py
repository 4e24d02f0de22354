"""Gaps in time: a row for each window of a key that had no rows, and rows on a grid."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import has_map
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.plan.window_nodes import Fill, WindowProperty, window_label

EMPTY, ZERO, PREVIOUS, LINEAR = "NULL", "0", "PREVIOUS", "LINEAR"
# The functions that say what a column has in windows without rows.
FILLS = {"LOCF": PREVIOUS, "INTERPOLATE": LINEAR}
# The same for the rows that GAP_FILL adds.
GRID_FILLS = {**FILLS, "KEEPNULL": EMPTY}


@dataclass(frozen=True)
class GapFill(Node):
    """The rows of windows, one for each key and window, and a row for each window of a key without rows, as `fill`
    says. `properties` are the columns that hold a row's window. `values` says for each other column what such a row has
    in it: NULL, 0, the value of the last window with rows (PREVIOUS), or one on the line to the next window with rows
    (LINEAR), NULL if that is not within the retention.
    """

    input: Node
    partition: tuple[str, ...]
    window: Tumble | Hop | Cumulate
    properties: tuple[WindowProperty, ...]
    values: tuple[tuple[str, str], ...]
    fill: Fill

    @cached_property
    def schema(self) -> Schema:
        return _with_nulls(self.input.schema, self.values)

    def named(self, kind: str) -> tuple[str, ...]:
        """The columns that hold the `start`, the `end` or the `time` of a window."""
        return tuple(part.name for part in self.properties if part.kind == kind)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.partition:
            yield "partitionBy", ", ".join(self.partition)
        yield "window", window_label(self.window, ("win_end", self.named("end")[0]))
        if self.values:
            yield "values", ", ".join(f"{name}: {how}" for name, how in self.values)
        yield "fill", str(self.fill)


@dataclass(frozen=True)
class GridFill(Node):
    """The rows, and for each partition a row at the start of each window of `grid` that has none, between two rows or
    after one. `values` says for each column besides `partition` and `time` what an added row has in it: NULL, the value
    of the row before (PREVIOUS), or one on the line to the next row (LINEAR).

    A gap between two rows that are more than `limit` ms apart stays as it is (None: every gap is filled). If a
    partition `goes_on`, rows are added after each row until it is `limit` ms old, also after the last one; a LINEAR
    column is then NULL unless the next row comes by then.
    """

    input: Node
    partition: tuple[str, ...]
    time: str
    grid: Tumble
    values: tuple[tuple[str, str], ...]
    limit: int | None
    goes_on: bool = False

    operator = "GapFill"

    @cached_property
    def schema(self) -> Schema:
        return _with_nulls(self.input.schema, self.values)

    @property
    def ties(self) -> tuple[str, ...]:
        """The columns, besides time, by which rows of a partition are in order."""
        return tuple(name for name, _ in self.values if not has_map(self.input.type_of(name)))

    def details(self) -> Iterator[tuple[str, str]]:
        if self.partition:
            yield "partitionBy", ", ".join(self.partition)
        yield "orderBy", f"{self.time} ASC"
        yield "grid", duration(self.grid.size)
        if self.grid.offset:
            yield "offset", duration(self.grid.offset)
        if self.values:
            yield "values", ", ".join(f"{name}: {how}" for name, how in self.values)
        if self.limit is not None:
            yield "fill" if self.goes_on else "maxGap", duration(self.limit)


def _with_nulls(schema: Schema, values: Collection[tuple[str, str]]) -> Schema:
    """The columns of rows, some of which are added: NULL is possible where `values` says so."""
    may_lack = {name for name, how in values if how in (EMPTY, LINEAR)}
    return tuple(
        Field(part.name, replace(part.type, nullable=True)) if part.name in may_lack else part for part in schema
    )
