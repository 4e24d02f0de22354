"""The INSERTs of a set: what they have in common is computed once, and the rows are those without that."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from user_functions import plus_one

from tests.support.bids import create_table, some_batches, write_files
from tvfsql import Session, TvfSqlError
from tvfsql.api.script import Inserts, Script
from tvfsql.runtime import stream
from tvfsql.runtime.frames.dead_letters import counting_dropped
from tvfsql.runtime.stream.progress.counts import ADDED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARING = "table.optimizer.reuse-sub-plan-enabled"
HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
SET = f"""
CREATE VIEW windows AS SELECT window_start, window_end, k, COUNT(*) AS n, SUM(v) AS total
FROM TABLE({HOP}) GROUP BY window_start, window_end, k;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO a SELECT window_end, k, total FROM windows;
    INSERT INTO b SELECT window_end, k, n FROM windows WHERE n > 2;
    INSERT INTO c SELECT window_end, 0, MAX(total) FROM windows GROUP BY window_end;
    INSERT INTO d SELECT ts, k, v FROM t WHERE v < 10;
END"""


def kept(spark: SparkSession) -> set[int]:
    """The numbers of the RDDs that Spark keeps; other tests may have left some."""
    return set(spark._jsc.getPersistentRDDs().keySet())


@pytest.mark.spark
def test_what_inserts_share_is_computed_once_and_then_let_go(spark: SparkSession, tmp_path: Path) -> None:
    """Rows without a time are counted where windows are made of the rest."""
    start, kept_before = datetime(2020, 1, 1), kept(spark)
    rows = [(start + timedelta(seconds=i % 40) if i % 10 else None, i % 3, i) for i in range(200)]
    written, dropped = {}, {}
    for sharing in ("true", "false"):
        options = {SHARING: sharing, "table.exec.source.rowtime-null-handling": "DROP"}
        session = Session(spark, options=options)
        session.register("t", spark.createDataFrame(rows, "ts TIMESTAMP_NTZ, k INT, v BIGINT"))
        for name in "abcd":
            folder = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path / sharing / name}'"
            session.execute(f"CREATE TABLE {name} (ends TIMESTAMP(3), k INT, v BIGINT) WITH ({folder})")
        with counting_dropped() as counter:
            session.execute(SET)
        dropped[sharing] = sum(count for name, count in counter.counts.items() if "Dropped" in name)
        found = {name: spark.read.parquet(str(tmp_path / sharing / name)).collect() for name in "abcd"}
        written[sharing] = {name: Counter(map(tuple, rows)) for name, rows in found.items()}
        assert kept(spark) <= kept_before
    assert written["true"] == written["false"]
    assert all(written["true"].values())
    assert (dropped["true"], dropped["false"]) == (20, 60)


@pytest.mark.spark
def test_what_they_share_is_let_go_after_a_failure_too(spark: SparkSession) -> None:
    session, kept_before = Session(spark), kept(spark)
    session.register("t", spark.createDataFrame([(1,), (0,)], "v INT"))
    session.execute("CREATE TABLE nowhere (v INT) WITH ('connector' = 'blackhole')")
    counts = "SELECT v, COUNT(*) AS n FROM t GROUP BY v"
    with pytest.raises(TvfSqlError, match=r"(?i)zero"):
        session.execute(
            f"EXECUTE STATEMENT SET BEGIN INSERT INTO nowhere SELECT v FROM ({counts});"
            f"INSERT INTO nowhere SELECT 1 / v FROM ({counts}); END"
        )
    assert kept(spark) <= kept_before


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_what_more_than_one_insert_needs_is_planned_once(mode: str) -> None:
    script = Script(mode=mode)
    columns = "(ts TIMESTAMP(3), k INT, v BIGINT, WATERMARK FOR ts AS ts)"
    tables = [f"CREATE TABLE t {columns} WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')"]
    tables += [f"CREATE TABLE {name} (e TIMESTAMP(3), k INT, v BIGINT) WITH ('connector' = 'print')" for name in "abcd"]
    streamed = SET.replace("MAX(total) FROM windows GROUP BY window_end", "total FROM windows")
    *_, inserts = script.outcomes(";".join([*tables, streamed]))
    assert isinstance(inserts, Inserts)
    plans = [query.explain("physical") for query in inserts.queries]
    assert sum("reuse_id=[1]" in plan or "reference_id=[1]" in plan for plan in plans) == 3
    assert sum("GlobalWindowAggregate" in plan for plan in plans) == 1


TABLES = ("every", "some", "best", "most", "late")
OF_ONE_STREAM = """
CREATE VIEW counts AS SELECT window_start, window_end, item, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO every SELECT window_end, item, bids FROM counts;
    INSERT INTO some SELECT window_end, item, plusOne(bids) FROM counts WHERE bids > 14
        UNION ALL SELECT window_end, 'none', bids FROM counts WHERE item IS NULL;
    INSERT INTO best SELECT window_end, item, bids FROM counts
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY bids DESC, item) = 1;
    INSERT INTO most SELECT c.window_end, c.item, m.most FROM counts AS c
        JOIN (SELECT window_start, window_end, MAX(bids) AS most FROM counts GROUP BY window_start, window_end) AS m
        ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.bids = m.most;
