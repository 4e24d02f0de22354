"""Streams from SQL to rows: Flink's rows and late counts, batch and stream alike, going on after a stop."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import BIDS, TOTALS, WINDOWS, bag, create_table, sessions, some_batches, write_files
from tests.support.examples import SOAK
from tests.support.flink_cases import CASES, JOINS, QUERIES, inputs, micro_batches, options_of, plain, written
from tvfsql import Session, TvfSqlError, compile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# as in tumble_5s_event_time, with the same windows; a late row counts once for each grouping set
LATE_TOO = {
    "topn_tumble_agg_top2": 1,
    "dedup_tumble_keep_last": 1,
    "cascade_tumble5_tumble10": 1,
    "tumble_5s_grouping_sets": 2,
    "tumble_5s_timestamp_ltz_shanghai": 1,
    **dict.fromkeys(JOINS, 2),  # one in each of two aggregates
}

# batch has all cases in `make test`, streams have in `make soak`. Cases with the same input and columns are one stream.
# Joins of other kinds are in test_window_joins.py.
ROW_BY_ROW = ("tumble_5s_event_time", "session_gap5_partition_by_name")
SOME = [
    ("docs_bid_tumble_10m", "docs_bid_cumulate_emit_only_on_update", "docs_bid_tumble_10m_offset_1m"),
    ROW_BY_ROW,
    ("tumble_5s_grouping_sets",),
    ("tumble_5s_timestamp_ltz_shanghai",),
    ("cascade_tumble5_tumble10",),
    ("topn_tumble_agg_top2",),
    ("dedup_tumble_keep_last",),
    ("join_full_outer_is_not_distinct_from",),
]

TOTALS_OF_HOP = TOTALS.format(window=WINDOWS["hop"])


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("names", [(name,) for name in QUERIES] if SOAK else SOME, ids=" ".join)
def test_streams_give_the_rows_and_the_late_count_of_flink(
    names: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    """In few micro-batches; some cases, and all of them in `make soak`, in one for each row."""
    cases = [CASES[name] for name in names]
    tables = inputs(cases[0])
    assert all((inputs(case), options_of(case)) == (tables, options_of(cases[0])) for case in cases)
    session = Session(spark, mode="streaming", options=options_of(cases[0]))
    row_by_row = [[[row] for row in table["rows"]] for table in tables]
    batches = row_by_row if SOAK or names == ROW_BY_ROW else micro_batches(tables)
    for table, parts in zip(tables, batches, strict=True):
        columns = [column for column, _ in table["columns"]]
        folder = tmp_path / table["name"]
        write_files(folder, [[dict(zip(columns, row, strict=True)) for row in part] for part in parts])
        stored = ", ".join(f"`{column}` {kind.removesuffix(' *ROWTIME*')}" for column, kind in table["columns"])
        computed = (f", `{column}` AS {kind.split(' AS ')[1]}" for column, kind in table.get("computed_columns", ()))
        mark = f", WATERMARK FOR {table['watermark'].split()[0]} AS {table['watermark']}"
        create_table(session, table["name"], stored + "".join(computed) + mark, folder)
    each = [f"SELECT '{name}' AS of_case, * FROM ({CASES[name]['query']})" for name in names]
    result = session.execute(" UNION ALL ".join(each) if len(cases) > 1 else cases[0]["query"])[-1]
    assert any("split" in name for name in names) == any(step.rule == "split_distinct" for step in result.query.steps)
    kinds = [field.type.spark for field in result.query.physical.schema]
    rows = [list(map(plain, row, kinds)) for row in result.collect()]
    expected = [[name, *row] if len(names) > 1 else row for name in names for row in CASES[name]["expected_rows"]]
    assert written(rows) == written(expected)
    late = sum(CASES[name].get("late_records_dropped", LATE_TOO.get(name, 0)) for name in names)
    assert session.counts["numLateRecordsDropped"] == late
    rows_in = len(cases) * sum(len(table["rows"]) for table in tables)
    assert (session.counts["rowsIn"], session.counts["rowsOut"]) == (rows_in, len(rows))


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.usefixtures("several_partitions", "generated_code")
def test_streams_give_the_rows_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Windows of several kinds in one stream."""
    write_files(tmp_path / "in", some_batches(seed=1, disorder=30, batches=5 if SOAK else 3))
    query = " UNION ALL ".join(TOTALS.format(window=window) for window in WINDOWS.values())
    stream, batch = sessions(spark, tmp_path / "in", delay=30)
    assert bag(stream.sql(query).collect()) == bag(batch.sql(query).collect())
    assert stream.counts["numLateRecordsDropped"] == stream.counts["stateRows"] == 0


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.usefixtures("several_partitions")
def test_ranks_of_windows_are_those_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=6, disorder=30, batches=5 if SOAK else 2))
    ranks = {  # many bids have the same n or total, or none
        "hop": "ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY bids, total DESC) <= 3",
        "tumble": "RANK() OVER (PARTITION BY item, window_start, window_end ORDER BY bids DESC, n) BETWEEN 2 AND 5",
        "cumulate": "ROW_NUMBER() OVER (PARTITION BY window_end, item, window_start ORDER BY window_time DESC) = 1",
    }
    parts = []
    for window, rank in ranks.items():
        parts.append(
            "SELECT window_end, item, n, bids, total FROM (SELECT window_start, window_end, window_time, item, n, "
            f"COUNT(*) AS bids, SUM(price) AS total FROM TABLE({WINDOWS[window]}) "
            f"GROUP BY window_start, window_end, window_time, item, n) QUALIFY {rank}"
        )
    best = parts[0].replace("SELECT window_end,", "SELECT window_time,", 1)
    parts.append(  # windows over the rows of the first part, which `make test` leaves out
        "SELECT window_end, item, MAX(n) AS n, COUNT(*) AS bids, SUM(total) AS total FROM TABLE(TUMBLE("
        f"({best}), DESCRIPTOR(window_time), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, item"
    )
    parts = parts if SOAK else parts[1:]
    stream, batch = sessions(spark, tmp_path / "in", delay=30)
    result = stream.sql(" UNION ALL ".join(parts))
    assert result.query.code.count("top_n_stream") == len(parts) + 1  # and its import
    assert Counter(result.collect()) == Counter(batch.sql(" UNION ALL ".join(parts)).collect())


