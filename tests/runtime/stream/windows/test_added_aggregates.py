"""A query that has more aggregates than the one that wrote its state: the new ones count rows from the change on."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.chosen_aggregates import COUNT, KINDS, NAMES, of_merges
from tests.models.drawn_streams import EVEN, LONG, MONTHS, micro_batches
from tests.models.streams import Event, Operator, Out, operator
from tvfsql.plan.window import Session, Window

SESSIONS = st.builds(Session, st.integers(1, 12), st.sampled_from([None, None, 20]))
WINDOWS = (EVEN | MONTHS | LONG | SESSIONS).filter(lambda window: not window.emit_only_on_change)


def neutral(payload: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """Rows that do not count in some of their partials."""
    for name in names:
        column = pa.array([0 if name == COUNT else None] * payload.num_rows, KINDS[name])
        payload = payload.set_column(payload.schema.names.index(name), name, column)
    return payload


@settings(deadline=None)
@given(st.data(), WINDOWS, micro_batches())
def test_new_aggregates_count_rows_from_the_change_on(
    data: st.DataObject, window: Window, batches: list[list[Event]]
) -> None:
    """Some micro-batches with few aggregates, the others with all: the old ones are those of an unchanged stream, also
    in windows that are open at the change, and the new ones those of a stream in which earlier rows do not count."""
    few = ["rows", *data.draw(st.lists(st.sampled_from(NAMES[1:]), unique=True, max_size=5), "few")]
    more = data.draw(st.permutations([name for name in NAMES if name not in few]), "more")
    cut, groups = data.draw(st.integers(0, len(batches) - 1), "cut"), data.draw(st.integers(1, 3), "groups")
    changed, unchanged, oracle = (Operator(window, groups) for _ in range(3))
    at = len(operator(window).layout.names) - len(NAMES)
    places = operator(window).layout.names[:at]
    found, whole, expected = list[Out](), list[Out](), list[Out]()
    for number, events in enumerate(batches):
        own = few if number < cut else [*few, *more]
        changed.made, changed.given = of_merges(window, own), lambda batch, own=own: batch.select([*places, *own])
        oracle.given = (lambda batch: neutral(batch, more)) if number < cut else None
        of_batch = [sorted(each.batch(events), key=repr) for each in (changed, unchanged, oracle)]
        if number >= cut:
            for rows, of_stream in zip((found, whole, expected), of_batch, strict=True):
                rows += of_stream
    kept = [0, 1, 2, *(3 + NAMES.index(name) for name in few)]
    assert sorted((columns(row, kept) for row in found), key=repr) == sorted(
        (columns(row, kept) for row in whole), key=repr
    )
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    last = max((event.ts for events in batches[:cut] for event in events if event.ts is not None), default=None)
    later = [row for row in whole if last is None or row[1] > last]
    assert not {*map(repr, later)} - {*map(repr, found)}


def columns(row: Out, places: list[int]) -> tuple[Any, ...]:
    return tuple(row[place] for place in places)
