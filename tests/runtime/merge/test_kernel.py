"""The slice-to-window kernel against the definition: every window takes the slices that it holds."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext
from itertools import groupby
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.examples import examples
from tvfsql.plan.aggregate.chosen_values import Counted
from tvfsql.plan.tables.internal_columns import RANGE
from tvfsql.plan.window import Cumulate, Hop, time_ranges
from tvfsql.runtime.batch.slices_in_python import RowKernel
from tvfsql.runtime.merge import kernel
from tvfsql.runtime.merge.kernel import SliceKernel
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.merge.slice_rows import SliceRows

EPOCH = datetime(1970, 1, 1)
MOMENTS = pa.struct([("n", pa.int64()), ("mean", pa.float64()), ("m2", pa.float64())])
TIMED = pa.struct([("t", pa.timestamp("us")), ("x", pa.string())])
INT64 = st.integers(-(2**63), 2**63 - 1)
SMALL = st.integers(-5, 5)
FLOATS = st.sampled_from([0.0, 1.5, -2.25, 1e300, math.inf, -math.inf, math.nan])
WORDS = st.sampled_from(["", "a", "b", "ab", "é", "z" * 20])


def money(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    return st.integers(-(10**digits), 10**digits).map(
        lambda units: Decimal((units < 0, tuple(map(int, str(abs(units)))), -scale))
    )


def different(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, max_size=4, unique=True)


@dataclass(frozen=True)
class Column:
    """A partial column of the test: its merge kind, its type, and the values it is drawn from."""

    kind: Merge
    type: Any
    values: st.SearchStrategy[Any]


COLUMNS = {
    "rows": Column("sum", pa.int64(), st.sampled_from([0, 1, 2, 7])),
    "total": Column("sum", pa.int64(), SMALL),
    "wide_total": Column("sum", pa.int64(), st.integers(-(2**57), 2**57)),
    "short_total": Column("sum", pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "price": Column("sum", pa.decimal128(9, 2), money(7, 2)),
    "wealth": Column("sum", pa.decimal128(38, 4), money(36, 4)),
    "weight": Column("sum", pa.float64(), FLOATS),
    "light": Column("sum", pa.float32(), st.sampled_from([0.5, -1.0, 2.0])),
    "least": Column("min", pa.int64(), INT64),
    "most": Column("max", pa.int64(), INT64),
    "near": Column("max", pa.int32(), SMALL),
    "least_float": Column("min", pa.float64(), FLOATS),
    "most_float": Column("max", pa.float32(), st.sampled_from([0.5, -1.0, math.nan, -math.inf])),
    "least_word": Column("min", pa.string(), WORDS),
    "most_bytes": Column("max", pa.binary(), WORDS.map(str.encode)),
    "least_flag": Column("min", pa.bool_(), st.booleans()),
    "most_price": Column("max", pa.decimal128(9, 2), money(7, 2)),
    "least_wealth": Column("min", pa.decimal128(38, 4), money(36, 4)),
    "least_day": Column("min", pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "most_time": Column("max", pa.timestamp("us"), st.datetimes()),
    "most_instant": Column("max", pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    "opening": Column("min", TIMED, st.builds(dict, t=st.datetimes(), x=WORDS)),
    "closing": Column("max", TIMED, st.builds(dict, t=st.sampled_from([EPOCH, datetime.max]), x=WORDS)),
    "least_list": Column("min", pa.list_(pa.float64()), st.lists(st.none() | FLOATS, max_size=3)),
    "most_nested": Column(
        "max",
        pa.struct([("a", pa.int64()), ("b", pa.list_(pa.struct([("c", pa.string())])))]),
        st.builds(dict, a=st.none() | INT64, b=st.none() | st.lists(st.builds(dict, c=st.none() | WORDS), max_size=2)),
    ),
    "names": Column("concat", pa.list_(pa.string()), st.lists(st.none() | WORDS, max_size=3)),
    "spread": Column(
        "moments",
        MOMENTS,
        st.builds(dict, n=st.integers(1, 9), mean=st.floats(-99, 99), m2=st.floats(0, 99))
        | st.just({"n": 0, "mean": 0.0, "m2": 0.0}),
    ),
    "distinct": Column(Counted(), pa.list_(pa.int32()), different(SMALL)),
    "distinct_price": Column(Counted(total=True), pa.list_(pa.decimal128(36, 4)), different(money(35, 4))),
    "distinct_wide": Column(Counted(total=True), pa.list_(pa.int64()), different(st.integers(-(2**57), 2**57))),
    "distinct_words": Column(Counted(), pa.list_(pa.string()), different(WORDS)),
}
KEYS = {
    "k": (pa.float64(), st.none() | st.sampled_from([0.0, 1.0, math.nan])),
    "tags": (pa.list_(pa.string()), st.none() | st.lists(st.none() | st.just("a"), max_size=2)),
    "at": (pa.struct([("x", pa.int64())]), st.none() | st.builds(dict, x=st.none() | st.just(1))),
}
TIMES = ("slice_end", RANGE)
Row = dict[str, Any]


@dataclass(frozen=True)
class Slices:
    """Rows in (key, slice_end) order and the window over them."""

    window: Hop | Cumulate
    rows: list[Row]


@st.composite
def windows(draw: st.DrawFn) -> Hop | Cumulate:
    offset = draw(st.integers(-15, 15))
    step = draw(st.integers(1, 12))
    if draw(st.booleans()):
        return Hop(slide=step, size=draw(st.integers(1, 24)), offset=offset)
    return Cumulate(step, step * draw(st.integers(1, 6)), offset, draw(st.booleans()), draw(st.booleans()))


@st.composite
def slices(draw: st.DrawFn) -> Slices:
    window = draw(windows())
    keys = draw(st.lists(st.tuples(*(values for _, values in KEYS.values())), max_size=4, unique_by=repr))
    pools = {name: draw(st.lists(column.values, max_size=3)) for name, column in COLUMNS.items()}
    dice = Random(draw(st.integers(0, 1000)))  # a draw of hypothesis per cell would take minutes
    rows: list[Row] = []
    for key in keys:
        number = draw(st.integers(-20, 20))
        for step in draw(st.lists(st.sampled_from([0, 0, 1, 1, 1, 2, 3, 7, 30, 10**11]), max_size=14)):
            number += step
            row = dict(zip(KEYS, key, strict=True))
            row["slice_end"] = number * window.slice_size + window.offset
            rows.append(row | {name: dice.choice([None, *pool]) for name, pool in pools.items()})
    return Slices(window, rows)


@st.composite
def sizes(draw: st.DrawFn) -> dict[str, int]:
    """Chunks and batches of a few rows or bytes."""
    names = ("chunk_rows", "chunk_bytes", "batch_rows", "batch_bytes")
    small = {name: draw(st.integers(1, 6)) for name in names}
    return small | {"chunk_bytes": draw(st.sampled_from([1, 300, 1 << 30])), "cut": draw(st.integers(1, 9))}


@examples(200)
@given(slices(), sizes())
@example(Slices(Hop(1, 3), []), {"cut": 1})
def test_the_kernel_gives_every_window_what_its_slices_hold(data: Slices, small: dict[str, int]) -> None:
    whole = [row for batch in run(data) for row in batch]
    assert [plain(row) for row in whole] == [plain(row) for row in naive(data)]
    pieces = run(data, **small)
    assert repr([row for batch in pieces for row in batch]) == repr(whole)
    assert all(len(batch) <= small.get("batch_rows", 10**9) for batch in pieces)


@examples(200)
@given(slices(), sizes())
def test_time_ranges_give_the_same_windows_each_once(data: Slices, small: dict[str, int]) -> None:
    """In the same order too."""
    whole = [row for batch in run(data) for row in batch]
    pieces = [row for batch in run(in_ranges(data), **small) for row in batch]
    assert [repr({name: value for name, value in row.items() if name != RANGE}) for row in pieces] == [
        *map(repr, whole)
    ]


def test_time_ranges_add_floating_point_numbers_in_the_same_order() -> None:
    dice, window = Random(7), Hop(1, 8)
    at = sorted(dice.sample(range(9000), 3000))
    rows: list[Row] = [
        dict.fromkeys(KEYS) | dict.fromkeys(COLUMNS) | {"slice_end": end, "rows": 1, "weight": dice.random()}
        for end in at
    ]
    whole, pieces = (
        [(row["window_end"], row["weight"]) for batch in run(data) for row in batch]
        for data in (Slices(window, rows), in_ranges(Slices(window, rows)))
    )
    assert pieces == whole


def in_ranges(data: Slices) -> Slices:
    """The rows of each key range by range, each with the slices before it that it shares windows with."""
    ranges = time_ranges(data.window)
    of_key = {name: list(rows) for name, rows in groupby(data.rows, key=lambda row: repr([row[k] for k in KEYS]))}
    copies = [
        [row | {RANGE: end} for row in rows for end in ranges.window_ends(ranges.slice_end(row["slice_end"]))]
        for rows in of_key.values()
    ]
    return Slices(data.window, [row for rows in copies for row in sorted(rows, key=lambda row: row[RANGE])])


def run(data: Slices, cut: int = 10**9, **limits: Any) -> list[list[Row]]:
    """The output batches of the kernel over input batches of `cut` rows."""
    keys = [name for name in (*KEYS, RANGE) if name in (data.rows or [{}])[0]]
    made = SliceKernel(data.window, tuple(keys), tuple((n, c.kind) for n, c in COLUMNS.items()), "rows")
    given = table(data.rows).to_batches(max_chunksize=cut)
    return [batch.to_pylist() for batch in replace(made, **limits)(given)]


def table(rows: list[Row]) -> Any:
    types = {name: kind for name, (kind, _) in KEYS.items()}
    types |= {name: pa.timestamp("us") for name in (RANGE, "slice_end") if name in (rows or [{}])[0]}
    types |= {name: column.type for name, column in COLUMNS.items()}
    times = {name: [EPOCH + timedelta(milliseconds=row[name]) for row in rows] for name in types if name in TIMES}
    columns = {name: [row[name] for row in rows] for name in types if name not in TIMES} | times
    return pa.table({name: pa.array(columns[name], type=kind) for name, kind in types.items()})


def naive(data: Slices) -> Iterator[Row]:
    for _, grouped in groupby(data.rows, key=lambda row: repr([row[k] for k in KEYS])):
        rows = list(grouped)
        step: Row = {}
        for end in sorted({end for row in rows for end in ends(data.window, row)}):
            held = [row for row in rows if end in data.window.window_ends(row["slice_end"])]
            out = {name: rows[0][name] for name in KEYS}
            out["window_start"] = EPOCH + timedelta(milliseconds=data.window.window_start(end))
            out["window_end"] = EPOCH + timedelta(milliseconds=end)
            for name, column in COLUMNS.items():
                values = [row[name] for row in held if row[name] is not None]
                out[name] = merged(column.kind, values) if values or isinstance(column.kind, Counted) else None
            before = step if step.get("window_start") == out["window_start"] else None
            step = out
            if data.window.emit_only_on_change:
                out = out | {"before": before and {name: before[name] for name in COLUMNS}}
            yield out


def ends(window: Hop | Cumulate, row: Row) -> Iterator[int]:
    """The windows that a row brings about."""
    if row["rows"]:
        found = window.window_ends(row["slice_end"])
        newest_only = isinstance(window, Cumulate) and (window.emit_only_on_update or window.emit_only_on_change)
        yield from found[:1] if newest_only else found


def merged(kind: Merge, values: list[Any]) -> Any:
    match kind:
        case Counted():
            found = {value for each in values for value in each}
            with localcontext(prec=60):
                return {"n": len(found)} | ({"total": sum(found)} if kind.total else {})
        case "sum":
            with localcontext(prec=60):
                return sum(values[1:], values[0])
        case "min" | "max":
            return (min if kind == "min" else max)(values, key=order)
        case "concat":
            return [element for value in values for element in value]
        case "moments":
            n = sum(v["n"] for v in values)
            mean = sum(v["n"] * v["mean"] for v in values) / n if n else 0.0
            m2 = sum(v["m2"] + v["n"] * (v["mean"] - mean) ** 2 for v in values)
            return {"n": n, "mean": mean, "m2": m2}
    raise AssertionError(kind)


def order(value: Any) -> Any:
    """Spark's: NULL first, NaN last; arrays and structs by what is in them."""
    match value:
        case None:
            return (0,)
        case list():
            return 1, [order(each) for each in value]
        case dict():
            return order(list(value.values()))
        case float() if math.isnan(value):
            return (2,)
    return 1, value


