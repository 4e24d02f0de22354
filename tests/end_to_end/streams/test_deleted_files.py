"""A source file that is deleted after Spark has listed it: nothing of its micro-batch is written, into any table that a
function of ours fills. Source: docs/reliability.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session
from tvfsql.errors import TvfSqlError
from tvfsql.runtime.stream.driver.micro_batch_checks import MicroBatchChecks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 4
INTO = {
    "managed": "INSERT INTO kept SELECT v FROM t",
    "set": "EXECUTE STATEMENT SET BEGIN INSERT INTO kept SELECT v FROM t; INSERT INTO other SELECT v FROM t; END",
}
GONE = r"the file .*/in/2\.json was deleted before it was read: nothing of its micro-batch was written"


@pytest.mark.spark
@pytest.mark.parametrize("into", [*INTO, "select"])
def test_nothing_of_a_micro_batch_that_lacks_a_file_is_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number}.json").write_text(json.dumps({"v": number}) + "\n", encoding="utf-8")
    check, seen = MicroBatchChecks.before, list[int]()

    def deleting(checks: MicroBatchChecks, checkpoint: object, number: int) -> None:
        if number == 1 and (folder / "2.json").exists():
            (folder / "2.json").rename(tmp_path / "2.json")  # Spark has listed it, and reads it next
        check(checks, checkpoint, number)  # type: ignore[arg-type]

    def run() -> None:
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint")
        session.execute(f"SET 'tvfsql.warehouse' = '{tmp_path / 'warehouse'}'")
        more = ", 'maxFilesPerTrigger' = '1', 'source.file-order' = 'name'"
        session.execute(
            f"CREATE TABLE t (v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json'{more})"
        )
        session.execute("CREATE TABLE kept (v INT); CREATE TABLE other (v INT)")
        if into == "select":
            query = session.sql("SELECT v FROM t").query
            session.each_batch(query, lambda rows: seen.extend(row["v"] for row in rows.collect()))
        else:
            session.execute(INTO[into])

    def kept() -> list[int]:
        if into == "select":
            return sorted(seen)
        session = Session(spark, mode="batch")
        session.execute(f"SET 'tvfsql.warehouse' = '{tmp_path / 'warehouse'}'; CREATE TABLE kept (v INT)")
        return sorted(row["v"] for row in session.sql("SELECT v FROM kept").collect())

    with monkeypatch.context() as patched:
        patched.setattr(MicroBatchChecks, "before", deleting)
        with pytest.raises(TvfSqlError, match=GONE):
            run()
    assert kept() == [0, 1]
    with pytest.raises(TvfSqlError, match=GONE):  # the micro-batch is repeated
        run()
    (tmp_path / "2.json").rename(folder / "2.json")
    run()
    assert kept() == [0, 1, 2, 3]
