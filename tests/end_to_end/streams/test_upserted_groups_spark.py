"""Groups of a stream in Spark's own aggregate: their last results are the rows of batch and of our own operator, also
after a restart; which checkpoints are refused, and which commands know its state.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.bids import bag, write_files
from tvfsql import Compiled, Session, TvfSqlError
from tvfsql.api.script import Script, queries_of
from tvfsql.api.streams.state import read_streams, rescale_streams, write_tables
from tvfsql.errors import UnsupportedError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OFF = "SET 'tvfsql.rules.disabled' = 'aggregate_upserts_in_spark';"
KEYS = {
    "s": "STRING",
    "b": "BIGINT",
    "i": "SMALLINT",
    "d": "DECIMAL(20, 2)",
    "day": "DATE",
    "ts": "TIMESTAMP(3)",
    "z": "TIMESTAMP_LTZ(3)",
    "flag": "BOOLEAN",
}
VALUES = {**KEYS, "n": "INT", "x": "DOUBLE", "y": "FLOAT", "parts": "ARRAY<INT>"}
ORDERED = [name for name in VALUES if name != "parts"]
CALLS = {
    "every": ("COUNT(*)", "BIGINT"),
    "some": ("COUNT(parts)", "BIGINT"),
    "big": ("COUNT(x) FILTER (WHERE n > 0)", "BIGINT"),
    "sum_b": ("SUM(b)", "BIGINT"),
    "sum_i": ("SUM(i)", "SMALLINT"),
    "sum_d": ("SUM(d) FILTER (WHERE n <> 1)", "DECIMAL(38, 2)"),
    "avg_n": ("AVG(n)", "INT"),
    "avg_d": ("AVG(d)", "DECIMAL(38, 6)"),
    **{f"min_{name}": (f"MIN({name})", VALUES[name]) for name in ORDERED},
    **{f"max_{name}": (f"MAX({name}) FILTER (WHERE n < 3)", VALUES[name]) for name in ORDERED},
}
GROUPS = [f"k_{name}" for name in KEYS]
NAMED = ", ".join(f"{call} AS {name}" for name, (call, _) in CALLS.items())
QUERY = f"SELECT every + 1 AS more, * FROM (SELECT {', '.join(GROUPS)}, {NAMED} FROM t GROUP BY {', '.join(GROUPS)})"
RESULT = ", ".join(
    f"{name} {kind}"
    for name, kind in (
        ("more", "BIGINT"),
        *((f"k_{name}", kind) for name, kind in KEYS.items()),
        *((name, kind) for name, (_, kind) in CALLS.items()),
    )
)
# each of NULL, ordinary values and the ends of a type, a value for each number of a group
CHOICES: Mapping[str, list[Any]] = {
    "s": [None, "", "a", "a ", "é", "\U0001f600"],
    "b": [None, 2**60, -(2**60), 0, 1, 2],
    "i": [None, 300, -300, 0, 1, 2],
    "d": [None, Decimal("999999999999999999.99"), Decimal("-0.01"), Decimal(0), Decimal("0.01"), Decimal(1)],
    "day": [None, date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(2020, 2, 29), date(2024, 3, 31)],
    "ts": [
        None,
        datetime(1900, 1, 1),
        datetime(9999, 12, 31),
        datetime(2024, 3, 31, 2, 30),
        *[datetime(2020, 1, 1)] * 2,
    ],
    "z": [None, *(datetime(2024, 3, 31, 0, 59) + timedelta(milliseconds=i) for i in range(5))],
    "flag": [None, True, False, None, True, False],
    "n": [None, 0, 1, 2, 3, -(2**31)],
    "x": [None, float("nan"), -0.0, 0.0, float("inf"), 0.1],
    "y": [None, float("nan"), 0.0, -0.0, float("-inf"), 0.5],
    "parts": [None, [], [1], [1, 2], [None], [3]],
}


def write_rows(folder: Path) -> None:
    """Four files, which are micro-batches: the groups of the first two come again later."""
    draw = random.Random(11)
    zoned = pa.timestamp("us", "UTC")
    arrow = {"s": pa.string(), "b": pa.int64(), "i": pa.int16(), "d": pa.decimal128(20, 2), "day": pa.date32()}
    arrow |= {"ts": pa.timestamp("us"), "z": zoned, "flag": pa.bool_(), "n": pa.int32(), "x": pa.float64()}
    arrow |= {"y": pa.float32(), "parts": pa.list_(pa.int32())}
    folder.mkdir()
    for number, most in enumerate((3, 5, 2, 5)):
        groups = [draw.randint(0, most) for _ in range(40)]
        columns = {f"k_{name}": [CHOICES[name][group] for group in groups] for name in KEYS}
        columns |= {name: [draw.choice(CHOICES[name]) for _ in groups] for name in VALUES}
        kinds = {f"k_{name}": arrow[name] for name in KEYS} | arrow
        table = pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})
        pq.write_table(table, folder / f"{number}.parquet")


def tables(folder: Path) -> str:
    columns = [
        *(f"k_{name} {kind}" for name, kind in KEYS.items()),
        *(f"{name} {kind}" for name, kind in VALUES.items()),
    ]
    return (
        f"CREATE TABLE t ({', '.join(columns)}) WITH ('connector' = 'filesystem', 'path' = '{folder}/in', "
        "'format' = 'parquet', 'maxFilesPerTrigger' = '1');"
        f"CREATE TABLE nothing ({RESULT}) WITH ('connector' = 'blackhole');"
        f"CREATE TABLE changes (op STRING, {RESULT}) WITH ('connector' = 'filesystem', 'path' = '{folder}/changes', "
        "'format' = 'parquet', 'changelog.op' = 'op');"
    )


def insert(script: str) -> Compiled:
    given = Script(mode="streaming").outcomes(script)
    (made,) = (query for outcome in given for query in queries_of(outcome))
    assert isinstance(made, Compiled)
    return made


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_last_results_are_the_rows_of_batch_and_of_our_operator(spark: SparkSession, tmp_path: Path) -> None:
    write_rows(tmp_path / "in")
    query = insert(f"{tables(tmp_path)} INSERT INTO nothing {QUERY}")
    assert "UpsertAggregate" in query.explain("physical")
    upserts: list[list[Any]] = []

    def stopping_after(number: int) -> None:
        def keep(rows: DataFrame, batch: int) -> None:
            upserts.append(rows.collect())
            if batch == number:
                raise RuntimeError("stopped")

        writer = lambda: query.dataframe(spark).writeStream.outputMode("update").foreachBatch(keep)  # noqa: E731
        Running(spark, [Stream(writer, LocalPlace(tmp_path / "checkpoint"))]).wait()

    with pytest.raises(Exception, match="stopped"):
        stopping_after(1)
    stopping_after(-1)
    assert len(upserts) == 5, "the second micro-batch was not repeated"
    last = {row[1 : len(KEYS) + 1]: row for rows in upserts for row in rows}
    batch, stream = Session(spark), Session(spark, mode="streaming")
    for session in (batch, stream):
        session.execute(tables(tmp_path))
    stream.execute(f"INSERT INTO changes {QUERY}")
    expected = bag(batch.sql(QUERY).collect())
    assert bag([*last.values()]) == expected
    assert bag(batch.sql("SELECT * FROM changes").collect()) == expected


FEW = "CREATE TABLE few (k STRING, n INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json');"
NOWHERE = "CREATE TABLE nowhere (k STRING, total INT, n BIGINT) WITH ('connector' = 'blackhole');"
COUNTED = "INSERT INTO nowhere SELECT k, SUM(v) AS total, COUNT(*) AS n FROM few GROUP BY k"


@pytest.mark.spark
def test_a_checkpoint_is_shown_goes_on_and_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": None, "v": 3}]
    folder, checkpoint = tmp_path / "in", tmp_path / "checkpoint"

    def run(number: int, script: str) -> Session:
        write_files(folder, [rows, rows[:2], [{"k": "c", "v": 2**31 - 1}], [{"k": "c", "v": 1}]][:number])
        session = Session(spark, mode="streaming", checkpoint=checkpoint)
        session.execute(FEW.format(folder) + NOWHERE)
        session.execute(script)
        return session

    first = run(1, COUNTED)
    assert (first.counts["rowsIn"], first.counts["rowsOut"]) == (3, 3)
    # names and the order of aggregates are free
    again = run(
        2,
        COUNTED.replace("SUM(v) AS total, COUNT(*) AS n", "total, c FROM (SELECT k, COUNT(*) AS c, SUM(v) AS total")
        + ")",
    )
    assert (again.counts["rowsIn"], again.counts["rowsOut"]) == (2, 2)

    out = io.StringIO()
    write_tables(read_streams(lambda: spark, str(checkpoint)), ["operators"], "ndjson", out)
    operators = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(row["kind"], row["keys"], row["rows"], row["bytes"]) for row in operators] == [
        ("UpsertAggregate", "k", 3, None)
    ]
    for more in ({"tasks": 3, "key_groups": None}, {"tasks": None, "key_groups": 3}):
        with pytest.raises(UnsupportedError, match="cannot be divided: its groups are in Spark's own aggregate"):
            rescale_streams(lambda: spark, str(checkpoint), **more, out=out)
    with pytest.raises(TvfSqlError, match="operators with state") as refused:
        run(2, OFF + COUNTED)
    assert "GROUP BY in Spark" in str(refused.value)
    with pytest.raises(TvfSqlError, match=r"(?i)overflow"):
        run(4, COUNTED)