@pytest.mark.spark
@pytest.mark.soak
def test_rows_of_windows_are_held_until_these_end(spark: SparkSession, tmp_path: Path) -> None:
    """Top-N and deduplication with no aggregate below, and windows of what they keep."""
    write_files(tmp_path / "in", some_batches(seed=8, disorder=30, batches=5 if SOAK else 2))
    last = f"""SELECT window_time, item, n FROM TABLE({WINDOWS["hop"]}) WHERE n > 5
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY ts DESC) = 1"""
    dearest = f"""SELECT window_time, item, n FROM TABLE({WINDOWS["tumble"]})
        QUALIFY RANK() OVER (PARTITION BY window_start, window_end ORDER BY price DESC, n) BETWEEN 2 AND 4"""
    again = f"""SELECT window_end, item, SUM(n)
        FROM TABLE(TUMBLE(({last}), DESCRIPTOR(window_time), INTERVAL '8' SECOND))
        GROUP BY window_start, window_end, item"""
    query = " UNION ALL ".join([*([last] if SOAK else []), dearest, again])
    stream, batch = sessions(spark, tmp_path / "in", delay=30)
    assert Counter(stream.sql(query).collect()) == Counter(batch.sql(query).collect())


@pytest.mark.spark
@pytest.mark.soak
def test_only_steps_that_differ_come_out(spark: SparkSession, tmp_path: Path) -> None:
    """COUNT(*) is hidden: rows that change no result bring no step about. NULL and NaN are what they were."""
    write_files(tmp_path / "in", some_batches(seed=6, disorder=30, batches=5 if SOAK else 3))
    steps = "TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '20' SECOND))"
    query = f"""SELECT item, window_start, window_end, MAX(price) AS most, AVG(n) AS mean, FIRST_VALUE(n) AS opening,
        SUM(CASE WHEN n > 50 THEN CAST('NaN' AS DOUBLE) ELSE n END) FILTER (WHERE n > 20) AS total,
        COLLECT_LIST(n) FILTER (WHERE n > 80) AS high FROM {steps} GROUP BY item, window_start, window_end"""
    stream, batch = sessions(spark, tmp_path / "in", delay=30)
    every = sorted(batch.sql(query).collect(), key=lambda row: (str(row["item"]), row["window_end"]))
    before = [None, *every[:-1]]
    differing = [
        row for row, last in zip(every, before, strict=True) if last is None or new_step(row) != new_step(last)
    ]
    assert len(differing) < len(every)
    for session in (stream, batch):
        session.execute("SET 'tvfsql.cumulate.emit' = 'changed'")
        assert bag(session.sql(query).collect()) == bag(differing)


