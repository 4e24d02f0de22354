"""A message alone never stops a stream: each of these becomes a dead letter. What the surroundings raise does not."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyspark.sql import types as T

from tests.support.registry import SchemaRegistry, schema_registry
from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.runtime.avro import registry as client
from tvfsql.runtime.avro.limits import DEEPEST, LONGEST, Limits
from tvfsql.runtime.avro.messages import message_reader
from tvfsql.runtime.avro.records import record
from tvfsql.runtime.avro.registry import Registry
from tvfsql.runtime.messages.rows import BadMessage, read_messages

PART = {"type": "record", "name": "Part", "fields": [{"name": "x", "type": "int"}]}
KINDS: dict[str, Any] = {"n": PART, "l": {"type": "array", "items": "int"}, "m": {"type": "map", "values": "int"}}
VALUES: dict[str, Any] = {"n": {"x": 2}, "l": [1], "m": {"k": 1}}
COLUMNS = (
    T.StructType()
    .add("n", T.StructType().add("x", T.IntegerType()))
    .add("l", T.ArrayType(T.IntegerType()))
    .add("m", T.MapType(T.StringType(), T.IntegerType()))
    .add(TEXT, T.StringType())
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SchemaRegistry]:
    monkeypatch.setattr(client, "PAUSE", 0)
    with schema_registry() as made:
        yield made


def schema(kinds: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in kinds.items()]}


def message(server: SchemaRegistry, kinds: dict[str, Any], values: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema(kinds)), values)
    return b"\0" + server.add("s", json.dumps(schema(kinds))).to_bytes(4, "big") + out.getvalue()


def letters(server: SchemaRegistry, *messages: bytes) -> list[str | None]:
    """The texts of the dead letters, None for a message that could be read."""
    read = message_reader(COLUMNS, Registry(server.url))
    return read_messages(pa.array(messages, pa.binary()), COLUMNS, read).field(TEXT).to_pylist()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kind, value", [("string", "oops"), ("int", 7), ("bytes", b"\xff"), (KINDS["l"], [1])])
def test_a_field_that_has_become_another_kind_is_a_bad_message(
    name: str, kind: Any, value: Any, server: SchemaRegistry
) -> None:
    if kind == KINDS[name]:
        return
    good, bad = message(server, KINDS, VALUES), message(server, KINDS | {name: kind}, VALUES | {name: value})
    assert letters(server, good, bad, good) == [None, bad.hex(), None]


def test_a_number_without_a_usable_schema_is_a_bad_message(server: SchemaRegistry) -> None:
    good = message(server, KINDS, VALUES)
    numbers = [
        server.add("s", 'syntax = "proto3";', schemaType="PROTOBUF"),
        server.add("s", '{"type": "recordd"}'),
        server.add("s", "not JSON"),
        server.add("s", '{"type":"array","items":' * 5000 + '"int"' + "}" * 5000),
        server.add("s", json.dumps(schema(KINDS)), references=[{"name": "Other"}]),
        99,
        1702195828,  # "text"
        0xFFFFFFFF,
    ]
    bad = [b"\0" + number.to_bytes(4, "big") + b"\2" for number in numbers]
    assert letters(server, good, *bad, good) == [None, *(each.hex() for each in bad), None]


def test_an_unknown_number_is_asked_for_once_a_minute(server: SchemaRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = b"\0" + (77).to_bytes(4, "big")
    assert letters(server, bad) == [bad.hex()]
    asked = server.requests
    assert letters(server, *[bad] * 5) == [bad.hex()] * 5
    assert server.requests == asked
    monkeypatch.setattr(client, "REMEMBERED", -1)
    client._missing.clear()
    letters(server, bad, bad)
    assert server.requests == asked + 2


@pytest.mark.parametrize("status", [429, 500, 503, 0])
def test_a_registry_that_is_busy_is_asked_again(status: int, server: SchemaRegistry) -> None:
    good = message(server, KINDS, VALUES)
    server.failure, server.failures = status, client.TRIES - 1
    assert letters(server, good) == [None]


def test_a_registry_that_does_not_answer_stops_the_query(server: SchemaRegistry) -> None:
    good = message(server, KINDS, VALUES)
    server.failures = client.TRIES
    with pytest.raises(DataError, match="does not answer"):
        letters(server, good)
    server.login = "a:b"
    with pytest.raises(DataError, match="refuses schemas/ids/1: Unauthorized"):
        letters(server, good)
    server.login = ""
    with pytest.raises(
        DataError, match="refuses schemas/ids/1: there is no"
    ):  # a wrong URL is no fault of its messages
        read_messages(pa.array([good]), COLUMNS, message_reader(COLUMNS, Registry(f"{server.url}/other")), None)


def number(of: int) -> bytes:
    out, left = b"", of << 1
    while left > 0x7F:
        out, left = out + bytes([left & 0x7F | 0x80]), left >> 7
    return out + bytes([left])


def parsed(kind: Any) -> Any:
    return fastavro.parse_schema(schema({"l": kind}))


NODE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}


@pytest.mark.parametrize("depth", [DEEPEST // 2 + 1, 5000, 100_000])
def test_a_record_of_any_depth_is_refused(depth: int) -> None:
    with pytest.raises(BadMessage, match=f"more than {DEEPEST} values in each other"):
        record(number(1) * depth + b"\0", parsed(NODE), "x")


def test_a_record_below_the_limit_is_read() -> None:
    record(number(1) * (DEEPEST // 2 - 2) + b"\0", parsed(NODE), "x")
    record(number(LONGEST) + b"\0", parsed({"type": "array", "items": "null"}), "x")


def test_a_schema_that_holds_itself_without_an_end_is_refused() -> None:
    endless = {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
    for kind, sent in ((endless, b""), ({"type": "array", "items": endless}, number(3))):
        with pytest.raises(BadMessage):
            record(sent, parsed(kind), "x")


EMPTY = {"type": "record", "name": "Empty", "fields": [{"name": "a", "type": "null"}]}


@pytest.mark.parametrize(
    "item", ["null", EMPTY, {"type": "fixed", "name": "F", "size": 0}], ids=["null", "record", "fixed"]
)
def test_a_list_of_values_without_bytes_is_limited(item: Any) -> None:
    kind = parsed({"type": "array", "items": item})
    for sent in (number(10**9) + b"\0", (number(LONGEST // 2)) * 3 + b"\0"):
        with pytest.raises(BadMessage, match="values without bytes"):
            record(sent, kind, "x")


FIXED, ENUM = {"type": "fixed", "name": "F", "size": 2}, {"type": "enum", "name": "N", "symbols": ["A"]}
SIMPLE = ("boolean", "int", "long", "float", "double", "string", "bytes", FIXED, PART, ENUM)


@pytest.mark.parametrize(
    "item",
    [*SIMPLE, ["null", "int"], {"type": "map", "values": "null"}],
    ids=str,
)
def test_a_list_that_says_more_than_it_has_ends_at_once(item: Any) -> None:
    """Such schemas need no look: each value takes a byte, and the bytes end."""
    for container in ({"type": "array", "items": item}, {"type": "map", "values": item}):
        assert not Limits(parsed(container)).needed
        with pytest.raises(BadMessage):
            record(number(10**9) + b"\0", parsed(container), "x")


def test_the_look_reads_what_fastavro_writes() -> None:
    """It reads each record to its end: with bytes of a deeper one after it, it would refuse."""
    every = {
        "type": "record",
        "name": "All",
        "fields": [
            {"name": "a", "type": ["null", "All", {"type": "array", "items": "All"}, {"type": "map", "values": "All"}]},
            {"name": "b", "type": {"type": "fixed", "name": "F", "size": 3}},
            {"name": "c", "type": {"type": "enum", "name": "N", "symbols": ["A", "B"]}},
            *(
                {"name": kind, "type": kind}
                for kind in ("boolean", "int", "long", "float", "double", "string", "bytes")
            ),
        ],
    }
    draw = random.Random(7)

    def made(depth: int) -> dict[str, Any]:
        inner: list[Any] = [None] if depth == 0 else [made(depth - 1), [made(depth - 1)] * 2, {"k": made(depth - 1)}]
        return {
            "a": draw.choice(inner), "b": b"abc", "c": "B", "boolean": True, "int": draw.randrange(-9, 9**9),
            "long": -(2**62), "float": 0.5, "double": 1.5, "string": "é" * draw.randrange(9), "bytes": b"\0",
        }  # fmt: skip

    of = fastavro.parse_schema(every)
    looked = Limits(fastavro.parse_schema({"type": "record", "name": "Two", "fields": [
        {"name": "a", "type": every}, {"name": "z", "type": NODE},
    ]}))  # fmt: skip
    for _ in range(50):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, of, made(3))
        with pytest.raises(BadMessage, match="in each other"):
            looked.check(out.getvalue() + number(1) * DEEPEST)
        looked.check(out.getvalue() + b"\0")
