"""Decides whether a join is an interval join, and if not, why. Rules and the errors of streams use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvfsql.errors import IN_BATCH, Hint, OtherMode
from tvfsql.options.known import STATE_TTL
from tvfsql.physical.words import origin, written
from tvfsql.plan.analysis.properties import is_changelog, window_of
from tvfsql.plan.joins import OF_LEFT, TIMES, EqualPair
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Join, Project, Scan, SetOperation
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import Scalar, column
from tvfsql.syntax.time_bounds import TimeBounds, time_bounds

WIDER = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")  # each before those that have its values


BOUNDED = "AND l.ts BETWEEN r.ts - INTERVAL '10' MINUTE AND r.ts + INTERVAL '10' MINUTE"
RETAINED = f"SET '{STATE_TTL.key}' = '1 d' keeps them for a day"


@dataclass(frozen=True)
class Interval:
    """The conditions of a join by kind: its times with the bounds between them, pairs of equal columns, and the rest.
    Both times are event times or, with `proctime`, processing times.
    """

    left_time: str
    right_time: str
    low: int
    high: int
    pairs: tuple[EqualPair, ...]
    rest: tuple[Scalar, ...]
    proctime: bool = False

    @property
    def parts(self) -> tuple[str, str, int, int]:
        return self.left_time, self.right_time, self.low, self.high


@dataclass(frozen=True)
class NoInterval:
    """Why a join is not an interval join: a sentence, and a hint to type."""

    reason: str
    hint: Hint = BOUNDED


def interval_of(join: Join) -> Interval | NoInterval:
    """Return the join's conditions as those of an interval join, or why it is not one."""
    if window_of(join.left) is not None or window_of(join.right) is not None:
        return NoInterval("only one side of this join has windows", IN_BATCH)
    said = {one: found for one in join.conditions if (found := _between_sides(one, join))}
    if not said:
        clashes = (_times_of_two_types(one, join) for one in join.conditions)
        hint = f"... WHERE r.k = l.k {BOUNDED}" if join.kind in OF_LEFT else BOUNDED
        hint = RETAINED if is_changelog(join.left) or is_changelog(join.right) else f"{hint}; or {RETAINED}"
        none = NoInterval(f"{_noun(join)} has no time bounds, so a stream would keep its rows forever", hint)
        return next(filter(None, clashes), none)
    bounds = _whole_of(max(said.values(), key=lambda each: (_whole(each, said), _of_attributes(each, join))), said)
    if bounds.low is None or bounds.high is None:
        far, sign = ("before", ">= {} -") if bounds.low is None else ("after", "<= {} +")
        first_time, second_time = origin(join.left, bounds.first), origin(join.right, bounds.second)
        return NoInterval(
            f"{_noun(join)} does not limit how long {first_time} may be {far} {second_time}, so rows would be kept "
            "forever",
            f"AND {first_time} {sign.format(second_time)} INTERVAL '10' MINUTE",
        )
    if bounds.low > bounds.high:
        times = f"{origin(join.left, bounds.first)} and {origin(join.right, bounds.second)}"
        return NoInterval(f"no row can satisfy the time bounds of {_noun(join)} between {times}")
    if not all(one.deterministic for one in join.conditions):
        return NoInterval("this join has a condition that is not deterministic", IN_BATCH)
    used = {one for one, each in said.items() if each.of(bounds.first, bounds.second)}
    pairs = {one: pair for one in join.conditions if one not in used and (pair := equal_pair(one, join))}
    rest = tuple(one for one in join.conditions if one not in used and one not in pairs)
    if (other := other_comparison(join, rest)) is not None:
        return other
    clocks = is_proctime(join.left, bounds.first), is_proctime(join.right, bounds.second)
    if clocks[0] != clocks[1]:
        return NoInterval(
            "this join compares processing time with event time",
            "PROCTIME() on both sides, or columns with a WATERMARK",
        )
    return Interval(bounds.first, bounds.second, bounds.low, bounds.high, tuple(pairs.values()), rest, all(clocks))


def _times_of_two_types(condition: Scalar, join: Join) -> NoInterval | None:
    """Why a condition is no bound between times: one is an instant, the other one a wall clock. None: it is not so."""
    sides = [
        next((name for name in each.columns if name in condition.columns and each.type_of(name) in TIMES), None)
        for each in (join.left, join.right)
    ]
    if sides[0] is None or sides[1] is None:
        return None
    first, second = join.left.type_of(sides[0]), join.right.type_of(sides[1])
    if first == second:
        return None
    names = origin(join.left, sides[0]), origin(join.right, sides[1])
    return NoInterval(
        f"the time bounds of this join need times of one type, but {names[0]} is {first.flink} and {names[1]} is "
        f"{second.flink}",
        "one type for both in CREATE TABLE: rt AS CAST(ts AS TIMESTAMP_LTZ(3)), WATERMARK FOR rt AS rt",
    )


