"""The joins that tvfsql computes itself: of rows in the same window, or in windows that end together; of rows whose
times are near each other; of all rows of streams that are kept; and with the version of a row that was valid at an
event time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.tables.internal_columns import SINCE, shown
from tvfsql.plan.values.scalar import Ref, Scalar, column, template
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import BIGINT, BOOLEAN, TIMESTAMP, TIMESTAMP_LTZ, is_orderable
from tvfsql.plan.window_nodes import NO_START, AttachedWindow


@dataclass(frozen=True)
class WindowJoin(Node):
    """Join of rows in the same window that agree in `pairs` and for which all of `rest` hold.

    `kind` is that of Join, except cross. Each side has its window in columns of its own. Without starts (NO_START) rows
    match if their windows end together, and the windows may be different.
    """

    left: Node
    right: Node
    kind: str
    left_window: AttachedWindow
    right_window: AttachedWindow
    pairs: tuple[EqualPair, ...]
    rest: tuple[Scalar, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema if self.kind in OF_LEFT else (*self.left.schema, *self.right.schema)

    @property
    def by_ends(self) -> bool:
        """Whether rows match if their windows end together."""
        return self.left_window.start == NO_START

    @property
    def bounds(self) -> tuple[EqualPair, ...]:
        """The window columns that are equal in rows that match."""
        starts = EqualPair(self.left_window.start, self.right_window.start)
        ends = EqualPair(self.left_window.end, self.right_window.end)
        return (ends,) if self.by_ends else (starts, ends)

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """All conditions, as a plain Join would have them."""
        return (*(pair.condition for pair in (*self.bounds, *self.pairs)), *self.rest)

    @property
    def from_left(self) -> WindowJoin:
        """Return the join itself, or a right join as the left join of its sides in the other order."""
        if self.kind != "right":
            return self
        return replace(
            self,
            left=self.right,
            right=self.left,
            kind="left",
            left_window=self.right_window,
            right_window=self.left_window,
            pairs=tuple(EqualPair(pair.right, pair.left, pair.null_safe) for pair in self.pairs),
        )

    @property
    def left_keys(self) -> tuple[str, ...]:
        """The columns of the left side that rows are shuffled by."""
        return tuple(pair.left for pair in (*self.bounds, *self.pairs))

    @property
    def right_keys(self) -> tuple[str, ...]:
        return tuple(pair.right for pair in (*self.bounds, *self.pairs))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "leftWindow", str(self.left_window)
        yield "rightWindow", str(self.right_window)
        yield "joinType", KINDS[self.kind]
        ends = self.bounds if self.by_ends else ()
        yield "where", " AND ".join(map(str, (*ends, *self.pairs, *self.rest))) or "true"
        yield "select", ", ".join(shown(self.columns))


# What all joins share: the names of their kinds, and pairs of columns that must be equal.


# Flink's names for the kinds of joins.
KINDS = {
    "inner": "InnerJoin",
    "left": "LeftOuterJoin",
    "right": "RightOuterJoin",
    "full": "FullOuterJoin",
    "semi": "LeftSemiJoin",
    "anti": "LeftAntiJoin",
}
OF_LEFT = ("semi", "anti")  # those that return columns of the left side alone


@dataclass(frozen=True)
class EqualPair:
    """A column of the left side that must equal one of the right. If `null_safe`, NULLs equal each other."""

    left: str
    right: str
    null_safe: bool = False

    @classmethod
    def of(cls, condition: Scalar, left: Node, right: Node) -> EqualPair | None:
        """Return the pair, if a condition between two relations is just the equality of two columns; else None."""
        match condition.parts:
            case (Ref(one), str(sign), Ref(other)) if sign.strip() in ("=", "IS NOT DISTINCT FROM"):
                one, other = (one, other) if one in left.columns else (other, one)
                if one in left.columns and other in right.columns:
                    return cls(one, other, sign.strip() != "=")
        return None

    @property
    def condition(self) -> Scalar:
        sign = "IS NOT DISTINCT FROM" if self.null_safe else "="
        pattern = f"{{l}} {sign} {{r}}"
        return template(pattern, {"l": column(self.left), "r": column(self.right)}, BOOLEAN, atomic=False)

    def __str__(self) -> str:
        return self.condition.sql


# Interval joins: joins that bound the time between the two rows of a pair.


TIMES = (TIMESTAMP, TIMESTAMP_LTZ)


@dataclass(frozen=True)
class IntervalJoin(Node):
    """Pairs of rows that agree in `pairs` and whose time difference, left minus right, is from `low` to `high`
    microseconds; for semi and anti the rows of `left` that are in such a pair, or in none. `kind` is that of Join,
    except cross. Both times are event times, or with `proctime` processing times.
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
        return self.left.schema if self.kind in OF_LEFT else (*self.left.schema, *self.right.schema)

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
        yield "select", ", ".join(shown(self.columns))