END"""


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_one_stream_fills_several_tables_and_a_kill_between_two_doubles_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the tables hold is worked out here from the rows of the view; late rows have a table of their own."""
    write_files(tmp_path / "in", some_batches(seed=9, disorder=40, batches=3, rows=160))

    def session(checkpoint: str | None = "checkpoint") -> Session:
        made = Session(spark, mode="streaming", checkpoint=tmp_path / checkpoint if checkpoint else None, final=True)
        create_table(made, "bid", "ts TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS ts", tmp_path / "in")
        for name in TABLES:
            columns = "item STRING, n INT" if name == "late" else "ends TIMESTAMP(3), item STRING, n BIGINT"
            files = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'parquet'"
            made.execute(f"CREATE TABLE {name} ({columns}) WITH ({files})")
        made.create_function("plusOne", plus_one)
        made.execute("SET 'tvfsql.late-output' = 'late'")
        return made

    def kill(rows: DataFrame, number: int, path: str, *args: Any, **options: Any) -> None:
        if number == 1 and path.endswith("/some"):
            raise RuntimeError("killed")
        to_files(rows, number, path, *args, **options)

    to_files = stream.write_files
    first, second = session(), session()
    with monkeypatch.context() as patch:
        patch.setattr(stream, "write_files", kill, raising=False)
        with pytest.raises(TvfSqlError, match="FOREACH_BATCH_USER_FUNCTION_ERROR"):
            first.execute(OF_ONE_STREAM)
    assert any((tmp_path / "every").glob("batch-*-000000001-*"))
    assert not any((tmp_path / "some").glob("batch-*-000000001-*"))
    second.execute(OF_ONE_STREAM)

    found = {
        name: spark.read.parquet(str(tmp_path / name)).collect() for name in ("every", "some", "best", "most", "late")
    }
    rows = {name: Counter(map(tuple, found[name])) for name in found}
    windows: dict[datetime, list[tuple[str | None, int]]] = {}
    for ends, item, n in found["every"]:
        windows.setdefault(ends, []).append((item, n))
    assert len(found["every"]) == len({(row.ends, row.item) for row in found["every"]})
    few = [(ends, item, n + 1) for ends, item, n in found["every"] if n > 14]
    assert rows["some"] == Counter(few + [(ends, "none", n) for ends, item, n in found["every"] if item is None])
    best = {ends: min(of, key=lambda row: (-row[1], row[0] is not None, row[0])) for ends, of in windows.items()}
    assert rows["best"] == Counter((ends, *row) for ends, row in best.items())
    top = {ends: max(n for _, n in of) for ends, of in windows.items()}
    assert rows["most"] == Counter(tuple(row) for row in found["every"] if row.n == top[row.ends])
    assert sum(row.n for row in found["every"]) + len(found["late"]) == 3 * 160
    counts = {name: first.counts[name] + second.counts[name] for name in ADDED}
    assert counts["rowsOut"] == sum(map(len, found.values())) - len(found["late"])
    written = sum(each.counts.get("numLateRecordsWritten", 0) for each in (first, second))
    assert (counts["numLateRecordsDropped"], written) == (0, len(found["late"])) and written > 50
    assert first.counts["rowsIn"] + second.counts["rowsIn"] == 3 * 160
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["1"]
    with pytest.raises(TvfSqlError, match="/every holds the output of another stream"):
        session(None).execute(OF_ONE_STREAM)
