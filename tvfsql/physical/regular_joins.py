"""Decides whether a join of streams without a bound on time can be computed by key, and if not, why. Rules and the
errors of streams use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tvfsql.errors import IN_BATCH, OtherMode
from tvfsql.options import Options
from tvfsql.options.known import STATE_TTL
from tvfsql.physical.interval_bounds import NoInterval, equal_pair, interval_of, other_comparison
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.joins import EqualPair, RegularJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Join
from tvfsql.plan.values.scalar import Scalar


@dataclass(frozen=True)
class ByKey:
    """The conditions of a join: pairs of equal columns, and the rest."""

    pairs: tuple[EqualPair, ...]
    rest: tuple[Scalar, ...]


def retention_of(join: Join, options: Options) -> tuple[int, int]:
    """For how many ms the rows of each side are kept: by the hint STATE_TTL, or else by table.exec.state.ttl. 0:
    forever.
    """
    left, right = (options[STATE_TTL] if kept is None else kept for kept in join.retention)
    return left, right


def is_regular(join: Join, options: Options) -> bool:
    """Whether all rows of both sides are joined that are kept: there is a retention, and neither bounds between their
    times nor windows on both sides say how long they are needed.
    """
    both = window_of(join.left) is not None and window_of(join.right) is not None
    return all(retention_of(join, options)) and not both and isinstance(interval_of(join), NoInterval)


def idle_retention(logical: Node, optimized: Node) -> Iterator[str]:
    """A line if a hint STATE_TTL of a stream's plan has no effect, because its join needs none."""
    hinted = [node for node in logical.walk() if isinstance(node, Join) and node.retention != (None, None)]
    if len(hinted) > sum(isinstance(node, RegularJoin) for node in optimized.walk()):
        yield "STATE_TTL has no effect on a join that time bounds or windows limit: it keeps rows as long as they say"


def join_by_key(join: Join) -> ByKey | NoInterval:
    """Return the conditions of a regular join, or why streams cannot compute it."""
    pairs = {one: pair for one in join.conditions if (pair := equal_pair(one, join))}
    rest = tuple(one for one in join.conditions if one not in pairs)
    if (other := other_comparison(join, rest)) is not None:
        return other
    if not all(one.deterministic for one in rest):
        return NoInterval("this join has a condition that is not deterministic", IN_BATCH)
    if not pairs:
        reason = "on streams a join must equate columns of both sides that have one type, or expressions in ON"
        return NoInterval(reason, OtherMode("batch", "JOIN r ON l.k = r.k"))
    return ByKey(tuple(pairs.values()), rest)
