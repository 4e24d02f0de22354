"""Topics in Protocol Buffers: messages of Google's library are read in batch and on a stream, and it reads ours."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import descriptor_pb2, message_factory

from tvfsql import Session, TvfSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]
FILE = Path(__file__).parents[2] / "data" / "protobuf" / "shop.desc"
NOON = 1586952000
TABLE = """CREATE TABLE orders (item STRING, id BIGINT, kind STRING, `lines` ARRAY<ROW<sku STRING, `count` INT>>,
    counts MAP<STRING, BIGINT>, `at` ROW<seconds BIGINT, nanos INT>, `time` AS CAST(TO_TIMESTAMP_LTZ(`at`.seconds, 0)
    AS TIMESTAMP(3)), WATERMARK FOR `time` AS `time` - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'packed_orders', 'properties.bootstrap.servers' = '{0}',
    'scan.bounded.mode' = 'latest-offset', 'key.format' = 'raw', 'key.fields' = 'item',
    'value.format' = 'protobuf', 'value.protobuf.message-class-name' = 'com.acme.shop.Order',
    'value.protobuf.descriptor-file' = '{1}')"""


def orders() -> Any:
    """Google's class of orders."""
    files = descriptor_pb2.FileDescriptorSet.FromString(FILE.read_bytes()).file
    return message_factory.GetMessages(files)["shop.Order"]


def test_messages_of_others_are_read_and_others_read_ours(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    broker.make_topic(spark, "packed_orders", partitions=1)
    made = orders()
    sent = [
        made(id=1, item="a", kind=7, lines=[{"sku": "s", "count": 2}], counts={"k": 3}, at={"seconds": NOON}),
        made(item="b", at={"seconds": NOON + 60}, note="others have more fields"),
    ]
    for one in sent:
        _send(spark, broker, one.SerializeToString())
    session = Session(spark, mode="batch")
    session.execute(TABLE.format(broker.servers, FILE))
    query = "SELECT id, item, kind, `lines`[1].sku, counts['k'], `at`.seconds FROM orders"
    found = [tuple(row) for row in session.sql(query).collect()]
    assert sorted(found) == [(0, "b", "UNKNOWN", None, None, NOON + 60), (1, "a", "BAD", "s", 3, NOON)]

    session.execute("INSERT INTO orders SELECT item, id + 10, 'GOOD', `lines`, counts, `at` FROM orders WHERE id = 1")
    topic = {"kafka.bootstrap.servers": broker.servers, "subscribe": "packed_orders"}
    raw = spark.read.format("kafka").options(**topic)
    (row,) = raw.load().where("offset = 2").collect()
    ours = made.FromString(bytes(row.value))
    assert (ours.id, ours.item, ours.kind, ours.lines[0].sku, dict(ours.counts)) == (11, "a", 1, "s", {"k": 3})
    assert bytes(row.key) == b"a"

    _send(spark, broker, b"\xff")
    with pytest.raises(TvfSqlError, match=r"a message is not shop\.Order: .*, at packed_orders-0@3"):
        session.sql("SELECT id FROM orders").collect()
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    session.execute(TABLE.format(broker.servers, FILE))
    session.execute(f"""CREATE TABLE bad (place STRING, text STRING)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/bad', 'format' = 'json');
        CREATE TABLE totals (window_start TIMESTAMP(3), n BIGINT, total BIGINT)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/totals', 'format' = 'json');
        SET 'tvfsql.dead-letter' = 'bad'; SET 'table.local-time-zone' = 'UTC';
        INSERT INTO totals SELECT window_start, COUNT(*), SUM(id)
        FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(`time`), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end""")
    totals = {row.window_start: (row.n, row.total) for row in spark.read.json(f"{tmp_path}/totals").collect()}
    noon = datetime(2020, 4, 15, 12)
    times = [f"{(noon + timedelta(minutes=i)).isoformat()}.000" for i in range(2)]
    assert totals == {times[0]: (2, 12), times[1]: (1, 0)}
    assert [tuple(row) for row in spark.read.json(f"{tmp_path}/bad").collect()] == [("packed_orders-0@3", "ff")]


def _send(spark: SparkSession, broker: Broker, value: bytes) -> None:
    sent = spark.createDataFrame([(bytearray(value), bytearray(b"a"))], "value BINARY, key BINARY")
    sent.write.format("kafka").options(**{"kafka.bootstrap.servers": broker.servers, "topic": "packed_orders"}).save()
