"""ChangelogNormalize: each row replaces the one with its key, and what that changes is emitted at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Event, ordered
from tests.support.examples import examples
from tests.support.row_streams import RowStream
from tvfsql.runtime.stream.rows.changelog_normalize import NormalizeChanges
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

BY_KEY = NormalizeChanges(2, (0,))  # of rows (key, time); `ends` is the value
THERE, GONE = 1, -1


def test_a_row_replaces_the_one_with_its_key() -> None:
    stream = RowStream(BY_KEY, arrival=True)
    assert stream.batch([Event("a", 100, 90, THERE), Event("b", 50, 40, THERE)]) == [("a", 100, 1), ("b", 50, 1)]
    assert stream.output_watermark == 90
    assert stream.batch([Event("a", 100, None, THERE)]) == []  # it comes twice
    assert stream.batch([Event("a", 20, None, THERE), Event("a", 120, None, THERE)]) == [
        ("a", 100, -1),
        ("a", 20, 1),
        ("a", 20, -1),
        ("a", 120, 1),
    ]
    # the deleted row is the one in state, whatever the message says
    assert stream.batch([Event("a", 7, None, GONE), Event("c", 8, None, GONE)]) == [("a", 120, -1)]
    assert stream.batch([Event("a", 7, None, GONE)]) == []
    assert stream.batch([Event("a", 7, None, THERE), Event("a", 7, None, GONE)]) == [("a", 7, 1), ("a", 7, -1)]
    assert stream.batch([Event(None, None, END_OF_INPUT)]) == []
    assert stream.late == 0 and stream.held == 0


def test_changes_can_be_told_by_their_operation() -> None:
    stream = RowStream(NormalizeChanges(2, (0,), kinds=True), arrival=True)
    assert stream.batch([Event("a", 100, 90, THERE)]) == [("a", 100, "+I")]
    assert stream.batch([Event("a", 100, None, THERE)]) == []  # it comes twice
    assert stream.batch([Event("a", 20, None, THERE), Event("b", 30, None, THERE)]) == [
        ("a", 100, "-U"),
        ("a", 20, "+U"),
        ("b", 30, "+I"),
    ]
    assert stream.batch([Event("a", 7, None, GONE), Event("a", 8, None, THERE)]) == [("a", 20, "-D"), ("a", 8, "+I")]


@examples(100)
@given(
    batches=st.lists(
        st.lists(
            st.tuples(st.sampled_from("abcdefghijklmnop"), st.integers(0, 3), st.sampled_from([THERE, GONE])),
            max_size=12,
        ),
        max_size=6,
    ),
    groups=st.integers(1, 3),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_changes_are_those_of_a_plain_model(
    batches: list[list[tuple[str, int, int]]], groups: int, bucket_rows: int
) -> None:
    stream = RowStream(NormalizeChanges(2, (0,), bucket_rows=bucket_rows), groups, arrival=True)
    last: dict[str, int] = {}
    for batch in batches:
        expected = []
        for key, at, kind in batch:
            before, now = last.pop(key, None), at if kind == THERE else None
            if now is not None:
                last[key] = now
            if before != now:
                expected += [(key, before, -1)] if before is not None else []
                expected += [(key, now, 1)] if now is not None else []
        found = stream.batch([Event(key, at, None, kind) for key, at, kind in batch])
        assert ordered(found) == ordered(expected)
        assert stream.held == len(last) or not batch
