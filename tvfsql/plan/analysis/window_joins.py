"""Which joins are window joins, and why others are not. Source: semantics.md#window-joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvfsql.errors import IN_BATCH, Hint, OtherMode
from tvfsql.plan.analysis.properties import WindowColumns, window_of
from tvfsql.plan.joins import EqualPair, WindowJoin
from tvfsql.plan.nodes import Join
from tvfsql.plan.window_nodes import NO_START, AttachedWindow


@dataclass(frozen=True)
class NoWindowJoin:
    """Why a join is not a window join: a sentence, and a hint to type."""

    reason: str
    hint: Hint


def window_join(join: Join) -> WindowJoin | NoWindowJoin:
    """Return the join as a window join, or why it is not one."""
    left, right = window_of(join.left), window_of(join.right)
    if left is None or right is None:
        side = "left" if left is None else "right"
        return NoWindowJoin(
            f"the {side} side of this join has no windows", OtherMode("batch", "a window function on both sides")
        )
    if left.zone != right.zone:
        reason = "this join compares windows over TIMESTAMP with windows over TIMESTAMP_LTZ"
        return NoWindowJoin(reason, OtherMode("batch", "CAST the time column of one side"))
    pairs = {one: EqualPair.of(one, join.left, join.right) for one in join.conditions}
    same = [pair for pair in pairs.values() if pair and _same_kind(pair, left, right)]
    alike = left.window == right.window
    if not alike:  # equal starts then are a condition like others
        same = [pair for pair in same if left.kind(pair.left) != "start"]
    start, end = (_bound(kind, same, left, right) for kind in ("start", "end"))
    if end is None:
        reason = f"the sides of this join have different windows: {left.words} and {right.words}"
        reason = "this join does not compare window_end of both sides" if alike else reason
        return NoWindowJoin(reason, "AND l.window_end = r.window_end")
    start = start if alike and start else (NO_START, NO_START)
    if not all(one.deterministic for one in join.conditions):
        return NoWindowJoin("this join has a condition that is not deterministic", IN_BATCH)
    return WindowJoin(
        join.left,
        join.right,
        join.kind,
        AttachedWindow(left.window, start[0], end[0], left.zone),
        AttachedWindow(right.window, start[1], end[1], right.zone),
        tuple(pair for pair in pairs.values() if pair and pair not in same),
        tuple(one for one, pair in pairs.items() if pair is None),
    )


def _same_kind(pair: EqualPair, left: WindowColumns, right: WindowColumns) -> str | None:
    """Return the window column kind (`start`, `end`, `time`) of the pair's columns if both have the same; else None."""
    kind = left.kind(pair.left)
    return kind if kind == right.kind(pair.right) else None


def _bound(kind: str, same: Sequence[EqualPair], left: WindowColumns, right: WindowColumns) -> tuple[str, str] | None:
    """The columns of both sides with the start or the end (`kind`) of windows that are the same: because they are
    compared, or because the window columns that are compared identify the window. None if there are none.
    """
    compared = next(((pair.left, pair.right) for pair in same if left.kind(pair.left) == kind), None)
    if compared or not left.is_told_by([pair.left for pair in same]):
        return compared
    columns = (left.starts, right.starts) if kind == "start" else (left.ends, right.ends)
    return next(zip(*columns, strict=False), None)
