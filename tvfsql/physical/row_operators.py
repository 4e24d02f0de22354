"""The physical operators of streams that keep rows by key until their time has passed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tvfsql.errors import UnsupportedError
from tvfsql.options import KEY_GROUPS
from tvfsql.physical.operators import MARKS
from tvfsql.plan.deduplicate import Deduplicate
from tvfsql.plan.interval_join import IntervalJoin
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.scalar import Scalar
from tvfsql.plan.window import duration


class RowOperator(Node):
    """Keeps rows by key, and gives them out by event time, or `proctime`."""

    proctime: bool

    @property
    def times(self) -> tuple[str, ...]:
        """The columns by which its rows lie in time, for the operators above."""
        raise AssertionError(self.label())

    @property
    def unbounded(self) -> str | None:
        """Why its state has no bound, and what to do; None: it has one."""
        return None

    def refuse_other_time(self, time: Scalar) -> None:
        """Raises UnsupportedError for a time of its rows that watermarks do not go by."""
        if time.column not in self.times:
            raise UnsupportedError(
                f"on streams rows go on by the time that they were kept by, {' or '.join(self.times) or 'if any'}, "
                f"and {time.sql} is another time: {self.label()}",
                hint=f"DESCRIPTOR({self.times[0]})" if self.times else None,
            )

    def with_marks(self) -> Node:
        """The same, handing its watermark on: MARKS are beside its columns."""
        return replace(self, marks=True)  # type: ignore[call-arg]


@dataclass(frozen=True)
class StreamKeepRow(RowOperator, Deduplicate):
    """Deduplicate of a stream, over rows that have MARKS; with `marks` it hands its own watermark on.

    A key that was quiet for `retention` ms of event time is forgotten; 0: never. `inputs` are what the names of its
    channels begin with: it waits for each of them.
    """

    retention: int = 0
    on_event: bool = False
    inputs: tuple[str, ...] = ("",)
    key_groups: int = KEY_GROUPS
    marks: bool = False

    @cached_property
    def schema(self) -> Schema:
        own = tuple(part for part in self.input.schema if part not in MARKS)
        return (*own, *MARKS) if self.marks else own

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,)

    @property
    def unbounded(self) -> str | None:
        if self.retention:
            return None
        of = f" of {', '.join(self.partition)}" if self.partition else ""
        return f"{self.label()} keeps every value{of}; SET 'table.exec.state.ttl' = '1 d' forgets those that are quiet"

    def label(self) -> str:
        return "Deduplicate" + super().label().removeprefix(type(self).__name__)

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        if self.retention:
            yield "retention", duration(self.retention)
        if self.on_event:
            yield "watermarks", "on-event"


@dataclass(frozen=True)
class StreamIntervalJoin(RowOperator, IntervalJoin):
    """IntervalJoin of streams, over rows that have MARKS; with `marks` it hands its own watermark on. `inputs` are what
    the names of its channels begin with: it waits for each of them."""

    inputs: tuple[str, ...] = ("1/", "2/")
    key_groups: int = KEY_GROUPS
    marks: bool = False

    @cached_property
    def schema(self) -> Schema:
        own = tuple(part for side in (self.left, self.right) for part in side.schema if part not in MARKS)
        return (*own, *MARKS) if self.marks else own

    @property
    def times(self) -> tuple[str, ...]:
        """Not those of a side that may be NULL: such rows would be in no window."""
        of_left = (self.left_time,) if self.kind in ("inner", "left") else ()
        return (*of_left, self.right_time) if self.kind in ("inner", "right") else of_left

    def label(self) -> str:
        return "IntervalJoin" + super().label().removeprefix(type(self).__name__)


def unbounded_state(plan: Node) -> tuple[str, ...]:
    """The operators of a plan whose state has no bound, each with the reason and what to type."""
    found = (node.unbounded for node in plan.walk() if isinstance(node, RowOperator))
    return tuple(f"state without a bound: {reason}" for reason in found if reason)
