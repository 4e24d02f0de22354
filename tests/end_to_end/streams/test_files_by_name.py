"""Streams that read files by name, or by a time in their names: each format, several runs, files that come too late."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest

from tvfsql import Session
from tvfsql.errors import TvfSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, PATIENCE = 5, 120
BY_NAME = "'source.file-order' = 'name', 'maxFilesPerTrigger' = '1'"
BY_TIME = (
    "'source.file-order' = 'time-in-name', 'source.file-order.timestamp-formatter' = 'yyyyMMdd', "
    "'maxFilesPerTrigger' = '1'"
)
COUNT = (
    "SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    "GROUP BY window_start, window_end"
)


def table(path: Path | str, more: str, form: str = "json", columns: str = "", after: str = "") -> str:
    return (
        f"CREATE TABLE t (v INT, ts TIMESTAMP(3){columns}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) {after} WITH ("
        f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}', {more})"
    )


def write(file: Path, minute: int, form: str = "json") -> None:
    """Ten rows of a minute. The file is older than all that were written before, by its modification time."""
    rows = [{"v": i, "ts": datetime(2020, 1, 1, 0, minute, 5 * i)} for i in range(10)]
    text = "".join(json.dumps(row | {"ts": str(row["ts"])}) + "\n" for row in rows)
    if form == "csv":
        lines = io.StringIO()
        csv.writer(lines).writerows([("v", "ts"), *((row["v"], row["ts"]) for row in rows)])
        text = lines.getvalue()
    file.parent.mkdir(parents=True, exist_ok=True)
    if form == "parquet":
        kinds = pa.schema([("v", pa.int32()), ("ts", pa.timestamp("us"))])
        pa.parquet.write_table(pa.Table.from_pylist(rows, schema=kinds), file)
    elif file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text, encoding="utf-8")
    write.at -= 1000  # type: ignore[attr-defined]
    os.utime(file, (write.at,) * 2)  # type: ignore[attr-defined]


write.at = 2_000_000_000  # type: ignore[attr-defined]


@pytest.mark.spark
@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_files_are_read_by_name(spark: SparkSession, tmp_path: Path, form: str) -> None:
    folder, end = tmp_path / "in é+%25 b", ".csv.gz" if form == "csv" else f".{form}"
    for minute in range(FILES):
        write(folder / f"{'sub=1/' if minute > 2 else 'a b/'}{minute:02d} é+%20{end}", minute, form)
    more = ", 'csv.header' = 'true'" if form == "csv" else ""
    session = Session(spark, mode="streaming")
    session.execute(table(folder, BY_NAME + more, form))
    assert [row["n"] for row in session.sql(COUNT).collect()] == [10] * FILES
    assert (session.counts["rowsIn"], session.counts["numLateRecordsDropped"]) == (10 * FILES, 0)


@pytest.mark.spark
def test_files_are_read_by_the_time_in_their_names(spark: SparkSession, tmp_path: Path) -> None:
    for minute in range(FILES):
        write(tmp_path / "20190101" / f"{'zyxwv'[minute]}-2020010{minute + 1}.json", minute)
    write(tmp_path / "20190101" / "notes.txt", 0)
    for path in (tmp_path / "20190101", tmp_path / "2019*" / "*.json"):
        session = Session(spark, mode="streaming")
        more = "" if "*" in str(path) else r", 'source.path.regex-pattern' = '.*[.]json'"
        session.execute(table(path, BY_TIME + more))
        assert [row["n"] for row in session.sql(COUNT).collect()] == [10] * FILES
        assert session.counts["numLateRecordsDropped"] == 0
    session.execute(f"DROP TABLE t; {table(tmp_path / '20190101', BY_TIME)}")
    with pytest.raises(TvfSqlError, match=r"the name of the file notes\.txt has no time of the form yyyyMMdd"):
        session.sql(COUNT).collect()
    session.execute(f"DROP TABLE t; {table(tmp_path / '20190101' / 'v-20200105.json', BY_TIME)}")
    assert [row["n"] for row in session.sql(COUNT).collect()] == [10]


@pytest.mark.spark
def test_columns_of_folders(spark: SparkSession, tmp_path: Path) -> None:
    days = ["day=2020-01-01", "day=2020-01-02", "day=__HIVE_DEFAULT_PARTITION__"]
    for minute, day in enumerate(days):
        write(tmp_path / "in" / day / "kind=a%3Ab+c" / f"{minute}.json", minute)
    found = []
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute(
            table(tmp_path / "in", BY_NAME, columns=", `day` DATE, kind STRING", after="PARTITIONED BY (`day`, kind)")
        )
        rows = session.sql("SELECT ts, `day`, kind FROM t WHERE v = 3").collect()
        found.append(sorted((str(row["day"]), row["kind"], str(row["ts"])) for row in rows))
    assert found[0] == found[1] and {kind for _, kind, _ in found[0]} == {"a:b+c"}, found
    assert [day for day, _, _ in found[0]] == ["2020-01-01", "2020-01-02", "None"]


@pytest.mark.spark
def test_several_runs_over_one_checkpoint(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    checkpoint = tmp_path / "checkpoint"

    def run(*minutes: int, final: bool = False) -> tuple[int, int]:
        for minute in minutes:
            write(tmp_path / "in" / f"{minute:02d}.json", minute)
        session = Session(spark, mode="streaming", checkpoint=checkpoint)
        session.execute(f"SET 'tvfsql.final' = '{str(final).lower()}'")
        session.execute(table(tmp_path / "in", BY_NAME))
        rows = session.sql(COUNT).collect()
        return len(rows), session.counts["rowsIn"]

    # the last window of a run stays open
    assert run(1, 0, 2) == (2, 30)
    assert "warning" not in capfd.readouterr().err
    assert run() == (0, 0)
    assert run(4, 3) == (2, 20)
    assert "warning" not in capfd.readouterr().err
    write(tmp_path / "in" / "035.json", 7)  # between 03 and 04, which have been read
    assert run() == (1, 10)
    said = capfd.readouterr().err
    assert f"warning: {tmp_path}/in/035.json of t has come after {tmp_path}/in/04.json was read" in said
    assert run(8, final=True) == (2, 10)
    with pytest.raises(TvfSqlError, match=r"closed by --final, but there is a new file: .*/in/09\.json"):
        run(9, final=True)


@pytest.mark.spark
def test_an_order_can_be_chosen_later(spark: SparkSession, tmp_path: Path) -> None:
    """Spark knows the files that it has read, whoever has listed them, also in a checkpoint that was moved."""
    for minute, more in enumerate(("'maxFilesPerTrigger' = '2'", BY_NAME, BY_NAME, "'maxFilesPerTrigger' = '1'")):
        write(tmp_path / "in" / f"{minute}-é+%41 #&=.json", minute)
        checkpoint = tmp_path / f"checkpoint{minute}"
        if minute:
            (tmp_path / f"checkpoint{minute - 1}").rename(checkpoint)
        session = Session(spark, mode="streaming", checkpoint=checkpoint)
        session.execute(table(tmp_path / "in", more))
        assert len(session.sql("SELECT v FROM t").collect()) == 10


@pytest.mark.spark
def test_a_folder_without_end(spark: SparkSession, tmp_path: Path) -> None:
    """New files are found; the files of a bounded table in the same stream are read in order."""
    for minute in range(3):
        write(tmp_path / "in" / f"{minute}.json", minute)
        write(tmp_path / "past" / f"{minute}.json", minute)
    session = Session(spark, mode="streaming")
    session.execute(table(tmp_path / "in", f"{BY_NAME}, 'source.monitor-interval' = '200 ms'"))
    session.execute(table(tmp_path / "past", BY_NAME).replace("TABLE t", "TABLE past"))
    session.execute("CREATE VIEW u AS SELECT * FROM t UNION ALL SELECT * FROM past")
    out = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json'"
    session.execute(f"CREATE TABLE o (e TIMESTAMP(3), n BIGINT) WITH ({out})")
    running = session.sql(f"INSERT INTO o {COUNT.replace('TABLE t,', 'TABLE u,')}")
    running.start()

    def counted(wanted: int) -> list[int]:
        until, found = time.monotonic() + PATIENCE, list[int]()
        while time.monotonic() < until and len(found) < wanted:
            time.sleep(0.3)
            lines = (file.read_text(encoding="utf-8") for file in (tmp_path / "out").glob("*.json"))
            found = sorted(json.loads(line)["n"] for text in lines for line in text.splitlines())
        return found

    try:
        assert counted(2) == [20, 20]
        for minute in (5, 4):
            write(tmp_path / "new" / f"{minute}.json", minute)
        for minute in (4, 5):
            shutil.move(tmp_path / "new" / f"{minute}.json", tmp_path / "in")
        assert counted(4) == [10, 20, 20, 20]
    finally:
        running.stop()
    assert session.counts["numLateRecordsDropped"] == 0
