"""Bounded topics of a real broker: they are read to an end that is fixed at the start, in one run of the query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver import running, stream
from tvfsql.runtime.stream.time import control_channel as control

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

NOON = datetime(2020, 4, 15, 12)
MINUTE = timedelta(minutes=1)
Rows = list[tuple[int, str, int]]  # (partition, word, minute after NOON)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """An entry for each run of a query."""
    found: list[object] = []
    run = running.StreamDriver._run

    def counted(driver: Any, *arguments: Any, **named: Any) -> None:
        found.append(driver)
        run(driver, *arguments, **named)

    monkeypatch.setattr(running.StreamDriver, "_run", counted)
    return found


def message(word: str, minute: int) -> str:
    return json.dumps({"word": word, "ts": str(NOON + minute * MINUTE)})


def send(spark: SparkSession, broker: Broker, topic: str, rows: Rows) -> None:
    sent = spark.createDataFrame(
        [(part, message(word, minute)) for part, word, minute in rows], "partition INT, value STRING"
    )
    options = {"kafka.bootstrap.servers": broker.servers, "topic": topic}
    sent.coalesce(1).write.format("kafka").options(**options).save()


def create(session: Session, topic: str, broker: Broker, **options: str) -> None:
    given = {"scan.bounded.mode": "latest-offset", "properties.bootstrap.servers": broker.servers, **options}
    text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    session.execute(
        f"CREATE TABLE {topic} (word STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '100' MINUTE) "
        f"WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json', {text})"
    )


def windows(session: Session, topic: str) -> Counter[tuple[str, int]]:
    """The number of rows by word and minute of the end of their window of 10 minutes."""
    tumble = f"TABLE(TUMBLE(TABLE {topic}, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"
    query = f"SELECT window_end, word, COUNT(*) AS n FROM {tumble} GROUP BY window_start, window_end, word"
    found: Counter[tuple[str, int]] = Counter()
    for row in session.sql(query).collect():
        found[row.word, (row.window_end - NOON) // MINUTE] += row.n
    return found


def expected(rows: Rows) -> Counter[tuple[str, int]]:
    return Counter((word, minute // 10 * 10 + 10) for _, word, minute in rows)


def test_the_windows_of_a_bounded_topic_fire_in_the_run_that_reads_it(
    spark: SparkSession, broker: Broker, runs: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random rows in random partitions, some of them empty, in one micro-batch or in several; a topic without rows.
    They are those of two runs, which is what it takes where the end cannot be fixed."""
    draw = Random(16)
    cases = 12 if SOAK else 2
    for case in range(cases):
        topic, count = f"bounded{case}", draw.randint(1, 4)
        broker.make_topic(spark, topic, count)
        used = draw.sample(range(count), draw.randint(1, count))
        number = draw.randint(1, 40) if case else 0
        rows = [(draw.choice(used), draw.choice("ab"), draw.randrange(90)) for _ in range(number)]
        if rows:
            send(spark, broker, topic, rows)
        session = Session(spark, mode="streaming")
        create(session, topic, broker, **({"maxOffsetsPerTrigger": "7"} if case % 2 else {}))
        assert windows(session, topic) == expected(rows)
        assert session.counts["rowsIn"] == len(rows)
    assert len(runs) == cases
    monkeypatch.setattr(stream, "topics_can_end", lambda writer: False)
    assert windows(session, topic) == expected(rows)
    assert len(runs) == cases + 2


def test_what_is_sent_while_it_is_read_is_refused_by_a_later_run(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.make_topic(spark, "growing", 2)
    first, second = [(n % 2, "a", n) for n in range(8)], [(n % 2, "b", 20 + n) for n in range(4)]
    send(spark, broker, "growing", first)
    ending = running.fix_ends

    def then_send(query: Any, *given: Any) -> None:
        ending(query, *given)
        while query.lastProgress is None:  # until the end is fixed
            pass
        send(spark, broker, "growing", second)

    def read() -> tuple[list[str], int]:
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=True)
        create(session, "growing", broker, maxOffsetsPerTrigger="4")
        return sorted(row.word for row in session.sql("SELECT word FROM growing").collect()), session.counts["rowsIn"]

    monkeypatch.setattr(running, "fix_ends", then_send)
    assert read() == (["a"] * 8, 8)
    monkeypatch.setattr(running, "fix_ends", ending)
    with pytest.raises(DataError, match="table growing was closed by --final, but 4 new rows have come"):
        read()


def test_the_last_offset_may_have_no_message(spark: SparkSession, broker: Broker, runs: list[object]) -> None:
    """Transactions end with a marker, and the rows of one that was aborted are not read."""
    broker.make_topic(spark, "transactions", 2)
    committed, aborted = [(0, "a", 1), (1, "b", 12), (0, "a", 2)], [(0, "c", 3)]
    with producer(spark, broker) as kafka:
        for rows, end in ((committed, kafka.commitTransaction), (aborted, kafka.abortTransaction)):
            kafka.beginTransaction()
            for part, word, minute in rows:
                record = spark._jvm.org.apache.kafka.clients.producer.ProducerRecord
                kafka.send(record("transactions", part, None, message(word, minute)))
            end()
    session = Session(spark, mode="streaming")
    create(session, "transactions", broker, **{"properties.isolation.level": "read_committed"})
    assert windows(session, "transactions") == expected(committed)
    assert len(runs) == 1


def test_a_run_that_was_killed_before_the_end_was_read_ends_in_the_next_one(
    spark: SparkSession, broker: Broker, tmp_path: Path, runs: list[object]
) -> None:
    broker.make_topic(spark, "killed", 2)
    rows = [(n % 2, "a", n) for n in range(12)]
    send(spark, broker, "killed", rows)
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=False)
    create(session, "killed", broker)
    assert windows(session, "killed") == Counter()
    folder = LocalPlace(tmp_path / "state" / "1" / "control")
    control.advance(folder, control.END_OF_INPUT)  # announced, but not read
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=True)
    create(session, "killed", broker)
    assert windows(session, "killed") == expected(rows)
    assert len(runs) == 2, "one for each session"


@contextmanager
def producer(spark: SparkSession, broker: Broker) -> Iterator[Any]:
    """A client that sends transactions."""
    java: Any = spark._jvm
    settings = java.java.util.HashMap()
    text = "org.apache.kafka.common.serialization.StringSerializer"
    given = {"bootstrap.servers": broker.servers, "key.serializer": text, "value.serializer": text}
    for key, value in {**given, "transactional.id": "one"}.items():
        settings.put(key, value)
    made = java.org.apache.kafka.clients.producer.KafkaProducer(settings)
    try:
        made.initTransactions()
        yield made
    finally:
        made.close()
