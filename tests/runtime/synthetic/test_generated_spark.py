"""Generated tables on Spark: a batch, a stream and a replay have the same rows, as many as asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.plan.synthetic.nexmark import TABLES
from tvfsql.runtime import DatagenSource, NexmarkSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

EXAMPLES = Path(__file__).parents[3] / "examples"

TYPES = ["tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(38,20)", "boolean"]
TYPES += ["string", "binary", "date", "timestamp", "timestamp_ntz"]


class Rows:
    """What a stream gives: the rows of each micro-batch by its number; it breaks before `broken` is done."""

    def __init__(self, broken: int | None = None) -> None:
        self.batches: dict[int, list[Any]] = {}
        self.broken = broken

    def take(self, rows: DataFrame, number: int) -> None:
        self.batches[number] = [tuple(row) for row in rows.collect()]
        if number == self.broken:
            raise RuntimeError("stopped on purpose")

    def run(self, stream: DataFrame, checkpoint: Path) -> Rows:
        writer = stream.writeStream.foreachBatch(self.take).option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        except Exception as error:
            if "stopped on purpose" not in str(error):
                raise
        return self

    @property
    def all(self) -> list[Any]:
        return [row for number in sorted(self.batches) for row in self.batches[number]]


def test_batch_is_stream_is_replay(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(NexmarkSource)
    spark.dataSource.register(DatagenSource)
    every = ", ".join(f"c{i} {kind}" for i, kind in enumerate(TYPES))
    bid = ", ".join(f"{field.name} {field.type.ddl}" for field in TABLES["bid"])
    nulls = {f"fields.c{i}.null-rate": "0.1" for i in range(len(TYPES))}
    number, shared = 2_500, {"number-of-rows": "2500", "rows-per-batch": "1000", "seed": "5"}
    tables: list[tuple[str, str, dict[str, str]]] = [
        ("datagen", every, shared | nulls),
        ("nexmark", bid, shared | {"nexmark.table": "bid", "disorder": "1 s"}),
    ]
    for i, (connector, columns, options) in enumerate(tables):
        batch = spark.read.format(connector).schema(columns).options(**options).load().collect()
        assert len(batch) == number
        stream = spark.readStream.format(connector).schema(columns).options(**options).load()
        rows = Rows(broken=1).run(stream, tmp_path / str(i))
        broken = rows.batches.pop(1)
        assert list(rows.batches) == [0]
        rows.broken = None
        rows.run(stream, tmp_path / str(i))
        assert list(rows.batches) == [0, 1, 2]
        assert rows.batches[1] == broken
        assert rows.all == [tuple(row) for row in batch]
        assert not Rows().run(stream, tmp_path / str(i)).batches


TEN = "time_bucket(INTERVAL 10 SECOND, dateTime) AS s, s + INTERVAL 10 SECOND AS e"
HOT = """WITH copies AS (
    SELECT time_bucket(INTERVAL 2 SECOND, dateTime) - to_seconds(2 * unnest(range(5))) AS s, auction FROM bid
), bids AS (
    SELECT s, auction, COUNT(*) AS n FROM copies GROUP BY ALL
)
SELECT s, s + INTERVAL 10 SECOND, auction, n FROM bids JOIN (SELECT s, MAX(n) AS n FROM bids GROUP BY s) USING (s, n)
ORDER BY ALL"""
NEXMARK = {  # the tables of a script, and the same query in DuckDB
    "nexmark_q5": ("bid", HOT),
    "nexmark_q7": (
        "bid",
        f"SELECT {TEN}, auction, bidder, price FROM bid QUALIFY RANK() OVER (PARTITION BY s ORDER BY price DESC) = 1"
        " ORDER BY ALL",
    ),
    "nexmark_q8": (
        "person auction",
        f"SELECT DISTINCT s, e, id, name FROM (SELECT *, {TEN} FROM person) p"
        f" SEMI JOIN (SELECT *, {TEN} FROM auction) a ON p.s = a.s AND p.id = a.seller ORDER BY ALL",
    ),
    "nexmark_q12": ("bid", f"SELECT {TEN}, bidder, COUNT(*) AS n FROM bid GROUP BY ALL HAVING n >= 50 ORDER BY ALL"),
}


# windows over windows, and a join of windows; the others are one window and a join of two sources
ON_STREAMS = ("nexmark_q5", "nexmark_q7")


@pytest.mark.soak
@pytest.mark.parametrize("name", NEXMARK)
def test_nexmark_queries_as_duckdb_answers_them(name: str, spark: SparkSession) -> None:
    """The scripts of examples/, and the same query in DuckDB over the same rows: two micro-batches of them, and all in
    `make soak`. In batch, and on streams those of ON_STREAMS, in `make soak` all."""
    tables, wanted = NEXMARK[name]
    script = (EXAMPLES / f"{name}.sql").read_text(encoding="utf-8")
    if not SOAK:
        script = re.sub(r"(?<='number-of-rows' = ')\d+", lambda rows: str(int(rows[0]) * 2 // 5), script)
    modes = ("batch", "streaming") if SOAK or name in ON_STREAMS else ("batch",)
    sessions = {mode: Session(spark, mode=mode) for mode in modes}
    given = {mode: session.execute(script)[-1].collect() for mode, session in sessions.items()}
    duck = duckdb.connect()
    for table in tables.split():
        duck.register(table, sessions["batch"].sql(f"SELECT * FROM {table}").dataframe().toArrow())
    rows = duck.sql(wanted).fetchall()
    assert len(rows) > 4
    for mode in given:
        assert sorted(map(tuple, given[mode])) == rows, mode
    assert all(each.counts["numLateRecordsDropped"] == 0 for mode, each in sessions.items() if mode == "streaming")


def test_a_stream_without_end_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(NexmarkSource)
    options = {"nexmark.table": "person", "rows-per-second": "1000"}
    stream = spark.readStream.format("nexmark").schema("id BIGINT").options(**options).load()
    rows = Rows()
    writer = stream.writeStream.foreachBatch(rows.take).option("checkpointLocation", str(tmp_path))
    for enough in (2, 4):
        query = writer.start()
        while query.isActive and len(rows.batches) < enough:
            query.awaitTermination(1)
        query.stop()
        assert len(rows.batches) >= enough
    ids = [number for (number,) in rows.all]
    assert ids == list(range(1000, 1000 + len(ids)))
    assert len(rows.batches[0]) == 1000
    before = len(ids)
    rows.run(stream, tmp_path)  # availableNow: a second's rows, after those of a micro-batch that the stop cut off
    assert [number for (number,) in rows.all] == list(range(1000, 1000 + sum(map(len, rows.batches.values()))))
    assert len(rows.all) >= before + 1000
