"""Topics of a real broker: read in batch and on streams, written, their partitions as channels of the watermark."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.time import control_channel as control

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

NOON = datetime(2020, 4, 15, 12)
MINUTE = timedelta(minutes=1)
SERVERS = "kafka.bootstrap.servers"
TO_THE_END = {"scan.bounded.mode": "latest-offset"}


def create(session: Session, name: str, columns: str, broker: Broker, **options: str) -> None:
    """A table of the topic `name`, or of `topic`."""
    given = {"topic": name, "format": "json", "properties.bootstrap.servers": broker.servers, **options}
    text = ", ".join(f"'{key}' = '{value}'" for key, value in {"connector": "kafka", **given}.items())
    session.execute(f"CREATE TABLE {name} ({columns}) WITH ({text})")


def send(spark: SparkSession, broker: Broker, topic: str, messages: Sequence[tuple[int, str | None]]) -> None:
    """Messages as (partition, value), in order."""
    rows = spark.createDataFrame(messages, "partition INT, value STRING").coalesce(1)
    rows.write.format("kafka").options(**{SERVERS: broker.servers, "topic": topic}).save()


def test_rows_come_back_as_they_were_written(spark: SparkSession, broker: Broker) -> None:
    """Written in batch; read in batch and as a stream, keys, NULLs and metadata included."""
    broker.make_topic(spark, "kept")
    session = Session(spark, mode=None)
    rows = [
        ("a", 1, NOON, ["x", "y"], 0, {"trace": b"\x00\xff", "empty": None}),
        (None, None, NOON + MINUTE, [], 1, {}),
        ('ü, "b"', 3, None, None, 2, {"trace": b""}),
        ("a", 4, NOON + timedelta(milliseconds=1), [None], 2, {}),
    ]
    columns = "item STRING, price INT, ts TIMESTAMP_NTZ, tags ARRAY<STRING>, part BIGINT, heads MAP<STRING, BINARY>"
    session.register("given", spark.createDataFrame(rows, columns))
    columns = """item STRING, price INT, ts TIMESTAMP(3), tags ARRAY<STRING>, part BIGINT METADATA FROM 'partition',
        number BIGINT METADATA FROM 'offset' VIRTUAL, topic STRING METADATA VIRTUAL,
        heads MAP<STRING, BYTES> METADATA FROM 'headers', kind STRING METADATA FROM 'timestamp-type' VIRTUAL,
        arrived TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL"""
    key = {"key.format": "json", "key.fields": "item;ts", "value.fields-include": "EXCEPT_KEY"}
    create(session, "kept", columns, broker, **key, **TO_THE_END)
    session.execute("INSERT INTO kept SELECT item, price, ts, tags, part, heads FROM given")
    query = "SELECT item, price, ts, tags, part, heads, number, topic, arrived, kind FROM kept"
    batch = session.sql(query).collect()
    assert sorted([row[:6] for row in batch], key=repr) == sorted(rows, key=repr)
    assert sorted((row.part, row.number) for row in batch) == [(0, 0), (1, 0), (2, 0), (2, 1)]
    assert {(row.topic, row.kind) for row in batch} == {("kept", "CreateTime")}
    assert all(abs(row.arrived - datetime.now()) < timedelta(hours=1) for row in batch)
    streamed = Session(spark, mode="streaming", catalog=session.catalog).sql(query).collect()
    assert sorted(streamed, key=repr) == sorted(batch, key=repr)
    messages = spark.read.format("kafka").options(**{SERVERS: broker.servers, "subscribe": "kept"}).load()
    assert [bytes(row.value) for row in messages.where("partition = 1").collect()] == [b'{"price":null,"tags":[]}']


def test_the_formats_and_where_reading_starts(spark: SparkSession, broker: Broker) -> None:
    for topic in ("lines", "texts", "numbers"):
        broker.make_topic(spark, topic)
    session = Session(spark, mode="batch")
    semicolons = {"format": "csv", "csv.field-delimiter": ";"}
    create(session, "lines", "line STRING, n INT, ts TIMESTAMP(3)", broker, **semicolons)
    session.execute(f"INSERT INTO lines VALUES ('one;two', 1, TIMESTAMP '{NOON}'), (NULL, NULL, NULL)")
    found = session.sql("SELECT * FROM lines").collect()
    assert set(map(tuple, found)) == {("one;two", 1, NOON), (None, None, None)}
    create(session, "texts", "line STRING, id STRING METADATA FROM 'key'", broker, format="raw")
    session.execute("INSERT INTO texts VALUES ('{', 'k'), ('', NULL), (NULL, 'k')")
    found = session.sql("SELECT line, id FROM texts").collect()
    assert set(map(tuple, found)) == {("", None), ("{", "k"), (None, "k")}
    send(spark, broker, "numbers", [(0, "0"), (0, "1"), (0, "2"), (1, "3"), (2, "4")])
    mode, offsets = "scan.startup.mode", "partition:0,offset:2;partition:1,offset:0;partition:2,offset:1"
    start = {mode: "specific-offsets", "scan.startup.specific-offsets": offsets}
    create(session, "numbers", "n STRING", broker, format="raw", **start)
    assert sorted(row.n for row in session.sql("SELECT n FROM numbers").collect()) == ["2", "3"]
    create(session, "streamed", "n STRING", broker, format="raw", topic="numbers", **start, **TO_THE_END)
    for start_mode, numbers in (
        ("FROM_BEGINNING", ["2", "3"]),
        ("FROM_NOW", []),
        ("FROM_TIMESTAMP(TIMESTAMP '2020-01-01 00:00:00')", ["0", "1", "2", "3", "4"]),
    ):
        streaming = Session(spark, mode="streaming", catalog=session.catalog, start_mode=start_mode)
        assert sorted(row.n for row in streaming.sql("SELECT n FROM streamed").collect()) == numbers
    start = {mode: "timestamp", "scan.startup.timestamp-millis": "4000000000000", "topic": "numbers;texts"}
    create(session, "of_the_future", "n STRING", broker, format="raw", **start)
    assert session.sql("SELECT n FROM of_the_future").collect() == []


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_where_reading_ends(mode: str, spark: SparkSession, broker: Broker) -> None:
    """Before an offset of each partition that is named, or before the first message of a time."""
    topic = f"ends_{mode}"
    broker.make_topic(spark, topic)
    send(spark, broker, topic, [(0, "0"), (0, "1"), (0, "2"), (1, "3"), (2, "4")])
    sent = spark.read.format("kafka").options(**{SERVERS: broker.servers, "subscribe": topic}).load()
    latest = max(row[0] for row in sent.selectExpr("unix_millis(timestamp)").collect())
    time.sleep(0.01)
    send(spark, broker, topic, [(0, "late"), (1, "late")])
    session = Session(spark, mode=mode)

    def read(**options: str) -> list[str]:
        create(session, "bounded", "n STRING", broker, topic=topic, format="raw", **options)
        rows = [row.n for row in session.sql("SELECT n FROM bounded").collect()]
        session.execute("DROP TABLE bounded")
        return sorted(rows)

    offsets = {"scan.bounded.specific-offsets": "partition:0,offset:2;partition:1,offset:1"}
    assert read(**{"scan.bounded.mode": "specific-offsets", **offsets}) == ["0", "1", "3"]
    for at, rows in ((latest + 1, ["0", "1", "2", "3", "4"]), (0, [])):
        assert read(**{"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": str(at)}) == rows


def test_a_message_that_cannot_be_parsed_stops_the_query_or_is_null(spark: SparkSession, broker: Broker) -> None:
    broker.make_topic(spark, "bad")
    values = ['{"a": 1}', '{"a": "x"}', "{", '{"b": 1}', None]
    send(spark, broker, "bad", [(0, value) for value in values])
    session = Session(spark, mode="batch")
    columns = "a INT, n BIGINT METADATA FROM 'offset' VIRTUAL"
    create(session, "bad", columns, broker)
    create(session, "mended", columns, broker, topic="bad", **{"json.ignore-parse-errors": "true"})
    with pytest.raises(DataError, match="cannot be read"):
        session.sql("SELECT a, n FROM bad").collect()
    found = session.sql("SELECT n, a FROM mended").collect()
    assert sorted(map(tuple, found)) == [(0, 1), (1, None), (3, None), (4, None)]  # as Flink, which skips the third


def test_a_stream_goes_on_at_its_offsets(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """From topic to topic over a checkpoint: what is sent between two runs comes once."""
    broker.make_topic(spark, "source")
    broker.make_topic(spark, "target")

    def run(rows: list[tuple[int, str | None]]) -> list[str]:
        send(spark, broker, "source", rows)
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=False)
        create(session, "source", "word STRING, n INT", broker, **TO_THE_END, maxOffsetsPerTrigger="3")
        create(session, "target", "word STRING, n INT", broker, **{"key.format": "raw", "key.fields": "word"})
        session.execute("INSERT INTO target SELECT word, n FROM source")
        reader = Session(spark, mode="batch", catalog=session.catalog)
        return sorted(f"{row.word}{row.n}" for row in reader.sql("SELECT word, n FROM target").collect())

    words = ["w0", "w1", "w2", "w3", "w4"]
    assert run([(n % 3, f'{{"word": "w", "n": {n}}}') for n in range(5)]) == words
    assert run([(1, '{"word": "x", "n": 1}')]) == [*words, "x1"]


def test_messages_that_are_gone_stop_a_stream_unless_it_may_lose_them(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    broker.make_topic(spark, "aging", 1)
    messages = [(0, f'{{"n": {n}}}') for n in range(4)]

    def run(**options: str) -> list[int]:
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=False)
        create(session, "aging", "n INT", broker, **TO_THE_END, **options)
        return sorted(row.n for row in session.sql("SELECT n FROM aging").collect())

    send(spark, broker, "aging", messages[:1])
    assert run() == [0]
    send(spark, broker, "aging", messages[1:])
    broker.delete_messages(spark, "aging", 3)
    with pytest.raises(DataError, match="Kafka has deleted messages") as error:
        run()
    assert "failOnDataLoss" in (error.value.hint or "")
    assert run(failOnDataLoss="false") == [3]


def test_a_minimum_of_partitions_moves_the_watermark(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """Three partitions whose times differ; of the counts each run says, the late ones are exact."""
    broker.make_topic(spark, "offers")
    columns = "word STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"
    windows = (
        "TABLE(TUMBLE(TABLE offers, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, word"
    )
    query = f"SELECT window_end, word, COUNT(*) AS n FROM {windows}"

    def run(*offers: tuple[int, str, int]) -> tuple[list[tuple[int, str, int]], int]:
        """Windows as (minute of their end, word, n) and late rows after offers of (partition, word, minute)."""
        if offers:
            sent = [(p, json.dumps({"word": word, "ts": str(NOON + m * MINUTE)})) for p, word, m in offers]
            send(spark, broker, "offers", sent)
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=False)
        create(session, "offers", columns, broker, **TO_THE_END)
        rows = session.sql(query).collect()
        found = [((row.window_end - NOON) // MINUTE, row.word, row.n) for row in rows]
        return sorted(found), session.counts["numLateRecordsDropped"]

    assert run((0, "a", 31), (1, "b", 5)) == ([], 0)  # watermarks 30 and 4: the minimum is 4
    assert run((0, "a", 2), (1, "b", 9), (1, "b", 16)) == ([(10, "a", 1), (10, "b", 2)], 0)  # 30 and 15
    assert run((0, "a", 9), (1, "b", 8), (1, "a", 12)) == ([], 2)  # two of the window that fired, of either partition
    control.idle(LocalPlace(tmp_path / "state" / "1" / "control"), "offers/1")
    assert run() == ([(20, "a", 1), (20, "b", 1)], 0)  # 30 alone
    assert run((2, "c", 35), (2, "c", 19)) == ([], 1)  # a partition that is new: 34, and 30 still
    assert run((0, "a", 61), (2, "c", 45)) == ([(40, "a", 1), (40, "c", 1)], 0)  # 60 and 44


def test_what_is_missing_is_named(spark: SparkSession, broker: Broker) -> None:
    session = Session(spark, mode="batch")
    soon = {"properties.max.block.ms": "3000"}
    create(session, "nowhere", "a INT", broker, **soon)
    for sql in ("SELECT a FROM nowhere", "INSERT INTO nowhere SELECT 1"):
        with pytest.raises(DataError, match="there is no topic nowhere"):
            session.sql(sql).collect()
    timeouts = {"properties.request.timeout.ms": "1000", "properties.default.api.timeout.ms": "1000"}
    soon |= {"fetchOffset.numRetries": "1", **timeouts}
    create(session, "unheard", "a INT", broker, **{"properties.bootstrap.servers": "127.0.0.1:9", **soon})
    for sql in ("SELECT a FROM unheard", "INSERT INTO unheard SELECT 1"):
        with pytest.raises(DataError, match="Kafka does not answer"):
            session.sql(sql).collect()


def test_a_topic_is_added_to_a_running_stream(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """Partitions are channels: those that are known keep their watermarks, and the new ones are waited for. The new
    topic is read from where its options say; one that is added again, later, has the same partitions."""
    for topic in ("old", "new"):
        broker.make_topic(spark, topic, 2)
    begin = "scan.startup.mode"
    query = """SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(({rows}), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end"""

    def run(tables: str, allowed: bool = False, final: bool = False) -> list[tuple[int, int]]:
        session = Session(
            spark, mode="streaming", checkpoint=tmp_path / "state", final=final, allow_changed_input=allowed
        )
        for name in ("old", "new"):
            create(session, name, WATERMARKED, broker, **TO_THE_END, **{begin: "earliest-offset"})
        create(session, "more", WATERMARKED, broker, **TO_THE_END, **{"topic": "new", begin: "latest-offset"})
        rows = " UNION ALL ".join(f"SELECT ts FROM {name}" for name in tables.split())
        found = session.sql(query.format(rows=rows)).collect()
        late.append(session.counts["numLateRecordsDropped"])
        return sorted((int((row.window_end - NOON) / MINUTE), row.n) for row in found)

    def at(partition: int, minute: int) -> tuple[int, str]:
        return partition, f'{{"ts": "{(NOON + minute * MINUTE).isoformat(sep=" ")}"}}'

    late = list[int]()
    send(spark, broker, "old", [at(0, 0), at(0, 5), at(1, 2), at(1, 3)])
    assert run("old") == [(1, 1), (3, 1)]  # the watermark is 12:03, of partition 1
    send(spark, broker, "new", [at(0, 1), at(0, 4), at(1, 4), at(1, 9)])
    send(spark, broker, "old", [at(1, 6)])
    assert run("new old", allowed=True) == [(4, 1)]  # 12:04, of the new topic
    send(spark, broker, "new", [at(0, 7)])
    assert run("new old") == [(5, 2)]  # 12:05, of the old one
    send(spark, broker, "old", [at(0, 8)])
    assert run("more new old", allowed=True) == []
    send(spark, broker, "new", [at(0, 10), at(1, 10)])
    send(spark, broker, "old", [at(0, 10), at(1, 10)])
    assert run("old more new", final=True) == [(6, 1), (7, 1), (8, 1), (9, 1), (10, 1), (11, 6)]
    assert late == [0, 1, 0, 0, 0]


WATERMARKED = "ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
