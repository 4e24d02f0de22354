"""Regular joins: the folded changes are the join of the rows so far after each micro-batch, and rows leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Event
from tests.support.examples import examples
from tests.support.row_streams import Row, RowStream
from tvfsql.plan.joins import OF_LEFT
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.rows.joins.regular import RegularJoin
from tvfsql.runtime.stream.rows.joins.two_sides import PRESERVED

PROCTIME = StreamContext(inputs=("1/", "2/"), proctime=True)
NOTHING = (None, None)
LONG = 10**9
Change = tuple[str | None, int, int]  # a key, a value, and 1 or -1


def joining(kind: str, signed: tuple[bool, bool] = (True, True), null_safe: bool = False, **more: int) -> RegularJoin:
    """Rows of a key and a value; their sign is the third column."""
    retention = (more.pop("left", LONG), more.pop("right", LONG))
    return RegularJoin((2, 2), ((0,), (0,)), (null_safe,), kind, signed, retention, PROCTIME, **more)


def model(kind: str, left: Counter[Row], right: Counter[Row], null_safe: bool) -> Counter[Row]:
    """The join of all rows that are there."""

    def partners(key: str | None, others: Counter[Row]) -> list[Row]:
        return [row for row in others.elements() if row[0] == key and (key is not None or null_safe)]

    made: Counter[Row] = Counter()
    for row in left.elements():
        found = partners(row[0], right)
        if kind in OF_LEFT:
            made[row] += bool(found) == (kind == "semi")
            continue
        for other in found or ([NOTHING] if 0 in PRESERVED[kind] else []):
            made[*row, *other] += 1
    for row in right.elements() if 1 in PRESERVED[kind] else ():
        made[*NOTHING, *row] += not partners(row[0], left)
    return +made


def folded(changes: Sequence[Row], into: Counter[Row]) -> None:
    """Apply changes in their order. No row goes that is not there."""
    for *row, kind in changes:
        into[tuple(row)] += {"+I": 1, "-D": -1}[kind]
        assert into[tuple(row)] >= 0, changes


def events(changes: Sequence[Change]) -> list[Event]:
    return [Event(key, value, None, sign) for key, value, sign in changes]


CHANGES = st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 2), st.booleans())
SIDES = st.tuples(st.lists(CHANGES, max_size=8), st.lists(CHANGES, max_size=8))


@pytest.mark.parametrize("kind", PRESERVED)
@examples(100)
@given(
    batches=st.lists(SIDES, max_size=6),
    signed=st.tuples(st.booleans(), st.booleans()),
    null_safe=st.booleans(),
    groups=st.integers(1, 3),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_folded_changes_are_the_join_of_the_rows_that_are_there(
    kind: str,
    batches: list[tuple[list[tuple[str | None, int, bool]], ...]],
    signed: tuple[bool, bool],
    null_safe: bool,
    groups: int,
    bucket_rows: int,
) -> None:
    operator = joining(kind, signed, null_safe, bucket_rows=bucket_rows)
    stream = RowStream(operator, groups)
    there: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
    left: Counter[Row] = Counter()
    for batch in batches:
        sent: list[list[Change]] = [[], []]
        for side, of_side in enumerate(batch):
            for key, value, comes in of_side:  # changes of a row may come in any order
                sign = 1 if comes or not signed[side] or not there[side][key, value] else -1
                there[side][key, value] += sign
                sent[side].insert(value % (len(sent[side]) + 1), (key, value, sign))
        changes = stream.batch(*map(events, sent))
        folded(changes if operator.updates else [(*row, "+I") for row in changes], left)
        assert +left == model(kind, *there, null_safe)


def test_the_worked_example_of_the_module() -> None:
    stream = RowStream(joining("left"))
    assert stream.batch(events([("ann", 1, 1)]), []) == [("ann", 1, *NOTHING, "+I")]
    assert stream.batch([], events([("ann", 7, 1)])) == [("ann", 1, *NOTHING, "-D"), ("ann", 1, "ann", 7, "+I")]
    assert stream.batch(events([("ann", 2, 1)]), []) == [("ann", 2, "ann", 7, "+I")]
    assert stream.batch([], events([("ann", 7, -1)])) == [
        ("ann", 1, "ann", 7, "-D"),
        ("ann", 2, "ann", 7, "-D"),
        ("ann", 1, *NOTHING, "+I"),
        ("ann", 2, *NOTHING, "+I"),
    ]


def test_a_row_that_comes_and_goes_in_one_micro_batch_changes_nothing() -> None:
    stream = RowStream(joining("full"))
    stream.batch(events([("a", 1, 1)]), events([("a", 1, 1)]))
    assert stream.batch(events([("a", 2, 1), ("a", 2, -1)]), events([("a", 1, -1), ("a", 1, 1)])) == []
    assert stream.batch(events([("b", 9, -1), (None, 9, -1)]), []) == []  # what takes away no row counts for nothing
    assert stream.held == 2


@pytest.mark.parametrize("kind", ["inner", "left", "full", "semi", "anti"])
def test_rows_meet_those_that_come_within_their_own_retention(kind: str) -> None:
    stream = RowStream(joining(kind, left=100, right=10))
    stream.now = 1000
    stream.batch(events([("a", 1, 1), ("b", 1, 1)]), events([("b", 5, 1)]))
    stream.now = 1009
    left = [("b", 2, "b", 5, "+I")] if kind not in OF_LEFT else [("b", 2, "+I")] if kind == "semi" else []
    assert stream.batch(events([("b", 2, 1)]), []) == left
    stream.now = 1010  # the right row has been forgotten, and what it was a partner of stays
    alone = {"inner": [], "semi": [], "anti": [("b", 3, "+I")]}.get(kind, [("b", 3, *NOTHING, "+I")])
    assert stream.batch(events([("b", 3, 1)]), []) == alone
    stream.now = 1099
    met = {
        "inner": [("a", 1, "a", 6, "+I")],
        "semi": [("a", 1, "+I")],
        "anti": [("a", 1, "-D")],
    }.get(kind, [("a", 1, *NOTHING, "-D"), ("a", 1, "a", 6, "+I")])
    assert stream.batch([], events([("a", 6, 1)])) == met
    stream.now = 1100  # and the left one
    assert [row for row in stream.batch([], events([("a", 7, 1)])) if row[0] == "a"] == []
    stream.now = 2000
    stream.batch(events([("z", 1, 1)]), [])
    stream.now = 3000
    stream.batch(events([("z", 2, 1)]), [])
    assert stream.held == 1, "all buckets have been looked through"


def test_an_update_that_leaves_the_columns_as_they_are_renews_a_row() -> None:
    for at, expected in ((1099, [("a", 1, "a", 7, "+I")]), (1150, [("a", 1, "a", 7, "+I")])):
        stream = RowStream(joining("inner", left=100, right=100))
        stream.now = 1000
        stream.batch(events([("a", 1, 1)]), [])
        stream.now = at  # the row is there, or has been forgotten
        assert stream.batch(events([("a", 1, -1), ("a", 1, 1)]), []) == []
        stream.now = at + 99
        assert stream.batch([], events([("a", 7, 1)])) == expected
    stream.batch([], events([("b", 1, 1)]))
    stream.now = 1300
    assert stream.batch(events([("a", 1, -1)]), []) == []  # takes the row that has expired away
    stream.batch(events([("a", 1, 1)]), [])
    stream.batch(events([("a", 1, -1)]), [])
    assert stream.batch([], events([("a", 7, 1)])) == []
    stream.now = 3000  # both have been forgotten, and the buckets been looked through
    stream.batch([], events([("z", 1, 1)]))
    stream.now = 6000
    assert stream.batch(events([("a", 1, 1), ("a", 1, -1)]), []) == []
    assert stream.batch([], events([("a", 8, 1)])) == [], "it came and went"


def test_rows_keep_the_retention_with_which_they_came() -> None:
    stream = RowStream(joining("left", left=100, right=100))
    stream.now = 1000
    stream.batch(events([("a", 1, 1)]), [])
    stream.now = 1105
    assert stream.batch([], events([("a", 5, 1)])) == []
    stream.operator = joining("left", left=10_000, right=10_000)
    assert stream.batch([], events([("a", 5, -1), ("a", 6, 1)])) == []
    stream.now = 9000
    assert stream.batch(events([("a", 2, 1)]), []) == [("a", 2, "a", 6, "+I")]


def test_rows_with_two_keys_that_come_and_go_on_both_sides() -> None:
    for kind in PRESERVED:
        operator = RegularJoin((2, 2), ((0, 1), (0, 1)), (False, False), kind, (True, True), (LONG, LONG), PROCTIME)
        stream = RowStream(operator)
        both = events([("a", 1, 1), ("a", 1, -1)])
        assert stream.batch(both, both) == [], kind
        stream.batch(events([("a", 1, 1)]), events([("a", 1, 1)]))
        stream.batch(events([("a", 1, -1)]), events([("a", 1, -1)]))
        assert stream.held == 0, kind


def test_rows_that_nothing_can_take_back_leave_the_state() -> None:
    for kind, held in (("semi", 1), ("anti", 1)):
        stream = RowStream(joining(kind, (False, False)))
        stream.batch(events([("a", 1, 1), ("a", 2, 1)]), events([("a", 1, 1), ("a", 1, 1)]))
        assert stream.held == held, "the key of the right side, once"
    stream = RowStream(joining("inner", (False, False)))
    stream.batch(events([(None, 1, 1)]), events([(None, 1, 1)]))
    assert stream.held == 0
