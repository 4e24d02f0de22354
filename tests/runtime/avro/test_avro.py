"""Messages in Avro: what other writers make of a schema, what Flink's readers expect, and what is refused."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import fastavro
import pyarrow as pa
import pytest
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tests.support.registry import SchemaRegistry, schema_registry
from tvfsql.catalog.connectors.avro_schema import Mapped, record_schema
from tvfsql.errors import DataError
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import TIMESTAMP, TIMESTAMP_LTZ
from tvfsql.runtime.avro.messages import message_reader, write
from tvfsql.runtime.avro.registry import Registry
from tvfsql.runtime.messages.rows import read_messages

TIMES = dict.fromkeys((TIMESTAMP, TIMESTAMP_LTZ), "timestamp-millis")
NOON = datetime(2020, 4, 15, 12, 0, 0, 123000)


@pytest.fixture
def server() -> Iterator[SchemaRegistry]:
    with schema_registry() as made:
        yield made


def struct(**kinds: T.DataType) -> T.StructType:
    return T.StructType([T.StructField(name, kind) for name, kind in kinds.items()])


def message(server: SchemaRegistry, fields: dict[str, Any], values: dict[str, Any]) -> bytes:
    """A message of another writer."""
    schema = {"type": "record", "name": "com.acme.Bid", "fields": [{"name": k, "type": v} for k, v in fields.items()]}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), values)
    return b"\0" + server.add("bids-value", json.dumps(schema)).to_bytes(4, "big") + out.getvalue()


def rows(server: SchemaRegistry, columns: T.StructType, *messages: bytes | None) -> list[Any]:
    read = message_reader(columns, Registry(server.url))
    return read_messages(pa.array(messages, pa.binary()), columns, read).to_pylist()


def test_all_types_come_back_as_they_were_written(server: SchemaRegistry) -> None:
    columns = struct(
        a=T.StringType(),
        b=T.BooleanType(),
        c=T.BinaryType(),
        d=T.ByteType(),
        e=T.LongType(),
        f=T.FloatType(),
        g=T.DecimalType(38, 10),
        h=T.DateType(),
        i=T.TimeType(3),
        j=T.TimestampNTZType(),
        k=T.TimestampType(),
        m=T.ArrayType(T.MapType(T.StringType(), struct(x=T.IntegerType(), y=T.TimestampNTZType()))),
    )
    full = {
        "a": "ü",
        "b": True,
        "c": b"\0\1",
        "d": -128,
        "e": 2**62,
        "f": 0.5,
        "g": Decimal("-1234567890123456789012345678.0000000001"),
        "h": date(1969, 12, 31),
        "i": time(23, 59, 59, 999000),
        "j": NOON,
        "k": NOON.replace(tzinfo=UTC),
        "m": [[("p", {"x": 1, "y": NOON}), ("q", None)], None, []],
    }
    given = [full, dict.fromkeys(full), None]
    registry = Registry(server.url)
    declared = {field.name: of_spark(field.dataType.simpleString()) for field in columns.fields}
    schema = json.dumps(record_schema(declared, Mapped("avro-confluent", TIMES, 9), {}))
    sent = write(pa.array(given, to_arrow_type(columns, timezone="UTC")), columns, schema, registry, "all-value")
    assert server.subjects == ["all-value"]
    assert [one and one[:5] for one in sent.to_pylist()] == [b"\0\0\0\0\1", b"\0\0\0\0\1", None]
    assert rows(server, columns, *sent.to_pylist()) == given


def test_fields_are_found_by_name_in_every_version_of_a_schema(server: SchemaRegistry) -> None:
    columns = struct(item=T.StringType(), n=T.LongType(), at=T.TimestampNTZType(), price=T.DecimalType(10, 2))
    millis, local = ({"type": "long", "logicalType": kind} for kind in ("timestamp-millis", "local-timestamp-micros"))
    price = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}
    kind = {"type": "enum", "name": "Item", "symbols": ["A", "B"]}
    found = rows(
        server,
        columns,
        message(server, {"n": "int", "item": "string"}, {"n": 1, "item": "x"}),
        message(server, {"item": kind, "at": millis}, {"item": "B", "at": NOON.replace(tzinfo=UTC)}),
        message(
            server,
            {"more": "string", "item": {"type": "string", "logicalType": "uuid"}, "at": ["null", local]},
            {"more": "?", "item": UUID(int=1), "at": NOON},
        ),
        message(server, {"at": "long", "price": price}, {"at": 86_400_001, "price": Decimal("1.5")}),
        None,
        b"",
    )
    none = dict.fromkeys(columns.names)
    assert found == [
        none | {"item": "x", "n": 1},
        none | {"item": "B", "at": NOON},
        none | {"item": str(UUID(int=1)), "at": NOON},
        none | {"at": datetime(1970, 1, 2, 0, 0, 0, 1000), "price": Decimal("1.50")},
        None,
        None,
    ]


@pytest.mark.parametrize(
    "column, field, value, says",
    [
        (T.IntegerType(), "string", "1", "'1' in a message is not INT, the type of n"),
        (T.IntegerType(), "long", 2**31, "2147483648 in a message is not INT, the type of n"),
        (T.StringType(), "int", 1, "1 in a message is not STRING, the type of n"),
        (T.TimestampNTZType(), "string", "2020-04-15", "'2020-04-15' is not a time"),
        (
            T.TimestampType(),
            {"type": "long", "logicalType": "local-timestamp-millis"},
            NOON,
            "2020-04-15 12:00:00.123000 has no time zone: its column would be a TIMESTAMP",
        ),
    ],
)
def test_a_field_of_another_type_is_refused(
    column: T.DataType, field: Any, value: Any, says: str, server: SchemaRegistry
) -> None:
    sent = message(server, {"n": field}, {"n": value})
    with pytest.raises(DataError) as caught:
        rows(server, struct(n=column), sent)
    assert caught.value.message == says


def test_what_is_no_message_is_refused(server: SchemaRegistry) -> None:
    columns, good = struct(n=T.LongType()), message(server, {"n": "long", "m": "string"}, {"n": 1, "m": "abc"})
    for bad, says in (
        (b'{"n": 1}', "a message does not begin with the number of a schema: 7b 22 6e 22 3a 20 31 7d "),
        (b"\0\0\0", "a message does not begin with the number of a schema: 00 00 00"),
        (good[:-2], "a message does not fit its schema 1: "),
        (b"\0\0\0\0\x63\2", "the registry has no schema 99 (was the message written "),
    ):
        with pytest.raises(DataError) as caught:
            rows(server, columns, bad)
        assert caught.value.message.startswith(says)
    for more, says in (
        ({"schemaType": "PROTOBUF"}, "schema 2 of the registry is PROTOBUF, not Avro"),
        ({"references": [{"name": "x"}]}, "schema 3 of the registry refers to other schemas"),
    ):
        number = server.add("other", '"long"', **more)
        with pytest.raises(DataError, match=says):
            rows(server, columns, b"\0" + number.to_bytes(4, "big") + b"\2")
    number = server.add("plain", '"long"')
    with pytest.raises(DataError, match=f"its schema {number} is not one of a record"):
        rows(server, columns, b"\0" + number.to_bytes(4, "big") + b"\2")


def test_a_registry_may_fail_for_a_while_and_may_want_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvfsql.runtime.avro.registry.PAUSE", 0)
    with schema_registry(login="me:secret") as server:
        server.add("s", '"long"')
        server.failures = 2
        assert Registry(server.url, "me:secret").schema(1) == "long"
        with pytest.raises(DataError, match="the schema registry refuses schemas/ids/1: Unauthorized"):
            Registry(server.url, "me:wrong").schema(1)
        server.failures = 99
        with pytest.raises(DataError, match="the schema registry does not answer: 503"):
            Registry(server.url, "me:secret").schema(2)
    with pytest.raises(DataError, match="the schema registry does not answer: "):
        Registry("http://127.0.0.1:1").schema(1)
