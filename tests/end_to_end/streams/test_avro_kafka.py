"""Topics in Avro with a schema registry: written, read in batch and on a stream, and messages of other writers.

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
from typing import TYPE_CHECKING

import fastavro
import pytest
from registry import schema_registry

from tvfsql import Session, TvfSqlError
from tvfsql.runtime.avro.registry import Registry

if TYPE_CHECKING:
    from broker import Broker
    from pyspark.sql import SparkSession

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


def _send(spark: SparkSession, broker: Broker, value: bytes) -> None:
    sent = spark.createDataFrame([(bytearray(value),)], "value BINARY")
    sent.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": "avro"}).save()


def _shown(rows: object) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in rows)  # type: ignore[attr-defined]