@pytest.mark.spark
@pytest.mark.soak
def test_windows_over_windows_give_the_rows_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    """A second window function over the window_time of the first, and GROUP BY of its windows as they are. In `make
    soak` over windows of each kind."""
    write_files(tmp_path / "in", some_batches(seed=6, disorder=30, batches=5 if SOAK else 2))
    counts = """SELECT {}window_time AS rowtime, item, COUNT(*) AS bids FROM TABLE({})
        GROUP BY window_start, window_end, window_time, item"""
    second = """SELECT 'second', window_start, window_end, SUM(bids), COUNT(*)
        FROM TABLE(HOP(TABLE ({}), DESCRIPTOR(rowtime), INTERVAL '20' SECOND, INTERVAL '40' SECOND))
        WHERE bids > 1 GROUP BY window_start, window_end"""
    attached = """SELECT 'attached', window_start, window_end, MAX(bids), COUNT(*) FROM ({})
        WHERE bids > 1 GROUP BY window_start, window_end"""
    sql = " UNION ALL ".join(
        query.format(counts.format(inherited, window))
        for query, inherited, some in (
            (second, "", ("tumble", "hop")),
            (attached, "window_start, window_end, ", ("cumulate",)),
        )
        for name, window in WINDOWS.items()
        if SOAK or name in some
    )
    stream, batch = sessions(spark, tmp_path / "in", delay=30)
    found = Counter(stream.sql(sql).collect())
    assert found == Counter(batch.sql(sql).collect())
    assert {what for what, *_ in found} == {"second", "attached"}
    assert stream.counts["numLateRecordsDropped"] == stream.counts["stateRows"] == 0


@pytest.mark.spark
@pytest.mark.soak
def test_a_stopped_stream_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    """The rows are those of batch; in `make soak` also those of a stream that was not stopped."""
    batches = some_batches(seed=2, disorder=3, batches=6 if SOAK else 4)
    query = TOTALS.format(window=WINDOWS["hop"])
    write_files(tmp_path / "whole", batches)
    unstopped, whole = sessions(spark, tmp_path / "whole", delay=3)
    expected = bag(whole.sql(query).collect())
    if SOAK:
        assert bag(unstopped.sql(query).collect()) == expected
    seen: Counter[str] = Counter()
    for upto, final in ((2, False), (3, False), (len(batches), True)):
        write_files(tmp_path / "parts", batches[:upto])
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=final)
        create_table(session, "bid", BIDS.format(delay=3), tmp_path / "parts")
        rows = session.sql(query).collect()
        assert rows
        seen += bag(rows)
        assert final or seen != expected, "the last windows should wait for the next run"
    assert seen == expected


@pytest.mark.spark
def test_a_file_is_read_however_old_it_is(spark: SparkSession, tmp_path: Path) -> None:
    """Spark alone passes over files that are a week older than the newest one that it has read."""
    folder = tmp_path / "in"
    folder.mkdir()

    def add(n: int, modified: float) -> None:
        (folder / f"{n}.json").write_text(json.dumps({"n": n}), encoding="utf-8")
        os.utime(folder / f"{n}.json", (modified, modified))

    def read(options: str = "") -> list[int]:
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint")
        files = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json'"
        session.execute(f"CREATE TABLE t (n INT) WITH ({files}{options})")
        return sorted(row["n"] for row in session.sql("SELECT n FROM t").collect())

    add(1, time.time())
    assert read() == [1]
    add(2, time.time() - 30 * 86_400)
    add(3, 0)
    assert read(", 'maxFileAge' = '7d'") == []
    assert read() == [2, 3]


