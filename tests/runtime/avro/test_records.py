"""Records in Avro without a registry: schemas, bytes and rows are Flink's (tests/support/flink_messages.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tests.support.java_texts import shown
from tests.support.spark_types import struct_of
from tvfsql import Session
from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Kafka
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.runtime.avro.records import record_reader, write
from tvfsql.runtime.messages.rows import BadMessage, read_messages

LEGACY = "avro.timestamp_mapping.legacy"
CASES = json.loads((Path(__file__).parents[2] / "data" / "flink_avro.json").read_text())
NOT_EXACT = ("TIMESTAMP", "TIMESTAMP(6)", "TIMESTAMP_LTZ", "TIMESTAMP_LTZ(6)")  # Flink loses their digits


def table(columns: str, legacy: bool = True) -> Table:
    """A table of Kafka with these columns."""
    session = Session()
    options = f"'properties.bootstrap.servers' = 'h:1', 'format' = 'avro', '{LEGACY}' = '{str(legacy).lower()}'"
    session.execute(f"CREATE TABLE t ({columns}) WITH ('connector' = 'kafka', 'topic' = 't', {options})")
    found = session.catalog.find("t")
    assert isinstance(found, Table)
    return found


def schema_of(made: Table) -> str:
    assert isinstance(made.connector, Kafka)
    return dict(made.connector.value.options)["schema"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['columns']}{'' if case[LEGACY] else ' not legacy'}")
def test_schemas_and_bytes_are_those_of_flink(case: dict[str, Any]) -> None:
    if "refused" in case or case["columns"].removeprefix("a ") in NOT_EXACT:
        with pytest.raises(TvfSqlError, match="format avro does not support"):
            table(case["columns"], case[LEGACY])
        return
    made = table(case["columns"], case[LEGACY])
    assert json.loads(schema_of(made)) == case["schema"]
    kinds, messages = struct_of(made.physical), [bytes.fromhex(each["message"]) for each in case["messages"]]
    rows = read_messages(pa.array(messages, pa.binary()), kinds, record_reader(kinds, schema_of(made)))
    assert [shown(row) for row in rows.to_pylist()] == [each["read"] for each in case["messages"]]
    assert write(rows, kinds, schema_of(made)).to_pylist() == messages


def test_a_null_is_not_written_where_the_schema_has_none() -> None:
    """fastavro would write it as false."""
    made = table("flag BOOLEAN NOT NULL, at ROW<on BOOLEAN NOT NULL>, n INT")
    kinds = struct_of(made.physical)
    arrow = to_arrow_type(kinds)
    for row, name in (
        ({"flag": None, "at": None, "n": 1}, "flag"),
        ({"flag": True, "at": {"on": None}, "n": 1}, "at.on"),
    ):
        with pytest.raises(DataError, match=f"{name} is NOT NULL, and a row has NULL there"):
            write(pa.array([row], arrow), kinds, schema_of(made))
    assert write(pa.array([{"flag": True}, None], arrow), kinds, schema_of(made)).to_pylist() == [b"\1\0\0", None]


def test_bytes_that_are_no_record_are_told_with_their_place_or_kept_as_dead_letters() -> None:
    made = table("n INT NOT NULL, item STRING")
    kinds = struct_of(made.physical)
    read = record_reader(kinds, schema_of(made))
    good, bad = b"\2\2\2x", (b"", b"\2", b"\2\2\2x\0", b'{"n": 1}', b"\2\2\2\xff")
    for message in bad:
        with pytest.raises(BadMessage, match="a message does not fit the schema of its table: "):
            read(message)
    sent = pa.array([good, *bad, None], pa.binary())
    places = (pa.array(["t"] * 7), pa.array([0] * 7), pa.array(range(40, 47)))
    with pytest.raises(DataError, match=r"does not fit the schema of its table: EOFError.*, at t-0@41"):
        read_messages(sent, kinds, read, places)
    small = T.StructType([T.StructField("n", T.ByteType()), T.StructField("item", T.StringType())])
    with pytest.raises(DataError, match=r"300 in a message is not TINYINT, the type of n, at t-0@40"):
        read_messages(pa.array([b"\xd8\4\0"]), small, record_reader(small, schema_of(made)), places)
    for columns, first, told in ((kinds, good, None), (small, b"\xd8\4\0", "d80400")):
        kept = columns.add(TEXT, T.StringType())
        found = read_messages(pa.array([first, *bad, None]), kept, record_reader(kept, schema_of(made))).to_pylist()
        assert [row and row[TEXT] for row in found] == [told, *(message.hex() for message in bad), None]
