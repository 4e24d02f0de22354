"""Operators of window aggregates that have only some of the aggregates of the model, in a query that changes."""

from __future__ import annotations

import pyarrow as pa

from tests.models.streams import MERGES, TYPES
from tvfsql.plan.window import Session, Several, Window
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.windows.sessions.operator import SessionOperator
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

COUNT = "total"  # stands for a count, which is 0 without rows
KINDS = dict(zip((name for name, _ in MERGES), TYPES, strict=True))
NAMES = [*KINDS]


def of_merges(window: Window, names: list[str]) -> SlicingOperator | SessionOperator:
    """The operator of a query with these aggregates, whose state may lack any of them."""
    merges = tuple((name, dict(MERGES)[name]) for name in names)
    lacking = {name: pa.array([0 if name == COUNT else None], KINDS[name]) for name in names}
    if isinstance(window, Session):
        return SessionOperator(Intervals(1, merges, window.gap, window.limit), "rows", lacking=lacking)
    assert not isinstance(window, Several)
    return SlicingOperator(window, SliceRows(1, merges), "rows", lacking=lacking)
