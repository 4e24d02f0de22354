"""OVER aggregates of streams: a value beside each row, of the rows of its partition up to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.values.times import duration

ROWS, RANGE = "ROWS", "RANGE"


def rows_text(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


@dataclass(frozen=True)
class Frame:
    """The rows of a partition that count for one of them: from `start` before it to `end` before it, in rows (ROWS) or
    in ms of event time (RANGE). Below 0 they are behind it. `start` is None for all rows before; `end` is 0 for the row
    itself, with RANGE also for all others of its time.
    """

    unit: str
    start: int | None
    end: int = 0

    @property
    def length(self) -> int:
        """The length of a frame that has a start: how many more rows than one, or ms."""
        assert self.start is not None, self
        return self.start - self.end

    @property
    def following(self) -> int:
        """How far it goes on behind its row."""
        return max(0, -self.end)

    @property
    def has_row(self) -> bool:
        """Whether its row is always in it. Any other frame may be empty."""
        return (self.start is None or self.start >= 0) and self.end <= 0

    @property
    def up_to_row(self) -> Frame:
        """The frame of the same length whose end is the row."""
        return Frame(self.unit, self.length)

    def __str__(self) -> str:
        def bound(size: int | None) -> str:
            if size is None:
                return "UNBOUNDED PRECEDING"
            shown = str(abs(size)) if self.unit == ROWS else duration(abs(size))
            return f"{shown} {'PRECEDING' if size > 0 else 'FOLLOWING'}" if size else "CURRENT ROW"

        return f"{self.unit} BETWEEN {bound(self.start)} AND {bound(self.end)}"


@dataclass(frozen=True)
class OverAggregate(Node):
    """The rows, each with the results of `calls` over the frames in the same places of `frames`, in the order of `time`
    within `partition`.
    """

    input: Node
    partition: tuple[str, ...]
    time: str
    frames: tuple[Frame, ...]
    calls: tuple[AggCall, ...]

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *(Field(call.name, call.type) for call in self.calls))

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        return frozenset((*self.partition, self.time)).union(*(call.columns for call in self.calls))

    def details(self) -> Iterator[tuple[str, str]]:
        if self.partition:
            yield "partitionBy", ", ".join(self.partition)
        yield "orderBy", f"{self.time} ASC"
        for frame in dict.fromkeys(self.frames):
            of = [str(call) for call, own in zip(self.calls, self.frames, strict=True) if own == frame]
            yield "window", f"{frame}: {', '.join(of)}"


@dataclass(frozen=True)
class OverPartials(Node):
    """The rows, in which partials of single rows are replaced by those merged over their frame. `frames` has the
    partials of each frame with their merge kinds.
    """

    input: Node
    partition: tuple[str, ...]
    time: str
    frames: tuple[tuple[Frame, tuple[tuple[str, MergeKind], ...]], ...]

    operator = "OverAggregate"

    @property
    def delay(self) -> int:
        """How long a row waits for rows that follow it in time, in ms."""
        return max((frame.following for frame, _ in self.frames if frame.unit == RANGE), default=0)

    @property
    def awaited(self) -> int:
        """For how many later rows of its partition a row waits."""
        return max((frame.following for frame, _ in self.frames if frame.unit == ROWS), default=0)

    @cached_property
    def schema(self) -> Schema:
        merged = {name for _, merges in self.frames for name, _ in merges}
        return tuple(Field(part.name) if part.name in merged else part for part in self.input.schema)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.partition:
            yield "partitionBy", ", ".join(self.partition)
        yield "orderBy", f"{self.time} ASC"
        for frame, merges in self.frames:
            yield "window", f"{frame}: {', '.join(name for name, _ in merges)}"
