"""Hashes and rows of state as Spark has them."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tvfsql.errors import UnsupportedError
from tvfsql.runtime.arrow.spark_hash import xxhash64
from tvfsql.runtime.stream.rescale.state_rows import packed, read, unpacked, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRAW = random.Random(1)
TIME = datetime.datetime(1950, 1, 1)
FLOATS = [0.0, -0.0, float("nan"), 1.5, -2.25e17]
TEXTS = [0, 1, 3, 4, 7, 8, 9, 12, 31, 32, 33, 70]  # lengths
VALUES: dict[str, Callable[[], Any]] = {
    "boolean": lambda: DRAW.random() < 0.5,
    "tinyint": lambda: DRAW.randrange(-(2**7), 2**7),
    "smallint": lambda: DRAW.randrange(-(2**15), 2**15),
    "int": lambda: DRAW.randrange(-(2**31), 2**31),
    "bigint": lambda: DRAW.randrange(-(2**63), 2**63),
    "float": lambda: DRAW.choice(FLOATS),
    "double": lambda: DRAW.choice(FLOATS),
    "string": lambda: "".join(DRAW.choice("aäb€c😀") for _ in range(DRAW.choice(TEXTS))),
    "binary": lambda: bytes(DRAW.randrange(256) for _ in range(DRAW.choice(TEXTS))),
    "decimal(10, 2)": lambda: _decimal(8, 2),
    "decimal(18, 3)": lambda: _decimal(15, 3),
    "decimal(20, 0)": lambda: _decimal(20, 0),
    "decimal(38, 5)": lambda: _decimal(33, 5),
    "date": lambda: datetime.date(1900, 1, 1) + datetime.timedelta(DRAW.randrange(90_000)),
    "timestamp": lambda: TIME + datetime.timedelta(microseconds=DRAW.randrange(10**16)),
    "timestamp_ntz": lambda: TIME + datetime.timedelta(microseconds=DRAW.randrange(10**16)),
    "interval day to second": lambda: datetime.timedelta(microseconds=DRAW.randrange(10**12)),
    "struct<x: int, y: string>": lambda: (DRAW.randrange(9), DRAW.choice([None, "q"])),
    "array<string>": lambda: [DRAW.choice([None, "q", "zz"]) for _ in range(DRAW.randrange(4))],
}


def _decimal(digits: int, scale: int) -> decimal.Decimal:
    return decimal.Decimal(DRAW.choice([-1, 1]) * DRAW.randrange(10 ** DRAW.randrange(1, digits + 1))).scaleb(-scale)


@pytest.mark.spark
def test_hashes_are_those_of_spark(spark: SparkSession) -> None:
    """Of each type, and of all columns together, where each hash continues from the one before."""
    rows = [tuple(None if DRAW.random() < 0.1 else make() for make in VALUES.values()) for _ in range(200)]
    names = [f"c{number}" for number in range(len(VALUES))]
    types = ", ".join(f"{name} {kind}" for name, kind in zip(names, VALUES, strict=True))
    hashes = [f"xxhash64({name}) AS h{name}" for name in names]
    made = spark.createDataFrame(rows, types).selectExpr("*", *hashes, f"xxhash64({', '.join(names)}) AS h")
    (batch,) = made.toArrow().combine_chunks().to_batches()
    for name, kind in zip(names, VALUES, strict=True):
        assert xxhash64([batch.column(name)], len(rows)).tolist() == batch.column(f"h{name}").to_pylist(), kind
    part = batch.slice(7, 50)
    assert xxhash64([part.column(name) for name in names], 50).tolist() == part.column("h").to_pylist()


def test_a_type_without_a_known_hash_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="month_day_nano_interval has no known hash"):
        xxhash64([pa.array([(1, 2, 3)], pa.month_day_nano_interval())], 1)


# as Spark 4.3 wrote them: the index of key group 12, a key of its chunks, and one of its timers
KEY_GROUP = "00000000000000000c00000000000000"
CHUNK = (
    "0000000000000000100000001800000028000000280000000000000000000000"
    "0c00000000000000000000000000000008000000000000000000000000000000"
    "00000000000000000000000000000000"
)
QUEUE = (
    "0000000000000000100000001800000030000000280000000000000000000000"
    "0c0000000000000000000000000000000800000018000000"
    "0a00000020000000636c65616e2d75706576656e745f74696d65000000000000"
)


def test_rows_are_those_of_spark() -> None:
    data = b"some rows"
    rows = [
        ("index", bytes.fromhex(KEY_GROUP), packed(None, b"{}", b"", b"about")),
        ("chunks", bytes.fromhex(CHUNK), packed(data)),
        ("timer_queues", bytes.fromhex(QUEUE), packed(-7, data)),
    ]
    state = read(rows)
    assert state.index == (None, "{}", b"", "about")
    assert state.chunks == {(8, 0, 0, 0): data}
    assert state.queues == {("clean-up", "event_time"): (-7, data)}
    assert [*written(12, state)] == rows


def test_fields_come_back() -> None:
    fields = [None, -(2**63), b"", b"12345678", None, b"123456789", 2**63 - 1]
    kinds = [bytes, int, bytes, bytes, int, bytes, int]
    row = packed(*fields)
    assert unpacked(row, kinds) == fields
    assert len(row) % 8 == 0
