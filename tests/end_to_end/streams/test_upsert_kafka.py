"""Early results in a topic of connector upsert-kafka: each message replaces the one with the same key."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import some_batches, write_files
from tests.support.examples import SOAK
from tests.support.killing import commits, kill, start, wait_for
from tests.support.server_jars import jars_in
from tests.support.totals import BIDS, EARLY, KEYED, QUERY, TOTALS, expected
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]
END = "'scan.bounded.mode' = 'latest-offset'"
ODD = f"SELECT * FROM ({QUERY}) WHERE MOD(n, 2) = 1"


def create(topic: str, broker: Broker) -> str:
    return f"""CREATE TABLE {topic} ({TOTALS}, {KEYED}) WITH ('connector' = 'upsert-kafka', 'topic' = '{topic}',
        'properties.bootstrap.servers' = '{broker.servers}', 'key.format' = 'json', 'value.format' = 'json');
    """


def messages(spark: SparkSession, broker: Broker, topic: str) -> list[tuple[str, str | None]]:
    """Keys and values; those of a partition in the order of their offsets."""
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": topic}
    rows = spark.read.format("kafka").options(**options).load().orderBy("partition", "offset")
    return [tuple(row) for row in rows.selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)").collect()]


def table_of(sent: list[tuple[str, str | None]]) -> Counter[Any]:
    """The rows that are left: the last value of each key, unless it is a tombstone."""
    left = [json.loads(value, parse_float=Decimal) for value in dict(sent).values() if value is not None]
    return Counter((datetime.fromisoformat(row["window_start"]), row["item"], row["n"], row["total"]) for row in left)


def test_messages_replace_and_delete_rows(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A retraction is a tombstone if a result with its key need not follow; else it is left out."""
    write_files(tmp_path / "in", some_batches(seed=3, disorder=30, batches=4))
    session = Session(spark, mode="streaming")
    session.execute(BIDS.format(tmp_path / "in") + EARLY)
    for topic, query in (("every", QUERY), ("odd", ODD)):
        broker.make_topic(spark, topic)
        session.execute(create(topic, broker))
        session.execute(f"INSERT INTO {topic} {query}")
        sent = messages(spark, broker, topic)
        assert table_of(sent) == expected(spark, tmp_path / "in", query)
        assert len(sent) > len(dict(sent)), "no result came early"
        batch = Session(spark, mode="batch", catalog=session.catalog)
        assert Counter(map(tuple, batch.sql(f"SELECT * FROM {topic}").collect())) == table_of(sent)
        assert any(value is None for _, value in sent) == (topic == "odd")
        for key, value in sent:
            assert value is None or json.loads(key).items() <= json.loads(value).items()
    broker.make_topic(spark, "copied")
    bounded = (
        create("odd", broker).replace(" TABLE odd ", " TABLE `read` ").replace("'key.format'", f"{END}, 'key.format'")
    )
    session.execute(bounded + create("copied", broker) + "INSERT INTO copied SELECT * FROM `read` WHERE n > 2")
    copied = messages(spark, broker, "copied")
    assert table_of(copied) == expected(spark, tmp_path / "in", f"SELECT * FROM ({ODD}) WHERE n > 2")
    assert any(value is None for _, value in copied)


def test_groups_without_a_window_are_messages_without_tombstones(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", some_batches(seed=3, disorder=30, batches=4))
    session = Session(spark, mode="streaming")
    query = "SELECT item, COUNT(*) AS n, CAST(SUM(price) AS DECIMAL(20, 2)) AS total FROM bid GROUP BY item"
    broker.make_topic(spark, "groups")
    table = create("groups", broker).replace("window_start TIMESTAMP(3), ", "").replace("window_start, ", "")
    session.execute(BIDS.format(tmp_path / "in") + table + f"INSERT INTO groups {query}")
    sent = messages(spark, broker, "groups")
    assert all(value is not None for _, value in sent) and len(sent) > len(dict(sent))
    batch = Session(spark, mode="batch", catalog=session.catalog)
    left = Counter(map(tuple, batch.sql("SELECT item, n, total FROM groups").collect()))
    assert left == expected(spark, tmp_path / "in", query)


def test_windows_over_messages_that_replace_rows(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """The state has the last row of each key: an update moves it to another window, and a tombstone, which has no time,
    takes it out. A stream stops and resumes in between."""
    broker.make_topic(spark, "seats")
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint")
    session.execute(f"""CREATE TABLE seats (seat INT, who STRING, ts TIMESTAMP(3),
        WATERMARK FOR ts AS ts - INTERVAL '1' HOUR, PRIMARY KEY (seat) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = 'seats', 'properties.bootstrap.servers' = '{broker.servers}', 'key.format' = 'json',
        'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset')""")
    query = """SELECT window_start, COUNT(*) AS n, COUNT(DISTINCT who) AS people, MAX(seat) AS last FROM
        TABLE(TUMBLE(TABLE seats, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"""
    sent: list[tuple[int, str | None, int]] = [
        (1, "ann", 5), (2, "bob", 7), (3, "ann", 8), (2, None, 0), (4, "cem", 70), (9, None, 0), (4, "cem", 70),
    ]  # fmt: skip
    send(spark, broker, sent)
    assert session.sql(query).collect() == []
    send(spark, broker, more := [(1, "ann", 75), (3, "dan", 9), (5, "eve", 59), (4, None, 0)])
    resumed = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True, catalog=session.catalog)
    last = {seat: (who, at) for seat, who, at in [*sent, *more]}
    left = [(datetime(2024, 1, 1, 0, at // 60), seat, who) for seat, (who, at) in last.items() if who is not None]
    expected = {
        (start, len(of), len({who for _, who in of}), max(seat for seat, _ in of))
        for start in {start for start, _, _ in left}
        for of in [[(seat, who) for at, seat, who in left if at == start]]
    }
    assert {tuple(row) for row in resumed.sql(query).collect()} == expected
    batch = Session(spark, mode="batch", catalog=session.catalog)
    assert {tuple(row) for row in batch.sql(query).collect()} == expected


def send(spark: SparkSession, broker: Broker, rows: list[tuple[int, str | None, int]]) -> None:
    """Messages of seats; those without a person are tombstones. The last number is the second of the time."""
    sent = [
        (
            json.dumps({"seat": seat}),
            None
            if who is None
            else json.dumps({"seat": seat, "who": who, "ts": f"2024-01-01 00:{at // 60:02}:{at % 60:02}"}),
        )
        for seat, who, at in rows
    ]
    messages = spark.createDataFrame(sent, "key STRING, value STRING").coalesce(1)
    messages.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": "seats"}).save()


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="20 kills, in `make soak`")
def test_a_killed_stream_leaves_the_rows_of_batch(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=3, disorder=30, batches=20))
    broker.make_topic(spark, "killed")
    script, checkpoint, draw = tmp_path / "script.sql", tmp_path / "checkpoint", random.Random(5)
    script.write_text(f"{BIDS.format(tmp_path / 'in')}{create('killed', broker)}{EARLY}INSERT INTO killed {ODD};")
    submit = jars_in("kafka", "client")
    for wanted in range(20):
        run = start(script, checkpoint, "--final", submit=f"--jars {submit}")
        try:
            wait_for(lambda wanted=wanted: commits(checkpoint / "1") >= wanted, run)
            time.sleep(draw.random() / 2)
            assert run.poll() is None, "too late to kill"
        finally:
            kill(run)
    assert start(script, checkpoint, "--final", submit=f"--jars {submit}").wait() == 0
    assert table_of(messages(spark, broker, "killed")) == expected(spark, tmp_path / "in", ODD)
