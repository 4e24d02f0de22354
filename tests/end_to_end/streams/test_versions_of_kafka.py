"""Versioned tables of changelogs in Kafka: upsert-kafka, Debezium and Canal, in temporal joins. Streams that stop and
resume have the rows of batch."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]
# Kafka deletes messages that are older than a week
START = datetime.now(UTC).replace(microsecond=0, tzinfo=None) - timedelta(hours=1)
# (second, currency, rate); None: the rate is deleted
RATES = [
    (1, "EUR", 114), (2, "USD", 100), (2, "YEN", None), (10, "EUR", 118), (10, "EUR", 118), (20, "EUR", None),
    (20, "USD", None), (20, "USD", 101), (30, "EUR", 119), (31, "EUR", 120), (31, "EUR", None), (40, "USD", 102),
]  # fmt: skip
ORDERS = [(at, currency) for at in (0, 5, 10, 19, 20, 25, 30, 31, 39, 45) for currency in ("EUR", "USD", "YEN")]
COLUMNS = {
    "upsert": "cur STRING, rate INT, ts TIMESTAMP(3) METADATA FROM 'timestamp'",
    "debezium": "cur STRING, rate INT, ts TIMESTAMP(3) METADATA FROM 'value.source.timestamp' VIRTUAL",
    "canal": "cur STRING, rate INT, ts TIMESTAMP(3)",
}
FORMATS = {
    "upsert": "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'",
    "debezium": "'connector' = 'kafka', 'format' = 'debezium-json'",
    "canal": "'connector' = 'kafka', 'format' = 'canal-json'",
}
Message = tuple[int, str | None, str | None]  # the second of its time, its key, its value


def versions(kind: str) -> list[Message]:
    """The changes of RATES as messages."""
    found: list[Message] = []
    rates: dict[str, int] = {}
    for at, cur, rate in RATES:
        key, before = json.dumps({"cur": cur}), rates.get(cur)
        row = {"cur": cur, "rate": rate}
        old = {"cur": cur, "rate": before}
        if kind == "upsert":
            found.append((at, key, None if rate is None else json.dumps(row)))
        elif rate is None and before is None:
            continue  # a database deletes only rows that it has
        elif kind == "debezium":
            op = "d" if rate is None else "c" if before is None else "u"
            sent = {"before": None if op == "c" else old, "after": None if op == "d" else row, "op": op}
            sent["source"] = {"ts_ms": at * 1000 + int((START - datetime(1970, 1, 1)).total_seconds() * 1000)}
            found.append((at, key, json.dumps(sent)))
            found += [(at, key, None)] if op == "d" else []  # the tombstone that Debezium sends after a delete
        else:
            time = (START + timedelta(seconds=at)).isoformat(" ")
            change = {"type": "DELETE" if rate is None else "INSERT" if before is None else "UPDATE"}
            of_row = {**(old if rate is None else row), "ts": time}
            sent = {**change, "data": [of_row], "database": "d", "table": "t"}
            if change["type"] == "UPDATE":
                sent["old"] = [{"rate": before}]
            found.append((at, key, json.dumps(sent)))
        if rate is None:
            rates.pop(cur, None)
        else:
            rates[cur] = rate
    return found


def expected() -> Counter[Any]:
    """The rows of the LEFT JOIN: the last change of a currency that is not later than the order."""
    found = []
    for at, cur in ORDERS:
        valid = [rate for time, of, rate in RATES if of == cur and time <= at]
        found.append((at, cur, valid[-1] if valid else None))
    return Counter(found)


def send(spark: SparkSession, broker: Broker, topic: str, messages: list[Message]) -> None:
    java: Any = spark._jvm
    settings = java.java.util.HashMap()
    text = "org.apache.kafka.common.serialization.StringSerializer"
    for key, value in {"bootstrap.servers": broker.servers, "key.serializer": text, "value.serializer": text}.items():
        settings.put(key, value)
    producer = java.org.apache.kafka.clients.producer.KafkaProducer(settings)
    at = int((START - datetime(1970, 1, 1)).total_seconds() * 1000)
    for second, key, value in messages:
        record = java.org.apache.kafka.clients.producer.ProducerRecord
        producer.send(record(topic, 0, at + second * 1000, key, value)).get()
    producer.close()


def opened(spark: SparkSession, broker: Broker, kind: str, mode: str, **options: Any) -> Session:
    session = Session(spark, mode=mode, **options)
    of_kafka = f"'properties.bootstrap.servers' = '{broker.servers}', 'scan.bounded.mode' = 'latest-offset'"
    delay = "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    session.execute(
        f"CREATE TABLE orders (id INT, cur STRING, ts TIMESTAMP(3), {delay}) WITH ('connector' = 'kafka', "
        f"'topic' = 'orders_{kind}', 'format' = 'json', {of_kafka});"
        f"CREATE TABLE rates ({COLUMNS[kind]}, {delay}, PRIMARY KEY (cur) NOT ENFORCED) WITH "
        f"({FORMATS[kind]}, 'topic' = 'rates_{kind}', {of_kafka})"
    )
    return session


@pytest.mark.parametrize("kind", ["upsert", "debezium", "canal"])
def test_streams_and_batch_have_the_rows_of_a_model(
    kind: str, spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    changes = versions(kind)
    orders: list[Message] = []
    for at, cur in ORDERS:
        row = {"id": at, "cur": cur, "ts": (START + timedelta(seconds=at)).isoformat(" ")}
        orders.append((at, None, json.dumps(row)))
    for topic in ("orders", "rates"):
        broker.make_topic(spark, f"{topic}_{kind}", 1)
    sql = "SELECT o.id, o.cur, r.rate FROM orders o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur"
    found = Counter[Any]()
    for part in range(2):  # a stream that stops in the middle, and one that resumes it
        for topic, every in (("orders", orders), ("rates", changes)):
            half = len(every) // 2
            send(spark, broker, f"{topic}_{kind}", every[half:] if part else every[:half])
        session = opened(spark, broker, kind, "streaming", checkpoint=tmp_path / "state", final=bool(part))
        found += Counter(map(tuple, session.sql(sql).collect()))
    assert found == expected()
    assert Counter(map(tuple, opened(spark, broker, kind, "streaming").sql(sql).collect())) == expected()
    assert Counter(map(tuple, opened(spark, broker, kind, "batch").sql(sql).collect())) == expected()