def _noun(join: Join) -> str:
    """The join in the words of the query."""
    return {"semi": "this EXISTS or IN", "anti": "this NOT EXISTS or NOT IN"}.get(join.kind, "this join")


def other_comparison(join: Join, rest: Sequence[Scalar]) -> NoInterval | None:
    """Why a join that is not inner cannot check one of these conditions, which are not of equal columns. None: each
    reads one side only.
    """
    sides = ({*join.left.columns}, {*join.right.columns})
    both = next((one for one in rest if not any(one.columns <= side for side in sides)), None)
    if join.kind == "inner" or both is None:
        return None
    pair = EqualPair.of(both, join.left, join.right)
    return _of_two_types(join, pair) if pair is not None else _compared_otherwise(join, both)


def _compared_otherwise(join: Join, condition: Scalar) -> NoInterval:
    """Why a join that is not inner cannot check a condition on both sides."""
    if join.kind in OF_LEFT:
        reason = f"on streams {_noun(join)} may compare its sides only by = and by time bounds"
        if join.kind == "anti":
            instead = OtherMode("batch", "NOT EXISTS (SELECT * FROM r WHERE r.k = l.k AND ...)")
            return NoInterval(f"{reason}, and NOT IN compares NULLs too", instead)
        return NoInterval(reason, OtherMode("batch", after=f"leave out {written(join, condition)}"))
    return NoInterval(
        "on streams an outer join may compare its sides only by = and by time bounds",
        OtherMode("batch", "an inner JOIN", f"leave out {written(join, condition)}"),
    )


def _of_two_types(join: Join, pair: EqualPair) -> NoInterval:
    sides = [
        (each.type_of(name), origin(each, name)) for each, name in ((join.left, pair.left), (join.right, pair.right))
    ]
    narrow, wide = sorted(sides, key=lambda side: [*WIDER, side[0].root].index(side[0].root))
    return NoInterval(
        f"on streams {_noun(join) if join.kind in OF_LEFT else 'an outer join'} compares columns of one type, not "
        f"{sides[0][0].flink} with {sides[1][0].flink}",
        f"(SELECT *, CAST({narrow[1]} AS {wide[0].flink}) AS other FROM ...), and ON other = {wide[1]}",
    )


def _between_sides(condition: Scalar, join: Join) -> TimeBounds | None:
    """The bounds of a left time minus a right time; None if the condition is not such a bound."""
    found = time_bounds(condition)
    if found is None:
        return None
    if found.first in join.right.columns:
        found = found.of(found.second, found.first)
    if found is None or found.first not in join.left.columns or found.second not in join.right.columns:
        return None
    kinds = (join.left.type_of(found.first), join.right.type_of(found.second))
    return found if kinds[0] == kinds[1] and kinds[0] in TIMES else None


def _whole_of(bounds: TimeBounds, said: dict[Scalar, TimeBounds]) -> TimeBounds:
    """Combine all bounds on the same two times."""
    for each in said.values():
        if each.of(bounds.first, bounds.second):
            bounds = bounds.both(each)
    return bounds


def _whole(bounds: TimeBounds, said: dict[Scalar, TimeBounds]) -> bool:
    every = _whole_of(bounds, said)
    return every.low is not None and every.high is not None


def _of_attributes(bounds: TimeBounds, join: Join) -> bool:
    """Whether the bounds are between time attributes."""
    sides = ((join.left, bounds.first), (join.right, bounds.second))
    return all(is_proctime(side, name) or _is_rowtime(side, column(name)) for side, name in sides)


def _is_rowtime(node: Node, time: Scalar) -> bool:
    """Whether the time is the event time of a table below."""
    match node:
        case Scan(rowtime=rowtime):
            return time == rowtime
        case Project(source, items):
            return _is_rowtime(source, time.substitute({item.name: item.scalar for item in items}))
        case SetOperation(left, right):
            other = time.renamed(dict(zip(left.columns, right.columns, strict=True)))
            return _is_rowtime(left, time) and _is_rowtime(right, other)
    return any(time.columns <= {*child.columns} and _is_rowtime(child, time) for child in node.children)


def equal_pair(condition: Scalar, join: Join) -> EqualPair | None:
    """A pair of equal columns of one type, by which rows can be shuffled; None if the condition is not one."""
    pair = EqualPair.of(condition, join.left, join.right)
    if pair is None:
        return None
    kind = join.left.type_of(pair.left)
    return pair if kind and kind == join.right.type_of(pair.right) else None
