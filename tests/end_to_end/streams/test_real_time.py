"""Spark's real-time mode: rows of a topic are in another one long before their micro-batch ends."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

PATIENCE = 90
SPACE = 3  # seconds between two messages
REAL_TIME = {"tvfsql.real-time": "true", "execution.checkpointing.interval": "10 s"}
SENT, WRITTEN = "real_time_sent", "real_time_written"  # topics
INSERT = f"INSERT INTO {WRITTEN} SELECT n * 2 AS n FROM {SENT} WHERE n > 0"


def test_rows_do_not_wait_for_their_micro_batch(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """And a second run goes on where the first one stopped, in micro-batches too."""
    for topic in (SENT, WRITTEN):
        broker.make_topic(spark, topic, 1)
    first = session(spark, broker, tmp_path, REAL_TIME)
    running = first.sql(INSERT)
    query = running.start()
    send(spark, broker, [1, -1, 2])
    until(lambda: found(spark, broker) == [2, 4])
    for n in (3, 4, 5):
        send(spark, broker, [n])
        time.sleep(SPACE)
    until(lambda: found(spark, broker) == [2, 4, 6, 8, 10])
    # if rows were written at the end of their micro-batch, one of them would wait for the others
    sent, written = times(spark, broker, SENT), times(spark, broker, WRITTEN)
    assert max(written[2 * n] - sent[n] for n in (3, 4, 5)) < 1000 * 2 * SPACE
    batch = number(query)
    until(lambda: number(query) > batch)
    running.stop()
    assert first.counts["rowsOut"] >= 3
    second = session(spark, broker, tmp_path, {})
    running = second.sql(INSERT)
    running.start()
    send(spark, broker, [6])
    until(lambda: 12 in found(spark, broker))
    running.stop()
    assert sorted({*found(spark, broker)}) == [2, 4, 6, 8, 10, 12]


def session(spark: SparkSession, broker: Broker, folder: Path, options: dict[str, str]) -> Session:
    made = Session(spark, None, options, checkpoint=folder / "checkpoint")
    for topic in (SENT, WRITTEN):
        made.execute(
            f"CREATE TABLE {topic} (n BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json', "
            f"'properties.bootstrap.servers' = '{broker.servers}', 'scan.startup.mode' = 'earliest-offset')"
        )
    return made


def send(spark: SparkSession, broker: Broker, numbers: list[int]) -> None:
    rows = spark.createDataFrame([(json.dumps({"n": n}),) for n in numbers], "value STRING").coalesce(1)
    rows.write.format("kafka").option("kafka.bootstrap.servers", broker.servers).option("topic", SENT).save()


def found(spark: SparkSession, broker: Broker) -> list[int]:
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": WRITTEN}
    rows = spark.read.format("kafka").options(**options).load().orderBy("offset").collect()
    return [json.loads(row.value)["n"] for row in rows]


def times(spark: SparkSession, broker: Broker, topic: str) -> dict[int, int]:
    """When the numbers of a topic were sent (epoch ms)."""
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": topic}
    rows = spark.read.format("kafka").options(**options).load().selectExpr("value", "unix_millis(timestamp) AS ms")
    return {json.loads(row.value)["n"]: row.ms for row in rows.collect()}


def number(query: Any) -> int:
    """The last micro-batch that has ended."""
    last = query.lastProgress
    return -1 if last is None else int(last["batchId"])


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.2)