@pytest.mark.spark
def test_an_insert_writes_each_window_once_however_often_it_is_run(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=3, disorder=30, batches=2))
    query = "SELECT window_end, item, bids FROM (" + TOTALS.format(window=WINDOWS["tumble"]) + ")"
    _, batch = sessions(spark, tmp_path / "in", delay=30)
    expected = Counter(map(tuple, batch.sql(query).collect()))
    for _ in range(2):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
        create_table(session, "bid", BIDS.format(delay=30), tmp_path / "in")
        sink = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'parquet'"
        session.execute(f"CREATE TABLE totals (ends TIMESTAMP(3), item STRING, bids BIGINT) WITH ({sink})")
        session.execute(f"INSERT INTO totals {query}")
        written = spark.read.parquet(str(tmp_path / "out")).collect()
        assert Counter(map(tuple, written)) == expected


@pytest.mark.spark
def test_a_checkpoint_is_for_one_query(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=5, disorder=3, batches=1, rows=20))
    for window, refused in (("tumble", False), ("hop", True)):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
        create_table(session, "bid", BIDS.format(delay=3), tmp_path / "in")
        result = session.sql(TOTALS.format(window=WINDOWS[window]))
        if not refused:
            assert result.collect()
            continue
        with pytest.raises(TvfSqlError, match="belongs to another query"):
            result.collect()


def test_a_stream_without_end_is_not_awaited() -> None:
    session = Session(mode=None)
    session.execute("CREATE TABLE ticks (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT) WITH ('connector' = 'rate')")
    endless = session.sql("SELECT `value` FROM ticks")
    assert endless.query.awaits_start
    with pytest.raises(TvfSqlError, match="ticks is unbounded") as caught:
        endless.collect()
    assert "INSERT" in (caught.value.hint or "")
    with pytest.raises(TvfSqlError, match="start"):
        endless.start()
    assert not session.sql("SELECT 1 AS one").query.awaits_start


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (TOTALS.format(window=WINDOWS["hop"]) + " ORDER BY item", "on streams ORDER BY takes columns only"),
        (
            f"SELECT item FROM ({TOTALS.format(window=WINDOWS['hop'])} LIMIT 3) WHERE item <> 'a'",
            "LIMIT only works at the end of a SELECT",
        ),
        ("SELECT a.item FROM bid a JOIN bid b ON a.item = b.item", "this join has no time bounds"),
        ("SELECT item, ROW_NUMBER() OVER (ORDER BY ts DESC) FROM bid", "a rank needs an upper limit"),
        (
            f"SELECT * FROM ({TOTALS_OF_HOP}) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY total) <= 3",
            "OVER only works for aggregates, LAG and LEAD ordered by the event time, for ranks within windows",
        ),
        (
            f"SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY total) FROM ({TOTALS_OF_HOP})",
            "a rank needs an upper limit",
        ),
        (
            f"SELECT * FROM (SELECT * FROM TABLE({WINDOWS['tumble']}) "
            f"UNION ALL SELECT * FROM TABLE({WINDOWS['tumble']})) "
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) <= 3",
            "only rows of a window function",
        ),
        (
            "SELECT window_end, HISTOGRAM_NUMERIC(n, 3) AS h FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), "
            "INTERVAL '1' HOUR)) "
            "GROUP BY window_start, window_end",
            "HISTOGRAM_NUMERIC works in batch only",
        ),
        (
            "SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
            "GROUP BY window_start, window_end",
            "table late has no watermark for ts",
        ),
    ],
)
def test_what_streams_lack_is_refused_with_the_reason(query: str, says: str) -> None:
    files = "WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json')"
    tables = f"CREATE TABLE bid ({BIDS.format(delay=1)}) {files}; CREATE TABLE late (ts TIMESTAMP(3)) {files};"
    with pytest.raises(TvfSqlError, match=says) as caught:
        compile(f"{tables} {query}", mode="streaming")
    assert caught.value.hint
    assert caught.value.span is not None


