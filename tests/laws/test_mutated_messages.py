"""Messages and lines with random mutations, in every format that can tell a bad one: each is a row or a dead letter,
none is both, none is lost, and none stops the stream. Source: docs/streams.md#dead-letters.

Messages of Kafka come from a file of Parquet with Kafka's columns, so that the program that runs is the emitted one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import descriptor_pb2, message_factory
from pyspark.sql.streaming.readwriter import DataStreamReader

from tests.support.examples import SOAK
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.soak]
MESSAGES = 20_000 if SOAK else 600
DESCRIPTORS = Path(__file__).parents[1] / "data" / "protobuf" / "shop.desc"
COLUMNS = "a BIGINT, b STRING, d DECIMAL(10, 2), f DOUBLE, r ROW<x INT, y ARRAY<STRING>>, ts TIMESTAMP(3)"
FLAT = "a BIGINT, b STRING, d DECIMAL(10, 2), f DOUBLE, g BOOLEAN, day_ DATE, l TIMESTAMP_LTZ(3), ts TIMESTAMP(3)"
LETTERS = "table_name STRING, place STRING, text STRING, error STRING, read_at TIMESTAMP_LTZ(3)"
KAFKA = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
NAMES = ["json", "csv", "avro", "protobuf", "raw"]
TOPIC = (
    "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 's:1', "
    "'scan.bounded.mode' = 'latest-offset'"
)
ONE, TWO = {"a": 1, "b": "x", "f": 1.5}, {"a": 2, "b": "y", "f": None}
OF_DEBEZIUM = (
    {"before": None, "after": ONE, "op": "c", "source": {"db": "d", "ts_ms": 5}, "ts_ms": 7},
    {"before": ONE, "after": TWO, "op": "u"},
    {"before": TWO, "after": None, "op": "d"},
    {"before": None, "after": TWO, "op": "r"},
    {"before": None, "after": ONE, "op": "c"},
)
CHANGES: dict[str, tuple[dict[str, Any], ...]] = {
    "debezium-json": OF_DEBEZIUM,
    "debezium-json-with-schema": tuple({"schema": {"type": "struct"}, "payload": each} for each in OF_DEBEZIUM),
    "canal-json": (
        {"data": [ONE, TWO], "old": None, "type": "INSERT", "database": "d", "table": "t", "ts": 5},
        {"data": [TWO], "old": [{"b": "x"}], "type": "UPDATE", "database": "d", "table": "t"},
        {"data": [TWO], "old": None, "type": "DELETE", "database": "d", "table": "t"},
        {"data": [ONE], "old": None, "type": "INSERT", "database": "d", "table": "t"},
    ),
}
TEXTS = (
    b"", b" ", b"null", b"true", b"-", b".", b"e", b"E5", b"1e400", b"NaN", b"9" * 30, b"-1", b'"', b"'", b"\\",
    b"{", b"}", b"[", b"]", b"[]", b"{}", b",", b":", b"\x00", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"\xef\xbb\xbf",
    b"\t", b"+10000-01-01", b"-0044-03-15", b"+294247-01-10 04:00:54", b"0000-00-00", b"24:00", b"Z", b"2024-02-30",
    b"\\ud800", b"\\u0000", b"[" * 200, b"x" * 5000,
)  # fmt: skip


def mutated(base: bytes, draw: random.Random, *, lines: bool) -> bytes:
    """A message with up to four changes. As `lines` it has no line break, and is not empty."""
    made = bytearray(base)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
        at, end = sorted((draw.randint(0, len(made)), draw.randint(0, len(made))))
        match draw.randrange(6):
            case 0:
                made[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                made[at:at] = draw.choice(TEXTS)
            case 2:
                del made[at : min(end, at + 8)]
            case 3:
                made[at:] = b""
            case 4:
                made[at:at] = made[at:end]
            case 5:
                made[at:end] = draw.choice(TEXTS)
    return bytes(made).replace(b"\n", b"n").replace(b"\r", b"r") or b"?" if lines else bytes(made)


def bases() -> Iterator[tuple[str, str, str, list[bytes]]]:
    """Formats, with the columns and options of a table, and good messages."""
    document = {
        "a": 1, "b": "x", "d": 1.25, "f": 1e3, "r": {"x": 1, "y": ["p", None]}, "ts": "2024-01-01 00:00:00.123",
    }  # fmt: skip
    yield "json", COLUMNS, "'format' = 'json'", [json.dumps(document).encode(), b'{"a":2}']
    line = b"1,x,1.25,1e3,true,2024-01-01,2024-01-01 00:00:00Z,2024-01-01 00:00:00.123"
    yield "csv", FLAT, "'format' = 'csv'", [line, b'2,"a ""b"", c",,,,,,']
    record = bytes.fromhex("0202" + "020278" + "02027d" + "02000000000000f03f" + "0280c8aedbaf5c")
    yield "avro", "a BIGINT, b STRING, d DECIMAL(10, 2), f DOUBLE, ts TIMESTAMP(3)", "'format' = 'avro'", [record]
    files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes()).file
    order: Any = message_factory.GetMessages(files)["shop.Order"]
    sent = order(id=1, item="a", kind=7, lines=[{"sku": "s", "count": 2}], counts={"k": 3}, at={"seconds": 1586952000})
    yield (
        "protobuf",
        "id BIGINT, item STRING, kind STRING, `lines` ARRAY<ROW<sku STRING, `count` INT>>, counts MAP<STRING, BIGINT>",
        "'format' = 'protobuf', 'protobuf.message-class-name' = 'com.acme.shop.Order', "
        f"'protobuf.descriptor-file' = '{DESCRIPTORS}'",
        [sent.SerializeToString()],
    )
    yield "raw", "n INT", "'format' = 'raw'", [b"\x00\x00\x00\x07", b"\xff\xff\xff\xff"]


def from_file(spark: SparkSession, patch: pytest.MonkeyPatch, folder: Path, values: list[bytes]) -> None:
    """Let the topics that are read be a file with these messages."""
    now, count = datetime(2024, 1, 1, tzinfo=UTC), len(values)
    kinds = pa.schema([
        ("key", pa.binary()), ("value", pa.binary()), ("topic", pa.string()), ("partition", pa.int32()),
        ("offset", pa.int64()), ("timestamp", pa.timestamp("us", "UTC")), ("timestampType", pa.int32()),
    ])  # fmt: skip
    columns_of = [[None] * count, values, ["t"] * count, [0] * count, [*range(count)], [now] * count, [0] * count]
    arrays = [pa.array(column, field.type) for column, field in zip(columns_of, kinds, strict=True)]
    (folder / "messages").mkdir()
    pq.write_table(pa.Table.from_arrays(arrays, schema=kinds), folder / "messages" / "1.parquet")
    of, load = DataStreamReader.format, DataStreamReader.load
    topics = set[int]()

    def noted(self: DataStreamReader, source: str) -> DataStreamReader:
        topics.update([id(self)] if source == "kafka" else [])
        return of(self, source)

    def loaded(self: DataStreamReader, *given: Any, **more: Any) -> DataFrame:
        if id(self) not in topics:
            return load(self, *given, **more)
        topics.discard(id(self))
        return spark.readStream.schema(KAFKA).parquet(str(folder / "messages"))

    patch.setattr(DataStreamReader, "format", noted)
    patch.setattr(DataStreamReader, "load", loaded)


def outcome(
    spark: SparkSession, folder: Path, columns: str, options: str, query: str = "SELECT * FROM t"
) -> tuple[list[Row], list[dict[str, Any]], int]:
    """The rows, the dead letters, and the counter of these."""
    session = Session(spark, mode="streaming")
    into = f"'connector' = 'filesystem', 'path' = '{folder / 'bad'}', 'format' = 'json'"
    session.execute(f"SET 'tvfsql.dead-letter' = 'bad'; CREATE TABLE bad ({LETTERS}) WITH ({into})")
    session.execute(f"CREATE TABLE t ({columns}) WITH ({options})")
    rows = session.sql(query).collect()
    files = sorted((folder / "bad").glob("*.json"))
    letters = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").split("\n") if line]
    return rows, letters, session.counts.get("numDeadLetters", 0)


@pytest.mark.parametrize("form, columns, options, good", [*bases()], ids=NAMES)
def test_each_message_is_a_row_or_a_dead_letter(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    columns: str,
    options: str,
    good: list[bytes],
) -> None:
    draw = random.Random(7 if not SOAK else None)
    values = [*good, *(mutated(draw.choice(good), draw, lines=False) for _ in range(MESSAGES))]
    count = len(values)
    from_file(spark, monkeypatch, tmp_path, values)
    found, letters, counted = outcome(spark, tmp_path, columns, f"{TOPIC}, {options}")
    rows = len(found)
    assert rows + len(letters) == count and counted == len(letters)
    places = {letter["place"] for letter in letters}
    assert len(places) == len(letters) and not places & {f"t-0@{i}" for i in range(len(good))}
    assert rows >= len(good) and len(letters) > count / 20


@pytest.mark.parametrize("form", CHANGES)
def test_each_message_of_changes_is_its_changes_or_a_dead_letter(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """The rows that all messages add, less those that they delete."""
    draw = random.Random(9 if not SOAK else None)
    good = [json.dumps(each).encode() for each in CHANGES[form]]
    values = [*good, *(mutated(draw.choice(good), draw, lines=False) for _ in range(MESSAGES))]
    from_file(spark, monkeypatch, tmp_path, values)
    own = form.removesuffix("-with-schema")
    columns = "a BIGINT, b STRING, f DOUBLE, ts AS TIMESTAMP '2024-01-01 00:00:00', WATERMARK FOR ts AS ts"
    options = f"'format' = '{own}'" + (f", '{own}.schema-include' = 'true'" if own != form else "")
    counting = "SELECT COUNT(*) AS n, COUNT(a) AS a, MAX(f) AS f, LAST_VALUE(b) AS b FROM TABLE(TUMBLE(TABLE t, "
    counting += "DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end"
    rows, letters, counted = outcome(spark, tmp_path, columns, f"{TOPIC}, {options}", counting)
    assert counted == len(letters) > len(values) / 20
    places = {letter["place"] for letter in letters}
    assert len(places) == len(letters) and not places & {f"t-0@{i}" for i in range(len(good))}
    read = [value for i, value in enumerate(values) if f"t-0@{i}" not in places]
    assert [row.n for row in rows] == [sum(added(form, value) for value in read)]


def added(form: str, value: bytes) -> int:
    """How many rows a message adds that can be read."""
    if not value.strip():
        return 0
    message, _ = json.JSONDecoder(strict=False).raw_decode(value.decode("utf-8", "replace").lstrip("\ufeff \t\r\n"))
    if form == "canal-json":
        return {"INSERT": 1, "DELETE": -1}.get(message["type"], 0) * len(message["data"] or ())
    message = message["payload"] if form.endswith("schema") else message
    return {"c": 1, "r": 1, "d": -1, "u": 0}[message["op"]] if message else 0


@pytest.mark.parametrize(
    "form, columns, options, good", [*bases()][:2], ids=lambda given: given if len(given) < 9 else ""
)
def test_each_line_is_a_row_or_a_dead_letter(
    spark: SparkSession, tmp_path: Path, form: str, columns: str, options: str, good: list[bytes]
) -> None:
    draw = random.Random(8 if not SOAK else None)
    lines = [*good, *(mutated(draw.choice(good), draw, lines=True) for _ in range(MESSAGES))]
    lines = [line for line in lines if line.removeprefix(b"\xef\xbb\xbf").strip()]  # blank lines are not rows
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"1.{form}").write_bytes(b"\n".join(lines))
    found, letters, counted = outcome(
        spark, tmp_path, columns, f"'connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', {options}"
    )
    rows = len(found)
    assert rows + len(letters) == len(lines) and counted == len(letters)
    assert rows >= len(good) and len(letters) > len(lines) / 20
