"""Interval joins: joins that bound the time between the two rows of a pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.joins.equal_pair import KINDS, EqualPair
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.values.durations import duration
from tvfsql.plan.values.types import TIMESTAMP, TIMESTAMP_LTZ

TIMES = (TIMESTAMP, TIMESTAMP_LTZ)


@dataclass(frozen=True)
class IntervalJoin(Node):
    """Pairs of rows that agree in `pairs` and whose time difference, left minus right, is from `low` to `high`
    microseconds. `kind` is inner, left, right or full. Both times are event times, or with `proctime` processing times.
    """

    left: Node
    right: Node
    kind: str
    left_time: str
    right_time: str
    low: int
    high: int
    pairs: tuple[EqualPair, ...]
    proctime: bool = False

    @cached_property
    def schema(self) -> Schema:
        return (*self.left.schema, *self.right.schema)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of both sides that it reads."""
        pairs = frozenset(name for pair in self.pairs for name in (pair.left, pair.right))
        return pairs | {self.left_time, self.right_time}

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", KINDS[self.kind]
        yield "leftTime", self.left_time
        yield "rightTime", self.right_time
        if self.proctime:
            yield "times", "PROCTIME"
        yield "leftLowerBound", bound(self.low)
        yield "leftUpperBound", bound(self.high)
        yield "where", " AND ".join(map(str, self.pairs)) or "true"
        yield "select", ", ".join(self.columns)


def bound(micros: int) -> str:
    """Format a bound for EXPLAIN: `-10 min`."""
    ms, rest = divmod(abs(micros), 1000)
    text = duration(ms) if not rest else f"{ms}.{rest:03d} ms"
    return f"-{text}" if micros < 0 else text
