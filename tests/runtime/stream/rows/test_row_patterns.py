"""MATCH_RECOGNIZE against a plain model of Flink's rules, over random patterns and rows: the matcher over rows in any
number of pieces, and the operator of a stream, where each micro-batch is a restart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.models import row_patterns as model
from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, RowStream
from tvfsql.errors import DataError
from tvfsql.plan.patterns import ALL, Pattern, Variable
from tvfsql.runtime.patterns.matches import Matches
from tvfsql.runtime.stream.rows.row_patterns import MatchPattern
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

QUANTIFIERS = [
    *[(1, 1, True)] * 4,
    *[(0, 1, True), (0, None, True), (1, None, True), (0, None, False), (1, None, False), (2, 2, True), (1, 2, True)],
    *[(0, 2, True), (2, None, True), (1, 3, False), (2, None, False), (0, 2, False)],
]
Case = tuple[Pattern, model.Pattern]
# Of a variable: the condition over the columns x and y > 4 and so on, and what it says in the model.
Condition = Callable[[int], tuple[Any, Callable[..., bool] | None, list[tuple[str, int, str]]]]


def x(rows: Sequence[model.Row], number: int) -> int:
    found = rows[number]["x"]
    assert isinstance(found, int)
    return found


def _own(taken: model.Taken, variable: int) -> list[int]:
    return [number for name, number in taken if name == "ABCD"[variable]]


def more_than(least: int, column: str) -> Condition:
    return lambda variable: (("row", column), lambda rows, taken, i: x(rows, i) > least, [])


def rising(variable: int) -> Any:
    before = ("at", variable, False, 1, "x")

    def holds(rows: Any, taken: Any, i: int) -> bool:
        own = _own(taken, variable)
        return not own or x(rows, i) >= x(rows, own[-1])

    return ("or", ("null", before), (">=", ("row", "x"), before)), holds, []


def above_the_row_before(variable: int) -> Any:
    def holds(rows: Any, taken: Any, i: int) -> bool:
        return bool(taken) and x(rows, i) > x(rows, taken[-1][1])

    return (">", ("row", "x"), ("at", ALL, False, 1, "x")), holds, []


def above_the_first_row(variable: int) -> Any:
    def holds(rows: Any, taken: Any, i: int) -> bool:
        return x(rows, i) > x(rows, taken[0][1] if taken else i)

    return (">", ("row", "x"), ("at", ALL, True, 0, "x")), holds, []


def small_sum(variable: int) -> Any:
    def holds(rows: Any, taken: Any, i: int) -> bool:
        return sum(x(rows, number) for number in [*_own(taken, variable), i]) < 12

    return ("<", ("aggregate", 0), ("literal", 12)), holds, [("SUM", variable, "x")]


def small_average(variable: int) -> Any:
    def holds(rows: Any, taken: Any, i: int) -> bool:
        values = [x(rows, number) for number in [*(number for _, number in taken), i]]
        return int(sum(values) / len(values)) <= 4

    return ("<=", ("aggregate", 0), ("literal", 4)), holds, [("AVG", ALL, "x")]


def few_rows(variable: int) -> Any:
    return ("<", ("aggregate", 0), ("literal", 4)), lambda rows, taken, i: len(taken) < 3, [("COUNT", ALL, "")]


def near_the_extremes(variable: int) -> Any:
    def holds(rows: Any, taken: Any, i: int) -> bool:
        values = [x(rows, number) for number in [*_own(taken, variable), i]]
        return max(values) - min(values) < 5

    spread = ("-", ("aggregate", 0), ("aggregate", 1))
    return ("<", spread, ("literal", 5)), holds, [("MAX", variable, "x"), ("MIN", variable, "x")]


CONDITIONS: list[Condition] = [
    *[lambda variable: (None, None, [])] * 2,
    *[more_than(4, "more4"), more_than(2, "more2"), more_than(6, "more6")] * 2,
    *[rising, above_the_row_before, above_the_first_row, small_sum, small_average, few_rows, near_the_extremes],
]


@st.composite
def cases(draw: st.DrawFn, *, of_rows: bool = True) -> Case:
    """A pattern that Flink takes, for the matcher and for the model. Without `of_rows` no condition is a column."""
    how = draw(st.lists(st.sampled_from(QUANTIFIERS), min_size=1, max_size=4))
    variables = tuple(Variable("ABCD"[i], *each) for i, each in enumerate(how))
    assume(not variables[-1].holds_on and any(each.least for each in variables))
    assume(not any(a.holds_on and b.least == 0 for a, b in pairwise(variables)))
    conditions, holds, aggregates = list[Any](), dict[str, Any](), list[tuple[str, int, str]]()
    for i, variable in enumerate(variables):
        made, means, of = draw(st.sampled_from(CONDITIONS))(i)
        if made and made[0] == "row" and not of_rows:
            made = (">", ("row", "x"), ("literal", int(made[1][-1])))
        conditions.append(_moved(made, len(aggregates)))
        aggregates += of
        if means:
            holds[variable.name] = means
    skip = draw(st.sampled_from(["past last row", "past last row", "to next row", "to first", "to last"]))
    target = draw(st.integers(0, len(variables) - 1)) if "row" not in skip else ALL
    within = draw(st.sampled_from([None, None, 3, 8, 30]))
    pattern = Pattern(variables, tuple(conditions), tuple(aggregates), within, skip, target)
    plain = tuple(model.Variable(each.name, each.least, each.most, each.greedy) for each in variables)
    words = skip if target == ALL else f"{skip} {variables[target].name}"
    return pattern, model.Pattern(plain, holds, within, words)


def _moved(condition: Any, by: int) -> Any:
    """A condition with other numbers of aggregates."""
    if isinstance(condition, tuple):
        return (
            ("aggregate", condition[1] + by) if condition[0] == "aggregate" else tuple(_moved(x, by) for x in condition)
        )
    return condition


def numbers_of(matches: Sequence[model.Taken], rows: Sequence[model.Row]) -> Counter[Any]:
    """Matches by the numbers of their rows."""
    return Counter(tuple((name, rows[number]["n"]) for name, number in taken) for taken in matches)


@examples(150)
@given(cases(), st.data())
def test_the_matcher_finds_what_the_model_finds_whatever_the_pieces(case: Case, data: st.DataObject) -> None:
    pattern, plain = case
    step = st.sampled_from([0, 1, 1, 2])
    drawn = data.draw(st.lists(st.tuples(st.integers(0, 2), step, st.integers(0, 9)), min_size=1, max_size=30))
    rows, now = list[dict[str, Any]](), 0
    for n, (key, wait, value) in enumerate(drawn):
        now += wait
        rows.append({"key": key, "ts": now, "x": value, "n": n})
    expected: Counter[Any] | None = Counter()
    try:
        for key in range(3):
            own = [row for row in rows if row["key"] == key]
            expected += numbers_of(model.matches(plain, own), own)
    except model.NoSuchRow:
        expected = None
    cuts = sorted({0, len(rows), *data.draw(st.lists(st.integers(0, len(rows)), max_size=4))})
    if expected is None:
        with pytest.raises(DataError, match="AFTER MATCH SKIP TO"):
            found_in_pieces(pattern, rows, cuts)
    else:
        assert found_in_pieces(pattern, rows, cuts) == expected


def found_in_pieces(pattern: Pattern, rows: Sequence[dict[str, Any]], cuts: Sequence[int]) -> Counter[Any]:
    """What the matcher finds, which reads the rows between two cuts at a time."""
    names = {"x": "1", "more2": "4", "more4": "5", "more6": "6"}
    bounds = tuple((3, i, first, 0) for i in range(len(pattern.variables)) for first in (True, False))
    spec = Matches(pattern.renamed(names), (0,), 2, bounds)
    kept: list[pa.RecordBatch] = []
    found = Counter[Any]()
    for start, stop in pairwise(cuts):
        part = rows[start:stop]
        columns = [
            *(pa.array([row[name] for row in part], pa.int64()) for name in ("key", "x")),
            pa.array([row["ts"] * 1000 for row in part], pa.timestamp("us")),
            pa.array([row["n"] for row in part], pa.int64()),
            *(pa.array([row["x"] > least for row in part], pa.bool_()) for least in (2, 4, 6)),
        ]
        batch = pa.RecordBatch.from_arrays(columns, names=[*map(str, range(7))])
        made = spec.advance(kept, [batch], now=part[-1]["ts"] * 1000, ended=stop == len(rows))
        kept = [made.kept] if made.kept.num_rows else []
        for row in zip(*(column.to_pylist() for column in made.made.columns), strict=True):
            found[taken_by(pattern, row, [each["n"] for each in rows if each["key"] == row[0]])] += 1
    return found


def taken_by(pattern: Pattern, row: Sequence[Any], numbers: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """The rows of a match, of which the first and the last one of each variable are known."""
    made: list[tuple[str, int]] = []
    for i, variable in enumerate(pattern.variables):
        first, last = row[1 + 2 * i : 3 + 2 * i]
        if first is not None:
            made += ((variable.name, n) for n in numbers[numbers.index(first) : numbers.index(last) + 1])
    return tuple(made)


@examples(150)
@given(
    cases(of_rows=False),
    micro_batches(),
    st.sampled_from([1, 3]),
    st.sampled_from([1, 7, 1000]),
    st.sampled_from([1, 4, 1000]),
    st.sampled_from([2, 1000]),
)
def test_random_streams(
    case: Case, batches: list[list[Event]], groups: int, slot: int, bucket_rows: int, chunk_rows: int
) -> None:
    pattern, plain = case
    rows, late, numbered = in_time(batches)
    keys = {row["key"] for row in rows}
    expected = Counter[Any]()
    try:
        for key in keys:
            own = sorted((row for row in rows if row["key"] == key), key=lambda row: row["ts"])
            for taken in model.matches(plain, own):
                expected[key, tuple((name, own[i]["ts"], own[i]["x"]) for name, i in taken)] += 1
    except model.NoSuchRow:
        assume(False)
    bounds = tuple((of, i, first, 0) for i in range(len(pattern.variables)) for first in (True, False) for of in (1, 2))
    spec = Matches(pattern.renamed({"x": "2"}), (0,), 1, bounds)
    operator = MatchPattern(COLUMNS, spec, (), slot=slot, bucket_rows=bucket_rows, chunk_rows=chunk_rows)
    stream = RowStream(operator, groups, arrival=True)
    found = Counter[Any]()
    passed = -(2**62)
    for events in numbered:
        before = passed
        for key, *row in stream.batch(events):
            times = [ms for ms in row[::2] if ms is not None]
            assert max(times) > before, "the output watermark has passed a match"
            found[key, tuple(row)] += 1
        if groups == 1 and stream.output_watermark is not None:
            assert stream.output_watermark >= passed
            passed = stream.output_watermark
    of_model = Counter[Any]()
    for (key, taken), count in expected.items():
        flat: list[Any] = []
        for variable in pattern.variables:
            own_rows = [(ts, value) for name, ts, value in taken if name == variable.name]
            flat += [*own_rows[0], *own_rows[-1]] if own_rows else [None] * 4
        of_model[key, tuple(flat)] += count
    assert found == of_model
    assert stream.late == late
    assert stream.empty


def in_time(batches: Sequence[Sequence[Event]]) -> tuple[list[dict[str, Any]], int, list[list[Event]]]:
    """The rows that are not late, in order of arrival; how many are late; and the events, with values from 0 to 9."""
    rows, late, watermark, made = list[dict[str, Any]](), 0, -(2**62), list[list[Event]]()
    for events in batches:
        changed = [Event(each.key, each.ts, each.watermark, each.value % 10) for each in events]
        made.append(changed)
        for event in changed:
            if event.ts is None:
                continue
            if event.ts <= watermark:
                late += 1
            else:
                rows.append({"key": event.key, "ts": event.ts, "x": event.value})
        watermark = max([watermark, *(each.watermark for each in events if each.watermark is not None)])
    return rows, late, made


def rows_of(pattern: Pattern, **more: Any) -> RowStream:
    spec = Matches(pattern.renamed({"x": "2"}), (0,), 1, ((2, 0, True, 0), (2, ALL, False, 0)))
    return RowStream(MatchPattern(COLUMNS, spec, **more), arrival=True)


def above(least: int) -> Any:
    return (">", ("row", "x"), ("literal", least))


def test_a_match_waits_until_no_earlier_row_can_begin_one() -> None:
    """The row 9 may begin a match with a row above 8 within 100 ms; 5 and 7 match before that is known."""
    pattern = Pattern(
        (Variable("A"), Variable("B", 1, None, greedy=False), Variable("C")),
        (above(4), None, (">", ("row", "x"), ("at", 0, False, 0, "x"))),
        within=100,
        skip="past last row",
    )
    stream = rows_of(pattern)
    assert stream.batch([Event("k", 10, 9, 9), Event("k", 20, 19, 5), Event("k", 30, 29, 1)]) == []
    assert stream.batch([Event("k", 40, 40, 7)]) == []
    assert stream.output_watermark == 39, "the match of 5 and 7 waits for the row 9"
    assert stream.newest == 111
    assert stream.batch([Event(None, None, 109)]) == []
    assert stream.batch([Event(None, None, 110)]) == [("k", 5, 7)]
    assert stream.output_watermark == 110
    assert stream.batch([Event(None, None, END_OF_INPUT)]) == []
    assert stream.empty


def test_rows_that_cannot_match_any_more_leave_the_state() -> None:
    pattern = Pattern((Variable("A"), Variable("B")), (above(4), above(6)), within=100, skip="past last row")
    stream = rows_of(pattern)
    stream.batch([Event("k", 10, 10, 9), Event("l", 11, 11, 1)])
    assert stream.held == 1
    stream.batch([Event(None, None, 300)])
    assert stream.held == 0
    assert stream.batch([Event("k", 301, 301, 9), Event("k", 302, 302, 7)]) == [("k", 9, 7)]
    assert stream.held == 0
