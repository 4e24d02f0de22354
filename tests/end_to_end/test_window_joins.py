"""Joins of windows: rows against a plain Python join, in batch and on streams; what they wait for; what is refused."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.models.naive import Cumulating, Hopping, Tumbling, Windows, at
from tests.models.streams import ms
from tests.support.bids import create_table, write_files
from tests.support.examples import SOAK
from tvfsql import Session, TvfSqlError, compile
from tvfsql.rules import PHASES
from tvfsql.runtime.arrow.batches import in_stable_type
from tvfsql.runtime.stream.time.valve import ALL, IDLE, Valve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "ts TIMESTAMP(3), k STRING, {} INT, WATERMARK FOR ts AS ts - INTERVAL '{}' SECOND"
Match = Callable[[dict[str, Any], dict[str, Any]], bool]
Windowed = dict[Any, list[dict[str, Any]]]  # rows by (start, end) of their windows

CONDITIONS: dict[str, Match] = {
    "l.k = r.k": lambda a, b: a["k"] is not None and a["k"] == b["k"],
    "l.k IS NOT DISTINCT FROM r.k AND l.x < r.y": lambda a, b: a["k"] == b["k"] and a["x"] < b["y"],
    "l.k = r.k AND l.x <> r.y": lambda a, b: a["k"] is not None and a["k"] == b["k"] and a["x"] != b["y"],
    "l.x = r.y + 1": lambda a, b: a["x"] == b["y"] + 1,
}


def joined(left: Windowed, right: Windowed, kind: str, match: Match) -> Iterator[tuple[Any, ...]]:
    """The rows of a join, window by window: (end, k, x) of the left row and (end, k, y) of the right one."""
    for window in sorted({*left, *right}):
        ours, theirs = left.get(window, []), right.get(window, [])
        end = window[1]
        for row in ours:
            mine = (end, row["k"], row["x"])
            others = [other for other in theirs if match(row, other)]
            if kind in ("left semi", "left anti"):
                if bool(others) == (kind == "left semi"):
                    yield (*mine, None, None, None)
                continue
            yield from ((*mine, end, other["k"], other["y"]) for other in others)
            if not others and kind in ("left", "full"):
                yield (*mine, None, None, None)
        alone = [other for other in theirs if not any(match(row, other) for row in ours)]
        if kind in ("right", "full"):
            yield from ((None, None, None, end, other["k"], other["y"]) for other in alone)


def by_end(held: Windowed) -> Windowed:
    """The rows by the end of their windows alone."""
    found: Windowed = defaultdict(list)
    for (_, end), rows in held.items():
        found[None, end] += rows
    return found


def in_windows(rows: Sequence[dict[str, Any]], windows: Windows, value: str) -> Windowed:
    found: Windowed = defaultdict(list)
    for row in rows:
        for start, end in windows.holding(row["at"]):
            found[at(start), at(end)].append({"k": row["k"], value: row[value]})
    return found


def counted(held: Windowed, value: str) -> Windowed:
    """The rows of COUNT(*) by window and k."""
    return {
        window: [{"k": k, value: n} for k, n in Counter(row["k"] for row in rows).items()]
        for window, rows in held.items()
    }


def random_rows(draw: random.Random, value: str, batches: int = 2, rows: int = 40) -> list[list[dict[str, Any]]]:
    made = []
    for i in range(batches * rows):
        ms = max(0, i * 500 - draw.randrange(5000))
        time = f"2020-04-15 08:{ms // 60000:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"
        made.append({"ts": time, "k": draw.choice(["a", "b", "c", "d", None]), value: draw.randrange(4)})
    return [made[i : i + rows] for i in range(0, len(made), rows)]


def with_times(batches: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [{**row, "at": ms(datetime.fromisoformat(row["ts"]))} for batch in batches for row in batch]


def side(windows: Windows, table: str, value: str, *, counts: bool) -> str:
    """A side of a join: a window function, or counts by its windows."""
    if not counts:
        return f"(SELECT * FROM TABLE({windows.call(table)}))"
    return (
        f"(SELECT window_start, window_end, k, CAST(COUNT(*) AS INT) AS {value} FROM TABLE({windows.call(table)}) "
        "GROUP BY window_start, window_end, k)"
    )


BY_KEY, BY_NULLS, BY_KEY_AND_MORE, BY_NO_KEY = CONDITIONS
# The windows of both sides, which sides are counts, and the joins.
FORMS: dict[str, tuple[tuple[Windows, Windows], tuple[bool, bool], tuple[tuple[str, str], ...]]] = {
    "functions": (
        (Hopping(4_000, 10_000, 1_000),) * 2,
        (False, False),
        (("inner", BY_KEY), ("left anti", BY_NO_KEY), ("left", BY_KEY_AND_MORE), ("full", BY_NULLS)),
    ),
    "aggregates": (
        (Tumbling(10_000, 3_000),) * 2,
        (True, True),
        (("full", BY_KEY_AND_MORE), ("left semi", BY_NULLS), ("right", BY_KEY), ("left anti", BY_KEY)),
    ),
    "mixed": (
        (Cumulating(5_000, 15_000),) * 2,
        (False, True),
        (("right", BY_NULLS), ("left", BY_NO_KEY), ("left semi", BY_KEY), ("full", BY_KEY)),
    ),
    "unlike": (
        (Tumbling(4_000, 1_000), Hopping(6_000, 18_000, 3_000)),
        (False, True),
        (("inner", BY_KEY), ("left anti", BY_NULLS), ("full", BY_KEY_AND_MORE), ("right", BY_NO_KEY)),
    ),
}


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("form", FORMS if SOAK else ["mixed", "unlike"])
def test_rows_are_those_of_a_plain_join(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """Every kind of join, with keys that are NULL and rows that repeat, in batch and on streams. The first one compares
    only the ends of windows, as do all joins of unlike windows. Two forms, and all of them in `make soak`."""
    windows, counts, joins = FORMS[form]
    unlike = windows[0] != windows[1]
    draw = random.Random(form)
    batches = {"l": random_rows(draw, "x"), "r": random_rows(draw, "y")}
    batch, stream = Session(spark), Session(spark, mode="streaming")
    plain = Session(
        spark, options={"tvfsql.rules.disabled": ", ".join(r.name for phase in PHASES for r in phase.rules)}
    )
    for table, value in (("l", "x"), ("r", "y")):
        write_files(tmp_path / table, batches[table])
        for session in (batch, plain, stream):
            create_table(session, table, COLUMNS.format(value, 6), tmp_path / table)
    held = [
        in_windows(with_times(batches[table]), of, value) for of, table, value in zip(windows, "lr", "xy", strict=True)
    ]
    left, right = (counted(rows, v) if c else rows for rows, v, c in zip(held, "xy", counts, strict=True))
    left, right = (by_end(left), by_end(right)) if unlike else (left, right)
    parts, expected = [], Counter()
    for i, (kind, condition) in enumerate(joins):
        of_right = "NULL, NULL, NULL" if " " in kind else "r.window_end, r.k, r.y"
        starts = "l.window_start = r.window_start AND " if i and not unlike else ""
        parts.append(
            f"SELECT {i} AS number, l.window_end, l.k, l.x, {of_right} "
            f"FROM {side(windows[0], 'l', 'x', counts=counts[0])} l "
            f"{kind} JOIN {side(windows[1], 'r', 'y', counts=counts[1])} r "
            f"ON {starts}l.window_end = r.window_end AND {condition}"
        )
        expected.update((i, *row) for row in joined(left, right, kind, CONDITIONS[condition]))
    for session in (batch, plain, stream):
        assert Counter(map(tuple, session.sql(" UNION ALL ".join(parts)).collect())) == expected
    assert stream.counts["numLateRecordsDropped"] == stream.counts["stateRows"] == 0


@pytest.mark.spark
def test_a_semi_join_with_some_windows_of_the_other_side(spark: SparkSession, tmp_path: Path) -> None:
    draw, windows = random.Random(7), Tumbling(10_000)
    both = Session(spark), Session(spark, mode="streaming")
    held = []
    for table, value in (("l", "x"), ("r", "y")):
        batches = random_rows(draw, value, rows=20)
        write_files(tmp_path / table, batches)
        held.append(in_windows(with_times(batches), windows, value))
        for session in both:
            create_table(session, table, COLUMNS.format(value, 6), tmp_path / table)
    later = {window: rows for window, rows in held[1].items() if str(window[0]) >= "2020-04-15 08:00:10"}
    kinds = {"left semi": "EXISTS", "left anti": "NOT EXISTS"}
    expected = Counter(
        (kind, *row[:3]) for kind in kinds for row in joined(held[0], later, kind, CONDITIONS["l.k = r.k"])
    )
    other = f"""SELECT 1 FROM TABLE({windows.call("r")}) r WHERE r.window_start = l.window_start
        AND r.window_end = l.window_end AND r.k = l.k AND r.window_start >= TIMESTAMP '2020-04-15 08:00:10'"""
    query = " UNION ALL ".join(
        f"SELECT '{kind}', window_end, k, x FROM TABLE({windows.call('l')}) l WHERE {word} ({other})"
        for kind, word in kinds.items()
    )
    for session in both:
        assert Counter(map(tuple, session.sql(query).collect())) == expected
    assert {kind for kind, *_ in expected} == {*kinds}


def test_an_input_that_said_nothing_yet_holds_the_others_up() -> None:
    valve = Valve(inputs=("1/", "2/"))
    valve.receive("1/", 5000)
    assert valve.settle() is None
    valve.receive("2/0", 1000)
    valve.receive("2/1", 2000)
    assert valve.settle() == 1000
    valve.receive("2/", IDLE)
    assert valve.settle() == 5000
    assert Valve.load(5000, valve.dump(), ("1/", "2/")) == valve


def test_what_is_said_of_all_channels_wakes_none_and_counts_for_its_input() -> None:
    valve = Valve(inputs=("1/", "2/"))
    valve.receive("1/", 1000)
    valve.receive("1/", IDLE)
    valve.receive(f"2/{ALL}", IDLE)
    assert valve.settle() is None
    for name in ("1/", "2/"):
        valve.receive(name + ALL, 3000)
    assert valve.settle() == 3000
    again = Valve.load(3000, valve.dump(), ("1/", "2/"))
    assert again == valve
    again.receive("1/", 4000)
    assert again.settle() == 4000, "the other one is idle still"


def test_an_input_that_was_idle_before_its_partitions_were_known_is_them_from_then_on() -> None:
    valve = Valve(inputs=("1/", "2/"))
    valve.receive("2/", IDLE)
    valve.receive("1/", 3000)
    assert valve.settle() == 3000
    valve.receive("2/0", 3500)
    valve.receive("1/", 9000)
    assert (valve.settle(), sorted(valve.channels)) == (3500, ["1/", "2/0"])


@pytest.mark.parametrize(
    ("join", "says"),
    [
        (
            "a JOIN (SELECT k, window_start FROM TABLE({w})) b ON a.window_start = b.window_start",
            "does not compare window_end",
        ),
        ("a JOIN r b ON a.window_start = b.ts AND a.window_end = b.ts", "the right side of this join has no windows"),
        (
            "a JOIN TABLE({other}) b ON a.window_start = b.window_start AND a.window_end = b.window_time",
            "different windows: TUMBLE.* and HOP",
        ),
        ("a CROSS JOIN r b", "the right side of this join has no windows"),
    ],
)
def test_other_joins_are_refused_on_streams_with_the_reason(join: str, says: str) -> None:
    files = "WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json')"
    tables = "; ".join(
        f"CREATE TABLE {name} ({COLUMNS.format(value, 1)}) {files}" for name, value in (("l", "x"), ("r", "y"))
    )
    windows = {"w": Tumbling(10_000).call("r"), "other": Hopping(5_000, 10_000).call("r")}
    query = f"SELECT a.k FROM TABLE({Tumbling(10_000).call('l')}) {join.format(**windows)}"
    with pytest.raises(TvfSqlError, match=says) as caught:
        compile(f"{tables}; {query}", mode="streaming")
    assert caught.value.hint
    assert caught.value.span is not None
    assert compile(f"{tables}; {query}", mode="batch").code


@pytest.mark.parametrize(
    ("windows", "columns", "refused"),
    [
        (Tumbling(10_000).call("{}"), ("start",), ""),
        (Hopping(5_000, 10_000).call("{}"), ("end",), ""),
        (Hopping(5_000, 10_000).call("{}"), ("time",), ""),
        (Cumulating(5_000, 10_000).call("{}"), ("end",), ""),
        (Cumulating(5_000, 10_000).call("{}"), ("start",), "does not compare window_end"),
        ("SESSION(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' SECOND)", ("start",), "does not compare window_end"),
        ("SESSION(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' SECOND)", ("end", "time"), ""),
    ],
)
def test_a_window_column_that_identifies_the_window_is_enough(
    windows: str, columns: tuple[str, ...], refused: str
) -> None:
    files = "WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json')"
    tables = "; ".join(f"CREATE TABLE {name} ({COLUMNS.format('x', 1)}) {files}" for name in ("l", "r"))
    condition = " AND ".join(f"a.window_{column} = b.window_{column}" for column in columns)
    query = f"SELECT a.k FROM TABLE({windows.format('l')}) a JOIN TABLE({windows.format('r')}) b ON {condition}"
    if refused:
        with pytest.raises(TvfSqlError, match=refused):
            compile(f"{tables}; {query}", mode="streaming")
    else:
        assert "WindowJoin" in str(compile(f"{tables}; {query}", mode="streaming").explain())


@pytest.mark.spark
def test_a_side_without_rows_holds_the_other_back_until_it_has_some(spark: SparkSession, tmp_path: Path) -> None:
    """The first rows of the other side find their partners in windows that ended long ago on the first one."""
    early = [{"ts": f"2020-04-15 08:00:{s:02d}", "k": "a", "x": s} for s in (1, 12, 40)]
    late = [{"ts": f"2020-04-15 08:00:{s:02d}", "k": "a", "y": s} for s in (2, 35)]
    windows = Tumbling(10_000)
    query = (
        f"SELECT l.x, r.y FROM {side(windows, 'l', 'x', counts=False)} l LEFT JOIN "
        f"{side(windows, 'r', 'y', counts=False)} r "
        "ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
    )
    write_files(tmp_path / "l", [early])
    write_files(tmp_path / "r", [])
    seen = []
    for final in (False, False, True):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=final)
        for table, value in (("l", "x"), ("r", "y")):
            create_table(session, table, COLUMNS.format(value, 1), tmp_path / table)
        seen.append(sorted(map(tuple, session.sql(query).collect())))
        write_files(tmp_path / "r", [late])
    assert seen == [[], [(1, 2), (12, None)], [(40, None)]]
    assert session.counts["numLateRecordsDropped"] == 0


@pytest.mark.spark
def test_windows_over_several_sources(spark: SparkSession, tmp_path: Path) -> None:
    """UNION ALL below a window function: the slowest source counts."""
    draw = random.Random(3)
    batches = {"l": random_rows(draw, "x"), "r": random_rows(draw, "y", batches=1)}
    both = Session(spark), Session(spark, mode="streaming")
    for table, value in (("l", "x"), ("r", "y")):
        write_files(tmp_path / table, batches[table])
        for session in both:
            create_table(session, table, COLUMNS.format(value, 6), tmp_path / table)
    query = """SELECT window_end, k, SUM(v), COUNT(*), MIN(side) FROM TABLE(HOP(TABLE (
            SELECT ts, k, x AS v, 'l' AS side FROM l WHERE x > 0
            UNION ALL SELECT ts, UPPER(k), y, 'r' FROM r
            UNION ALL SELECT ts, k, x, 'again' FROM l),
        DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)) GROUP BY window_start, window_end, k"""
    batch, stream = (Counter(map(tuple, session.sql(query).collect())) for session in both)
    assert batch == stream != Counter()
    assert both[1].counts["numLateRecordsDropped"] == 0


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="two minutes, in `make soak`; other tests have its parts")
@pytest.mark.usefixtures("several_partitions")
def test_pairs_are_ranked_joined_again_and_grouped_by_their_windows(spark: SparkSession, tmp_path: Path) -> None:
    draw = random.Random(5)
    both = Session(spark), Session(spark, mode="streaming")
    for table, value in (("l", "x"), ("r", "y")):
        write_files(tmp_path / table, random_rows(draw, value))
        for session in both:
            create_table(session, table, COLUMNS.format(value, 6), tmp_path / table)
    of = {table: Tumbling(10_000).call(table) for table in ("l", "r")}
    query = f"""SELECT a.window_end, a.k, MAX(y), COUNT(*) FROM (
            SELECT l.window_start, l.window_end, l.k, l.ts, x, y FROM TABLE({of["l"]}) l LEFT JOIN TABLE({of["r"]}) r
            ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k AND x >= y
            QUALIFY ROW_NUMBER() OVER (PARTITION BY l.window_start, l.window_end, l.k ORDER BY l.ts, y) <= 3
        ) a JOIN (
            SELECT window_start, window_end, k, COUNT(*) AS n FROM TABLE({of["r"]}) GROUP BY window_start, window_end, k
        ) b
        ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k IS NOT DISTINCT FROM b.k
        WHERE EXISTS (SELECT * FROM TABLE({of["l"]}) c
            WHERE c.window_start = a.window_start AND c.window_end = a.window_end AND c.x > a.x)
        GROUP BY a.window_start, a.window_end, a.k"""
    batch, stream = (Counter(map(tuple, session.sql(query).collect())) for session in both)
    assert batch == stream != Counter()


def test_what_may_be_null_may_differ_between_micro_batches() -> None:
    """Spark takes an empty side of a UNION away, and with it the NULLs that the other side's rows would have."""
    never = pa.list_(pa.field("element", pa.struct([pa.field("x", pa.int32(), nullable=False)]), nullable=False))
    some = pa.list_(pa.struct([("x", pa.int32())]))
    columns = [in_stable_type(pa.array([[{"x": 1}]], kind)) for kind in (never, some)]
    assert columns[0].type == columns[1].type
    assert columns[0].to_pylist() == [[{"x": 1}]]
