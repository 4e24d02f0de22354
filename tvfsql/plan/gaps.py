"""Windows without rows: the rows of windows with one for each window of a key that had no rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.plan.window_nodes import Fill, WindowProperty, window_label

EMPTY, ZERO, PREVIOUS, LINEAR = "NULL", "0", "PREVIOUS", "LINEAR"
# The functions that say what a column has in windows without rows.
FILLS = {"LOCF": PREVIOUS, "INTERPOLATE": LINEAR}


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
        may_lack = {name for name, how in self.values if how in (EMPTY, LINEAR)}
        return tuple(
            Field(part.name, replace(part.type, nullable=True)) if part.name in may_lack else part
            for part in self.input.schema
        )

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
