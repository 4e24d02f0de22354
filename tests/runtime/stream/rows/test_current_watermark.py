"""CURRENT_WATERMARK: every row is emitted in its own micro-batch, with the watermark before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Event, ordered
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, RowStream
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.rows.current_watermark import LATEST, AddWatermark
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)


def test_rows_have_the_watermark_of_the_micro_batch_before() -> None:
    stream = RowStream(AddWatermark(COLUMNS, 1))
    assert stream.batch([Event("a", 500, 400, 1), Event("b", 900, 800, 2)]) == [
        ("a", 500, 1, None),
        ("b", 900, 2, None),
    ]
    assert stream.output_watermark == 800
    assert stream.batch([Event("a", 700, 600, 3), Event("c", None, 1200, 4)]) == [("a", 700, 3, 800)]
    assert stream.batch([END]) == []
    assert stream.batch([Event("a", 2000, None, 5)]) == [("a", 2000, 5, LATEST)]
    assert stream.late == 0


def test_on_event_watermarks_count_from_the_next_row_on() -> None:
    stream = RowStream(AddWatermark(COLUMNS, 1, StreamContext(on_event=True)), on_event=True)
    rows = [Event("a", 500, 400, 1), Event("b", 450, 350, 2), Event("c", 900, 800, 3), Event("d", 100, 0, 4)]
    assert stream.batch(rows) == [("a", 500, 1, None), ("b", 450, 2, 400), ("c", 900, 3, 400), ("d", 100, 4, 800)]


@examples(100)
@given(
    batches=st.lists(st.lists(st.tuples(st.integers(0, 50), st.sampled_from("abc")), max_size=8), max_size=6),
    groups=st.integers(1, 3),
    partitions=st.integers(1, 3),
)
def test_rows_and_watermarks_are_those_of_a_plain_model(
    batches: list[list[tuple[int, str]]], groups: int, partitions: int
) -> None:
    stream = RowStream(AddWatermark(COLUMNS, 1), groups, partitions)
    newest: int | None = None
    for number, batch in enumerate(batches):
        found = stream.batch([Event(key, at, at - 5, number) for at, key in batch])
        assert ordered(found) == ordered([(key, at, number, newest) for at, key in batch])
        newest = max([*(at - 5 for at, _ in batch), *([newest] if newest is not None else [])], default=None)
