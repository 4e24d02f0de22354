"""TO_CHANGELOG: its rows are Flink's if each row is a micro-batch, and folded they are the rows of batch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.streams.test_kinds_of_changes import changes, left
from tests.support.bids import BIDS, bag, create_table, sessions, some_batches, write_files
from tests.support.conformance import Situation
from tests.support.flink_changes import REFUSED, answers, situations
from tests.support.tvfsql_rows import answer, of_flink, written
from tvfsql import Session, compile
from tvfsql.errors import TvfSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASKED = [each for each in situations() if each.about not in REFUSED]
# windows fire at the end; a group that loses a row and gets one in a micro-batch has an update, in Flink -D and +I
FOLDED = ("windows of a changelog", "windows of a query's changes", "groups by way of rows")
COUNTED = "SELECT item, COUNT(*) AS n, SUM(price) AS total FROM bid GROUP BY item"


@pytest.mark.spark
@pytest.mark.parametrize("situation", ASKED, ids=lambda each: each.about)
def test_rows_are_those_of_flink(situation: Situation, spark: SparkSession, tmp_path: Path) -> None:
    told = answers()[situation.about]
    assert told["sql"] == situation.sql, "python -m tests.support.flink_changes"
    expected = Counter(
        (kind, written([of_flink(value, of) for value, of in zip(row, told["types"], strict=True)]))
        for kind, row in told["changes"]
    )
    if situation.about in FOLDED:
        assert answer(situation, "streaming", spark, tmp_path).rows == left(expected)
    else:
        assert Counter(changes(situation, spark, tmp_path)) == expected


@pytest.mark.parametrize("about", REFUSED)
def test_flink_refuses_it_too(about: str) -> None:
    assert answers()[about]["sql"] == REFUSED[about], "python -m tests.support.flink_changes"
    assert "refused" in answers()[about]
    bid = "CREATE TABLE bid (ts TIMESTAMP(3), item STRING, price INT) WITH ('connector' = 'datagen');"
    with pytest.raises(TvfSqlError):
        compile(bid + REFUSED[about])


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_folded_rows_are_those_of_batch_also_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    batches = some_batches(seed=7, disorder=2, batches=4)
    _, batch = sessions(spark, tmp_path / "in", delay=5)
    columns = "kind STRING, item STRING, n BIGINT, total DECIMAL(38, 2)"
    for upto in (3, 4):
        stream = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=upto == 4)
        create_table(stream, "bid", BIDS.format(delay=5), tmp_path / "in")
        for each in (stream, *([batch] if upto == 3 else [])):
            each.execute(
                f"CREATE TABLE log ({columns}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/log', "
                "'format' = 'parquet')"
            )
        write_files(tmp_path / "in", batches[:upto])
        stream.execute(f"INSERT INTO log SELECT * FROM TO_CHANGELOG(({COUNTED}), DESCRIPTOR(kind))")
    kinds = Counter(row.kind for row in batch.sql("SELECT kind FROM log").collect())
    assert kinds["INSERT"] == 4 and kinds["UPDATE_BEFORE"] == kinds["UPDATE_AFTER"] > 4
    found = batch.sql("SELECT * FROM FROM_CHANGELOG(TABLE log, DESCRIPTOR(kind))").collect()
    assert bag(found) == bag(batch.sql(COUNTED).collect())
    in_batch = batch.sql(f"SELECT * FROM TO_CHANGELOG(({COUNTED}), DESCRIPTOR(kind))").collect()
    assert {row.kind for row in in_batch} == {"INSERT"} and bag([row[1:] for row in in_batch]) == bag(
        [tuple(row) for row in found]
    )
