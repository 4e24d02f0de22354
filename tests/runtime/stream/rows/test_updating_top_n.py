"""Top-N of rows without windows: the folded changes are the best rows after each micro-batch, and each has its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Event
from tests.support.examples import examples
from tests.support.row_streams import Row, RowStream, rows_of
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.rows.ranks.changes import RankChanges, Ranked
from tvfsql.runtime.stream.rows.ranks.of_windows import Limit
from tvfsql.runtime.stream.rows.ranks.updating import BestRows

PROCTIME = StreamContext(proctime=True)
KEY, TIME, VALUE = 0, 1, 2
DOWN, UP = (True, False), (False, True)


def by_value(function: str, last: int, ordering: int = 1) -> Limit:
    """PARTITION BY key ORDER BY value DESC, and by time where it ranks each row alone."""
    return Limit(function, (KEY,), ((VALUE, *DOWN), (TIME, *UP)), ordering, last)


def best(function: str = "row_number", first: int = 1, last: int = 3, **options: Any) -> BestRows:
    """Over rows that only come, with the rank."""
    changes = options.pop("changes", RankChanges((KEY,), (KEY, TIME, VALUE), True, by_rank=function == "row_number"))
    return BestRows(3, by_value(function, last), first, changes, context=PROCTIME, **options)


def ranks_of(function: str, rows: Sequence[Row]) -> list[tuple[Row, int]]:
    """A plain model: the rows of one partition, each with its rank."""
    ordered = sorted(rows, key=lambda row: (-row[VALUE], row[TIME]))
    values = sorted({row[VALUE] for row in rows}, reverse=True)
    if function == "row_number":
        return [(row, at) for at, row in enumerate(ordered, 1)]
    if function == "rank":
        return [(row, 1 + sum(other[VALUE] > row[VALUE] for other in rows)) for row in ordered]
    return [(row, 1 + values.index(row[VALUE])) for row in ordered]


def expected(function: str, first: int, last: int, rows: Sequence[Row]) -> Counter[Row]:
    keys = {row[KEY] for row in rows}
    ranked = (each for key in keys for each in ranks_of(function, [row for row in rows if row[KEY] == key]))
    return Counter((*row, rank) for row, rank in ranked if first <= rank <= last)


def folded(changes: Sequence[Row], into: Counter[Row]) -> None:
    for *row, kind in changes:
        into[tuple(row)] += 1 if kind in ("+I", "+U") else -1
    assert all(count >= 0 for count in into.values()), changes


ROWS = st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 4), st.integers(0, 6))


@examples(100)
@given(
    batches=st.lists(st.lists(ROWS, max_size=12), max_size=6),
    function=st.sampled_from(["row_number", "rank", "dense_rank"]),
    ranks=st.sampled_from([(1, 1), (1, 3), (2, 4)]),
    groups=st.integers(1, 3),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_folded_changes_are_the_ranks_of_a_plain_model(
    batches: list[list[Row]], function: str, ranks: tuple[int, int], groups: int, bucket_rows: int
) -> None:
    stream = RowStream(best(function, *ranks, bucket_rows=bucket_rows), groups)
    every: list[Row] = []
    left: Counter[Row] = Counter()
    for batch in batches:
        every += batch
        folded(stream.batch([Event(key, time, None, value) for key, time, value in batch]), left)
        assert +left == expected(function, *ranks, every)


@examples(100)
@given(
    batches=st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.booleans()), max_size=12), max_size=6
    ),
    ranks=st.sampled_from([(1, 1), (1, 3), (2, 4)]),
    ranked=st.booleans(),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_a_row_that_goes_lets_the_next_one_in(
    batches: list[list[tuple[str, int, bool]]], ranks: tuple[int, int], ranked: bool, bucket_rows: int
) -> None:
    limit = Limit("row_number", (KEY,), ((TIME, *DOWN),), 1, ranks[1])
    changes = RankChanges((KEY,), (KEY, TIME), ranked, by_rank=ranked)
    stream = RowStream(BestRows(2, limit, ranks[0], changes, True, context=PROCTIME, bucket_rows=bucket_rows))
    there: Counter[tuple[str, int]] = Counter()
    left: Counter[Row] = Counter()
    for batch in batches:
        given = [(key, time, 1 if comes or not there[key, time] else -1) for key, time, comes in batch]
        given = [*dict.fromkeys(given)]
        for key, time, sign in given:
            there[key, time] += sign
        folded(stream.batch([Event(key, time, None, sign) for key, time, sign in given]), left)
        every = [(key, time, time) for key, time in there.elements()]
        assert +left == _shown(expected("row_number", *ranks, every), ranked)


def _shown(wanted: Counter[Row], ranked: bool) -> Counter[Row]:
    shown: Counter[Row] = Counter()
    for (key, time, _, rank), count in wanted.items():
        shown[(key, time, rank) if ranked else (key, time)] += count
    return shown


def test_kinds_with_the_rank_are_those_of_each_rank() -> None:
    stream = RowStream(best(last=2))
    assert stream.batch([Event("a", 1, None, 5)]) == [("a", 1, 5, 1, "+I")]
    assert stream.batch([Event("a", 2, None, 7)]) == [
        ("a", 1, 5, 1, "-U"),
        ("a", 2, 7, 1, "+U"),
        ("a", 1, 5, 2, "+I"),
    ]
    assert stream.batch([Event("a", 3, None, 1)]) == [], "behind the limit"
    assert stream.held == 2, "it is not kept"
    assert stream.batch([Event("a", 4, None, 6), Event("b", 1, None, 1)]) == [
        ("a", 1, 5, 2, "-U"),
        ("a", 4, 6, 2, "+U"),
        ("b", 1, 1, 1, "+I"),
    ]


def test_kinds_without_the_rank_are_those_of_rows_that_enter_and_leave() -> None:
    stream = RowStream(best(last=2, changes=RankChanges((KEY,), (KEY, VALUE), False)))
    assert stream.batch([Event("a", 1, None, 5), Event("a", 2, None, 7)]) == [("a", 7, "+I"), ("a", 5, "+I")]
    assert stream.batch([Event("a", 3, None, 6)]) == [("a", 5, "-D"), ("a", 6, "+I")]
    assert stream.batch([Event("a", 4, None, 6)]) == [], "of equal rows the first stays"


def test_a_row_with_the_same_key_is_updated() -> None:
    def ranked(*rows: tuple[str, int]) -> Ranked:
        columns = [pa.array([row[0] for row in rows]), pa.array([row[1] for row in rows])]
        return Ranked(pa.RecordBatch.from_arrays(columns, names=["0", "1"]), np.arange(1, len(rows) + 1))

    changes = RankChanges((), (0, 1), False, key=(0,))
    found = changes.between(ranked(("a", 5), ("b", 4), ("c", 3)), ranked(("d", 7), ("a", 6), ("c", 3)))
    assert rows_of(found) == [("a", 5, "-U"), ("b", 4, "-D"), ("d", 7, "+I"), ("a", 6, "+U")]


def test_what_takes_away_a_row_that_is_not_there_counts_for_nothing() -> None:
    limit = Limit("row_number", (KEY,), ((TIME, *DOWN),), 1, 1)
    changes = RankChanges((KEY,), (KEY, TIME), True, by_rank=True)
    stream = RowStream(BestRows(2, limit, 1, changes, signed=True, context=PROCTIME))
    assert stream.batch([Event("a", 5, None, 1), Event("a", 3, None, 1)]) == [("a", 5, 1, "+I")]
    assert stream.batch([Event("a", 9, None, -1), Event("a", 5, None, -1)]) == [("a", 5, 1, "-U"), ("a", 3, 1, "+U")]
    assert stream.batch([Event("a", 3, None, -1)]) == [("a", 3, 1, "-D")]
    assert stream.held == 0


@pytest.mark.parametrize("last", [1, 2])
def test_by_processing_time_the_row_that_came_last_is_the_first(last: int) -> None:
    changes = RankChanges((KEY,), (KEY, TIME), False, by_rank=last == 1)
    limit = Limit("row_number", (KEY,), (), 0, last)
    stream = RowStream(BestRows(2, limit, 1, changes, newest=True, context=PROCTIME), arrival=True)
    left: Counter[Row] = Counter()
    came: list[int] = []
    for batch in ([3, 1], [9, 2, 5], [4], [4]):
        came += batch
        folded(stream.batch([Event("a", time, None) for time in batch]), left)
        assert +left == Counter(("a", time) for time in came[-last:])


def test_an_idle_partition_is_forgotten_and_its_state_goes() -> None:
    stream = RowStream(best(last=1, retention=100))
    stream.batch([Event("a", 1, None, 5), Event("b", 1, None, 5)])
    stream.now = 99
    assert [row[-1] for row in stream.batch([Event("a", 2, None, 7)])] == ["-U", "+U"]
    stream.now = 100
    assert stream.batch([Event("b", 2, None, 1)]) == [("b", 2, 1, 1, "+I")], "nothing retracts the old row"
    stream.now = 199
    assert stream.batch([Event("c", 2, None, 1)]) == [("c", 2, 1, 1, "+I")]
    stream.now = 350
    stream.batch([Event("c", 2, None, 1)])
    assert stream.held == 1, "a and b were idle"