def new_step(row: Any) -> str:
    """All of a row but its window's end."""
    return repr([value for name, value in row.asDict().items() if name != "window_end"])


@pytest.mark.spark
@pytest.mark.soak
def test_late_rows_go_into_a_table_and_nothing_is_lost(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of windows and late rows add up to batch; a second run over the same checkpoint adds nothing."""
    write_files(tmp_path / "in", some_batches(seed=9, disorder=40, batches=5 if SOAK else 2))
    query = "SELECT window_end, item, bids FROM (" + TOTALS.format(window=WINDOWS["tumble"]) + ") WHERE bids > 0"
    _, batch = sessions(spark, tmp_path / "in", delay=0)
    expected = {(row.window_end, row.item): row.bids for row in batch.sql(query).collect()}
    for select in (True, False, False):
        checkpoint = tmp_path / ("select" if select else "insert")
        session = Session(spark, mode="streaming", checkpoint=checkpoint, final=True)
        create_table(session, "bid", BIDS.format(delay=0), tmp_path / "in")
        for name, columns in (
            ("late", "n BIGINT, item STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3)"),
            ("totals", "window_end TIMESTAMP(3), item STRING, bids BIGINT"),
        ):
            path = tmp_path / f"{checkpoint.name}-{name}"
            files = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = 'parquet'"
            session.execute(f"CREATE TABLE {name} ({columns}) WITH ({files})")
        session.execute("SET 'tvfsql.late-output' = 'late'")
        if select:
            rows: list[Any] = session.sql(query).collect()
        else:
            session.execute(f"INSERT INTO totals {query}")
            rows = spark.read.parquet(str(tmp_path / "insert-totals")).collect()
        late = spark.read.parquet(str(tmp_path / f"{checkpoint.name}-late")).collect()
        found = Counter({(row.window_end, row.item): row.bids for row in rows})
        found.update((row.window_end, row.item) for row in late)
        assert found == expected
        assert all((row.window_end - row.window_start).seconds == 10 and row.n < 90 for row in late)
        assert len(late) > 20
        if select or session.counts["rowsIn"]:
            assert session.counts["numLateRecordsWritten"] == len(late)
            assert session.counts["rowsOut"] == len(rows)


@pytest.mark.spark
def test_rows_without_a_time_fail_or_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    """rowtime-null-handling on streams; and watermarks that only marker rows bring, or every row at once."""
    rows = [
        {"ts": "2024-01-01 00:00:01", "n": 1},
        {"ts": None, "n": 2},
        {"ts": "2024-01-01 00:00:12", "n": -1},
        {"ts": "2024-01-01 00:00:03", "n": 4},
    ]
    write_files(tmp_path / "in", [rows])
    query = """SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end"""
    punctuated = "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS CASE WHEN n < 0 THEN ts END"
    found = {}
    for handling, strategy in (("FAIL", ""), ("DROP", ""), ("SKIP_WATERMARK", ""), ("DROP", "on-event")):
        session = Session(spark, mode="streaming", options={"table.exec.source.rowtime-null-handling": handling})
        files = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json'"
        on_event = f", 'scan.watermark.emit.strategy' = '{strategy}'" if strategy else ""
        session.execute(f"CREATE TABLE bid ({punctuated}) WITH ({files}{on_event})")
        if handling == "FAIL":
            with pytest.raises(TvfSqlError, match="time column ts is NULL"):
                session.sql(query).collect()
            continue
        counted = sorted(row.n for row in session.sql(query).collect())
        dropped, skipped = (session.counts[f"numNullRowTimeRecords{how}"] for how in ("Dropped", "Skipped"))
        found[handling, strategy] = counted, dropped, skipped, session.counts["numLateRecordsDropped"]
    assert found == {
        ("DROP", ""): ([1, 2], 1, 0, 0),
        ("SKIP_WATERMARK", ""): ([1, 2], 0, 1, 0),
        ("DROP", "on-event"): ([1, 1], 1, 0, 1),
    }