def plain(value: Any) -> Any:
    """Comparable: NaN equals itself, rounding errors do not count, decimals keep their value only."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case float() if math.isfinite(value):
            return f"{value + 0.0:.6e}" if abs(value) > 1e-6 else 0.0
        case float():
            return str(value)
    return value


def simple(ends: list[int], window: Hop | Cumulate, **limits: Any) -> Iterator[Any]:
    """The kernel over slices of one row each, without keys, ending at these ms."""
    at = pa.array([end * 1000 for end in ends], type=pa.int64()).view(pa.timestamp("us"))
    batch = pa.record_batch({"slice_end": at, "rows": pa.array([1] * len(ends), type=pa.int64())})
    return replace(SliceKernel(window, (), (("rows", "sum"),), "rows"), **limits)([batch])


@pytest.mark.parametrize("window", [Hop(1, 10**12), Cumulate(1, 10**12)])
def test_windows_are_made_only_when_they_are_asked_for(window: Hop | Cumulate) -> None:
    first = next(simple([1], window, batch_rows=3))
    assert first.column("window_end").cast(pa.int64()).to_pylist() == [1000, 2000, 3000]


def test_a_gap_of_centuries_costs_nothing() -> None:
    century = 100 * 365 * 86_400_000
    ends = [number * century for number in range(-10, 10)]
    assert [batch.num_rows for batch in simple(ends, Hop(1, 2))] == [40 - 2, 2]


def test_a_window_of_more_rows_than_a_chunk_is_not_read_over_and_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    spied = kernel.Chunk._new_key

    def counting(chunk: Any) -> Any:
        read.append(chunk.table.num_rows)
        return spied(chunk)

    monkeypatch.setattr(kernel.Chunk, "_new_key", counting)
    ends = list(range(10_000))
    assert sum(batch.num_rows for batch in simple(ends, Hop(1, 5000), chunk_rows=10)) == 14_999
    assert sum(read) < 4 * len(ends)


@pytest.mark.parametrize(
    ("ends", "message"), [([60_000, 60_001], "not slice ends"), ([120_000, 60_000], "in the order")]
)
def test_rows_that_are_no_slices_in_order_are_our_mistake(ends: list[int], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        list(simple(ends, Hop(60_000, 120_000)))


def test_the_kernel_travels_to_the_workers_as_its_parameters() -> None:
    made = SliceKernel(Hop(1, 2), ("k",), (("rows", "sum"),), "rows")
    assert pickle.loads(pickle.dumps(made)) == made
    assert len(pickle.dumps(made)) < 500


def test_nothing_in_gives_nothing_out() -> None:
    assert list(simple([], Hop(1, 2))) == []


def test_times_that_are_labelled_utc_are_the_same_times() -> None:
    """Spark hands TIMESTAMP_NTZ over without a zone and TIMESTAMP with that of the session; accelerators that replace
    Spark's operators may label both as UTC.
    """
    times = pa.array([60_000_000, 120_000_000, 540_000_000], pa.timestamp("us"))
    outcomes = []
    for zone in (None, "UTC", "Europe/Berlin"):
        kind = pa.timestamp("us", zone)
        batch = pa.record_batch({"k": times.cast(kind), "end": times.cast(pa.timestamp("us", zone and "UTC")),
                                 "rows": pa.array([1, 2, 3]), "last": times.cast(kind)})  # fmt: skip
        slices = SliceKernel(Hop(60_000, 300_000), ("k",), (("rows", "sum"), ("last", "max")), "rows")([batch])
        rows = RowKernel(Hop(60_000, 300_000), SliceRows(1, (("rows", "sum"),)), ("k", "end", "rows"))(
            [batch.select(["k", "end", "rows"])]
        )
        found = [pa.Table.from_batches(made) for made in (slices, rows)]
        outcomes.append([[_micros(column) for column in table.columns] for table in found])
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert len(outcomes[0][0][0]) == 15


def _micros(column: pa.ChunkedArray) -> list[int]:
    return (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