def bound(micros: int) -> str:
    """Format a bound for EXPLAIN: `-10 min`."""
    ms, rest = divmod(abs(micros), 1000)
    text = duration(ms) if not rest else f"{ms}.{rest:03d} ms"
    return f"-{text}" if micros < 0 else text


# Regular joins: joins of streams without a bound on time, whose rows are kept for a retention.


def is_updating(kind: str, retracts: bool) -> bool:
    """Whether rows of a regular join can go again. `retracts`: rows of its sides can."""
    return retracts or kind not in ("inner", "semi")


@dataclass(frozen=True)
class RegularJoin(Node):
    """Pairs of the rows of two streams that agree in `pairs`, each kept for `retention` ms of its side after its
    arrival; for left, right and full also rows without a partner; for semi and anti the rows of `left` that have one,
    or none. Each side has a column of SINCE.

    Out: the columns of the sides without SINCE. If rows can go again (`updating`), they are changes that no operator
    above has handled yet, or with `sign` plain rows, in which that column is 1 for a row that comes and -1 for one that
    goes. `retracts` is the same for each side; "": its rows only come.
    """

    left: Node
    right: Node
    kind: str
    pairs: tuple[EqualPair, ...]
    retention: tuple[int, int]
    retracts: tuple[str, str] = ("", "")
    sign: str = ""

    @cached_property
    def schema(self) -> Schema:
        signs = (Field(self.sign, BIGINT),) if self.sign else ()
        return (*self.shown, *signs)

    @property
    def shown(self) -> Schema:
        """The columns of the sides that it emits."""
        sides = (self.left,) if self.kind in OF_LEFT else (self.left, self.right)
        return tuple(part for side in sides for part in side.schema if part.name not in (*SINCE, *self.retracts))

    @property
    def updating(self) -> bool:
        return is_updating(self.kind, any(self.retracts))

    @property
    def reads(self) -> frozenset[str]:
        """The columns of both sides that it reads."""
        pairs = frozenset(name for pair in self.pairs for name in (pair.left, pair.right))
        return pairs | {*SINCE, *filter(None, self.retracts)}

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", KINDS[self.kind]
        left, right = map(duration, self.retention)
        yield "retention", left if left == right else f"left {left}, right {right}"
        if any(self.retracts):
            yield "changes", "both" if all(self.retracts) else "left" if self.retracts[0] else "right"
        yield "where", " AND ".join(map(str, self.pairs)) or "true"
        yield "select", ", ".join(shown(self.columns))


# Temporal joins: each row with the version of another row that was valid at its event time.


@dataclass(frozen=True)
class TemporalJoin(Node):
    """The rows of `left`, each with a row of `right`: of those that agree in `pairs` and are not later than the row,
    the last one. `kind` is inner or left.

    The rows of `right` are the versions of a table, whose primary key is in `pairs`. Of several versions of one time
    the one that is greatest in `ties` counts.

    With `sign` the rows of `right` are the changes of a changelog, in which that column is -1 where a version ends
    without another one, and `arrival` are the columns that tell which of several changes of one time came last.
    """

    left: Node
    right: Node
    kind: str
    left_time: str
    right_time: str
    pairs: tuple[EqualPair, ...]
    sign: str = ""
    arrival: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return (*self.left.schema, *self.right.schema)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of both sides that it reads."""
        pairs = frozenset(name for pair in self.pairs for name in (pair.left, pair.right))
        return pairs | {self.left_time, self.right_time, *([self.sign] if self.sign else []), *self.arrival}

    @property
    def versions(self) -> Schema:
        """The columns of the versions."""
        return self.right.schema

    @property
    def ties(self) -> tuple[str, ...]:
        """The columns that order versions of one time: `arrival` of changes; else all whose type is known and can be
        ordered."""
        if self.sign:
            return self.arrival
        fields = (part for part in self.versions if part.name not in self.reads)
        return tuple(part.name for part in fields if part.type and is_orderable(part.type))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", KINDS[self.kind]
        yield "leftTime", self.left_time
        yield "rightTime", self.right_time
        yield "where", " AND ".join(map(str, self.pairs))
        if self.sign:
            yield "changes", ", ".join(shown([self.sign])) or "true"
        yield "select", ", ".join(shown(self.columns))
