"""Messages of Protocol Buffers: bytes and rows are Flink's (tests/support/flink_protobuf.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_type

from tests.support.java_texts import shown
from tests.support.spark_types import struct_of
from tvfsql import Session
from tvfsql.api.script import Script
from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors import Kafka
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.options import Options
from tvfsql.plan.tables.internal_columns import TEXT
from tvfsql.runtime.messages.rows import BadMessage, read_messages
from tvfsql.runtime.protobuf.messages import Reader, write

DATA = Path(__file__).parents[2] / "data"
CASES = json.loads((DATA / "flink_protobuf.json").read_text())
ORDER = "com.acme.shop.Order"
FULL = {
    "id": 7, "maybe": 0, "item": "x", "note": "n", "paid": True, "f": 0.5, "d": -2.5, "raw": b"\0\xff", "kind": "GOOD",
    "kind_number": 7, "first": {"sku": "s", "count": 1, "price": None},
    "lines": [{"sku": "s", "count": 0, "price": 1.5}], "numbers": [1, 2], "counts": [("k", 1)],
    "by_number": [(3, {"sku": "q", "count": 4})], "u": -1, "ul": -1, "s": -5, "fx": 9, "left": "l", "right": None,
    "words": ["a", None], "kinds": ["BAD", "GOOD"],
}  # fmt: skip


def table(columns: str, name: str, more: str = "") -> Table:
    session = Session()
    file = DATA / "protobuf" / ("old.desc" if "old" in name else "shop.desc")
    options = f"'protobuf.descriptor-file' = '{file}', 'protobuf.message-class-name' = '{name}'{more}"
    session.execute(f"""CREATE TABLE t ({columns}) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'protobuf',
        'properties.bootstrap.servers' = 'h:1', {options})""")
    found = session.catalog.find("t")
    assert isinstance(found, Table)
    return found


def parts_of(made: Table) -> tuple[bytes, str]:
    assert isinstance(made.connector, Kafka)
    given = dict(made.connector.value.options)
    return Path(given["descriptor"]).read_bytes(), given["message"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["columns"][:40])
def test_messages_are_read_as_by_flink(case: dict[str, Any]) -> None:
    if "refused" in case:
        with pytest.raises(TvfSqlError):
            table(case["columns"], case["class"])
        return
    made = table(case["columns"], case["class"])
    kinds, (data, name) = struct_of(made.physical), parts_of(made)
    for each in case["messages"]:
        for defaults, text in zip((False, True), each["read"], strict=True):
            read, sent = Reader(data, name, kinds.json(), defaults), pa.array([bytes.fromhex(each["message"])])
            if text is None:
                with pytest.raises(DataError):
                    read_messages(sent, kinds, read)
            else:
                assert shown(read_messages(sent, kinds, read)[0].as_py()) == text.replace(
                    "{}", "[]"
                )  # an empty map is a list here


@pytest.mark.parametrize(
    ("number", "row"),
    [
        (0, FULL),
        (13, {"numbers": [1, None], "words": [None]}),
        (14, {"counts": [("k", None)]}),
        (15, {"kind_number": 7, "kind": "BAD"}),
        (16, {"left": "l", "right": 5}),
        (17, {"id": 1, "item": None, "n": None, "many": None, "b": None}),
        (18, {"sku": "q"}),
    ],
)
def test_messages_are_written_as_by_flink(number: int, row: dict[str, Any]) -> None:
    case = CASES[number]
    made = table(case["columns"], case["class"])
    kinds = struct_of(made.physical)
    rows = pa.array([row, None], to_arrow_type(kinds))
    assert write(rows, kinds, *parts_of(made), null_text="~").to_pylist() == [
        bytes.fromhex(case["messages"][0]["message"]),
        None,
    ]


def test_what_is_no_message_and_no_value_is_refused() -> None:
    made = table("kind STRING, id BIGINT", "shop.Order")  # its own name will do
    kinds, (data, name) = struct_of(made.physical), parts_of(made)
    with pytest.raises(DataError, match="'NOPE' is not a value of kind"):
        write(pa.array([{"kind": "NOPE", "id": 1}], to_arrow_type(kinds)), kinds, data, name)
    with pytest.raises(BadMessage, match=r"a message is not shop\.Order: "):
        Reader(data, name, kinds.json())(b"\xff")
    kept = struct_of(made.physical).add(TEXT, "string")
    found = read_messages(pa.array([b"\x08\1", b"\xff", None]), kept, Reader(data, name, kept.json())).to_pylist()
    assert [row and row[TEXT] for row in found] == [None, "ff", None]
    old = table("id BIGINT, n INT", "com.acme.old.OldOuterClass$Old")
    kinds, (data, name) = struct_of(old.physical), parts_of(old)
    with pytest.raises(DataError, match=r"a row is not shop\.Old: .*id"):
        write(pa.array([{"id": None, "n": 1}], to_arrow_type(kinds)), kinds, data, name)


@pytest.mark.parametrize(
    ("columns", "name", "more", "says", "hint"),
    [
        ("id INT", ORDER, "", "id is not INT in the message shop.Order", "id BIGINT"),
        ("itm STRING", ORDER, "", "the message shop.Order has no field itm", "did you mean item?"),
        ("numbers INT", ORDER, "", "numbers is not INT in the message shop.Order", "numbers ARRAY<INT>"),
        ("id BIGINT", "com.acme.shop.Ordr", "", "names no message of", f"did you mean {ORDER}?"),
        (
            "id BIGINT",
            ORDER,
            ", 'protobuf.ignore-parse-errors' = 'true'",
            "protobuf.ignore-parse-errors would drop messages without a word",
            "SET 'tvfsql.dead-letter' = 'a_table' keeps messages that cannot be read",
        ),
        ("id BIGINT", ORDER, ", 'protobuf.nope' = '1'", "connector kafka has no option protobuf.nope", ""),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: str, name: str, more: str, says: str, hint: str) -> None:
    with pytest.raises(TvfSqlError) as caught:
        table(columns, name, more)
    assert says in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_relative_file_is_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "shop.desc").write_bytes((DATA / "protobuf" / "shop.desc").read_bytes())
    script = Script(Catalog(), Options(), "batch", folder=str(tmp_path))
    create = """CREATE TABLE t (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'protobuf',
        'properties.bootstrap.servers' = 'h:1', 'protobuf.message-class-name' = 'shop.Order',
        'protobuf.descriptor-file' = 'shop.desc')"""
    assert [*script.outcomes(create)]
