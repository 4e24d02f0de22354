"""Topics in Avro, with and without a schema registry: written, read in batch and on a stream, and messages of other
writers.

`TVFSQL_REGISTRY` names a registry to try it with; without it, the one of the tests is used.
"""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import fastavro
import pytest

from tests.support.registry import schema_registry
from tvfsql import Session, TvfSqlError
from tvfsql.runtime.avro.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]
NOON = datetime(2020, 4, 15, 12)
OTHER = {
    "type": "record",
    "name": "com.acme.Bid",
    "fields": [
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "bidder", "type": "string"},
        {"name": "item", "type": ["null", "string"], "default": None},
    ],
}
TABLE = """CREATE TABLE {0} (item STRING, price DECIMAL(10, 2), tags ARRAY<STRING>, seen MAP<STRING, TIMESTAMP(3)>,
    ts TIMESTAMP(3), at TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = '{0}', 'properties.bootstrap.servers' = '{1}',
    'scan.bounded.mode' = 'latest-offset',
    'key.format' = 'avro-confluent', 'key.fields' = 'item', 'key.avro-confluent.url' = '{2}',
    'value.format' = 'avro-confluent', 'value.fields-include' = 'EXCEPT_KEY', 'value.avro-confluent.url' = '{2}')"""


@pytest.fixture
def url() -> Iterator[str]:
    if given := os.environ.get("TVFSQL_REGISTRY"):
        yield given
        return
    with schema_registry() as server:
        yield server.url


def test_rows_come_back_beside_those_of_other_writers(spark: SparkSession, broker: Broker, url: str) -> None:
    broker.make_topic(spark, "avro")
    session = Session(spark, mode="batch")
    session.execute(TABLE.format("avro", broker.servers, url))
    rows = [
        ("a", Decimal("1.50"), ["x", None], {"then": NOON}, NOON, NOON + timedelta(milliseconds=1)),
        ("ü", None, None, None, NOON + timedelta(seconds=3), None),
        (None, Decimal("-2.00"), [], {}, NOON + timedelta(minutes=1), NOON),
    ]
    kinds = "item STRING, price DECIMAL(10, 2), tags ARRAY<STRING>, seen MAP<STRING, TIMESTAMP_NTZ>, ts TIMESTAMP_NTZ, "
    session.register("given", spark.createDataFrame(rows, kinds + "at TIMESTAMP"))
    session.execute("INSERT INTO avro SELECT * FROM given")
    assert _shown(session.sql("SELECT * FROM avro").collect()) == _shown(rows)

    out = io.BytesIO()
    fastavro.schemaless_writer(
        out, fastavro.parse_schema(OTHER), {"ts": NOON.replace(tzinfo=UTC), "bidder": "b", "item": "?"}
    )
    number = Registry(url).number("com.acme.Bid", json.dumps(OTHER))
    _send(spark, broker, b"\0" + number.to_bytes(4, "big") + out.getvalue())
    session.execute("SET 'execution.runtime-mode' = 'streaming'")
    query = """SELECT window_start, COUNT(*), SUM(price), COUNT(item) FROM
        TABLE(TUMBLE(TABLE avro, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"""
    found = Counter(map(tuple, session.sql(query).collect()))
    # the other writer has no price, and its item is in the value, not in the key
    assert found == Counter([(NOON, 3, Decimal("1.50"), 2), (NOON + timedelta(minutes=1), 1, Decimal("-2.00"), 0)])

    _send(spark, broker, b'{"price": 1}')
    with pytest.raises(TvfSqlError, match="a message does not begin with the number of a schema: 7b 22"):
        session.sql("SELECT price FROM avro").collect()


RECORDS = """CREATE TABLE {0} (id BIGINT NOT NULL, item STRING, price DECIMAL(10, 2), ts TIMESTAMP(3) NOT NULL,
    part INT METADATA FROM 'partition' VIRTUAL, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'records', 'properties.bootstrap.servers' = '{1}',
    'scan.bounded.mode' = 'latest-offset', 'key.format' = 'avro', 'key.fields' = 'item;id', 'value.format' = 'avro')"""


def test_records_without_a_registry_come_back(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    broker.make_topic(spark, "records", partitions=1)
    session = Session(spark, mode="batch")
    session.execute(RECORDS.format("records", broker.servers))
    rows = [(1, "a", Decimal("1.50"), NOON), (2, None, None, NOON + timedelta(minutes=1))]
    session.register("given", spark.createDataFrame(rows, "id BIGINT, item STRING, p DECIMAL(10, 2), ts TIMESTAMP_NTZ"))
    session.execute("INSERT INTO records SELECT * FROM given")
    assert _shown(session.sql("SELECT id, item, price, ts FROM records").collect()) == _shown(rows)
    raw = spark.read.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "subscribe": "records"})
    found = {bytes(row.value): bytes(row.key) for row in raw.load().collect()}
    # without a header; the key has its columns in the order of key.fields
    assert found[bytes.fromhex("02" + "020261" + "02040096" + "80c8aedbaf5c")] == bytes.fromhex("020261" + "02")

    with pytest.raises(TvfSqlError, match="id of records is NOT NULL, and a row has NULL there"):
        session.execute("INSERT INTO records SELECT CAST(NULL AS BIGINT), item, p, ts FROM given")

    _send(spark, broker, b'{"price": 1}', "records")
    with pytest.raises(TvfSqlError, match=r"a message does not fit the schema of its table: .*, at records-0@2"):
        session.sql("SELECT price FROM records").collect()
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    session.execute(RECORDS.format("records", broker.servers))
    session.execute(f"""CREATE TABLE bad (table_name STRING, place STRING, text STRING)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/bad', 'format' = 'json');
        CREATE TABLE totals (window_start TIMESTAMP(3), n BIGINT, total DECIMAL(38, 2))
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/totals', 'format' = 'json');
        SET 'tvfsql.dead-letter' = 'bad';
        INSERT INTO totals SELECT window_start, COUNT(*), SUM(price)
        FROM TABLE(TUMBLE(TABLE records, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end""")
    totals = {row.window_start: (row.n, row.total) for row in spark.read.json(f"{tmp_path}/totals").collect()}
    assert totals == {"2020-04-15T12:00:00.000": (1, 1.5), "2020-04-15T12:01:00.000": (1, None)}
    (letter,) = spark.read.json(f"{tmp_path}/bad").collect()
    assert (letter.table_name, letter.place, bytes.fromhex(letter.text)) == ("records", "records-0@2", b'{"price": 1}')


def _send(spark: SparkSession, broker: Broker, value: bytes, topic: str = "avro") -> None:
    sent = spark.createDataFrame([(bytearray(value),)], "value BINARY")
    sent.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": topic}).save()


def _shown(rows: object) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in rows)  # type: ignore[attr-defined]
