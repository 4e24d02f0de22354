"""Rows that are made: the same ones always, in order, within their bounds; no Spark is started."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable

from tvfsql.errors import DataError
from tvfsql.plan.synthetic.nexmark import PROPORTIONS, TABLES
from tvfsql.runtime.synthetic import source
from tvfsql.runtime.synthetic.source import DatagenSource, FakerSource, GeneratedSource, GeneratedStream, NexmarkSource

START = datetime(2024, 1, 1)
SOURCES = {"nexmark": NexmarkSource, "datagen": DatagenSource, "faker": FakerSource}


def table(connector: str, schema: str, start: int = 0, end: int = 1000, **options: str) -> Any:
    """Rows `start` to `end` of a generated table, as a stream reads them."""
    read = stream(connector, schema, **options)
    parts = read.partitions({"row": start}, {"row": end})
    return pa.Table.from_batches([batch for part in parts for batch in read.read(part)])


def stream(connector: str, schema: str, **options: str) -> GeneratedStream:
    read = of(connector, **options).streamReader(struct(schema))
    assert isinstance(read, GeneratedStream)
    return read


def struct(schema: str) -> types.StructType:
    """`a int, b decimal(10,2)` as Spark has it; its own parser would start a JVM."""
    columns = (column.split(" ") for column in schema.split(", "))
    return types.StructType([types.StructField(name, spark_type(kind)) for name, kind in columns])


def spark_type(kind: str) -> types.DataType:
    if kind.startswith("decimal"):
        return types.DecimalType(*map(int, kind.removeprefix("decimal(").removesuffix(")").split(",")))
    names = {
        "tinyint": "Byte",
        "smallint": "Short",
        "int": "Integer",
        "bigint": "Long",
        "timestamp_ntz": "TimestampNTZ",
    }
    found: types.DataType = getattr(types, f"{names.get(kind, kind.capitalize())}Type")()
    return found


def of(connector: str, **options: str) -> GeneratedSource:
    source: Any = SOURCES[connector]
    return source({key.replace("_", "-").replace("--", "."): value for key, value in options.items()})


def nexmark(name: str, events: int, **options: str) -> Any:
    """All columns of the rows that a table has among so many events of all tables."""
    schema = ", ".join(f"{field.name} {field.type}" for field in TABLES[name])
    rows = events // 50 * PROPORTIONS[name]
    return table("nexmark", schema, 0, rows, nexmark__table=name, **options)


def ms(column: Any) -> Any:
    return column.combine_chunks().view(pa.int64()).to_numpy() // 1000


@pytest.fixture(scope="module")
def auctions() -> dict[str, Any]:
    return {name: nexmark(name, 500_000, first_event__rate="1000") for name in TABLES if name in PROPORTIONS}


def test_proportions_over_the_same_time(auctions: dict[str, Any]) -> None:
    assert [rows.num_rows for rows in auctions.values()] == [460_000, 30_000, 10_000]
    for rows in auctions.values():
        times = ms(rows["dateTime"])
        assert (np.diff(times) >= 0).all()
        assert START <= rows["dateTime"][0].as_py() < START + timedelta(seconds=1)
        assert timedelta(seconds=499) < rows["dateTime"][-1].as_py() - START < timedelta(seconds=500)


def test_references_exist_when_they_are_made(auctions: dict[str, Any]) -> None:
    persons, opened, bids = (auctions[name] for name in ("person", "auction", "bid"))
    assert persons["id"].to_pylist() == list(range(1000, 11_000))
    assert opened["id"].to_pylist() == list(range(1000, 31_000))
    for rows, column, of_table in ((bids, "bidder", persons), (opened, "seller", persons), (bids, "auction", opened)):
        made = ms(of_table["dateTime"])[rows[column].to_numpy() - 1000]
        assert (made <= ms(rows["dateTime"])).all()
    assert (ms(opened["expires"]) > ms(opened["dateTime"])).all()
    assert pc.all(pc.greater(opened["reserve"], opened["initialBid"])).as_py()


def test_some_are_hot(auctions: dict[str, Any]) -> None:
    bids = auctions["bid"]
    assert 0.49 < np.mean(bids["auction"].to_numpy() % 100 == 0) < 0.52
    assert 0.74 < np.mean((bids["bidder"].to_numpy() - 1000) % 100 == 1) < 0.77
    hot = pc.is_in(bids["channel"], pa.array(["Google", "Facebook", "Baidu", "Apple"]))
    assert 0.49 < pc.mean(hot.cast(pa.float64())).as_py() < 0.52
    assert len(pc.unique(bids["channel"])) == len(pc.unique(bids["url"])) == 10_004
    prices = bids["price"].to_numpy()
    assert prices.min() >= 100 and prices.max() <= 10**8
    assert 0.49 < np.mean(prices < 100_000) < 0.51


def test_texts_of_persons(auctions: dict[str, Any]) -> None:
    rows = auctions["person"].slice(0, 200).to_pylist()
    assert {(row["city"], row["state"]) for row in rows} >= {("Boise", "ID"), ("Kent", "WA")}
    assert len({row["city"] for row in rows}) == len({(row["city"], row["state"]) for row in rows}) == 10
    column = auctions["person"]
    for name, pattern in {
        "name": r"^[A-Z][a-z]+ [A-Z][a-z]+$",
        "emailAddress": r"^[0-9a-f]{7}@[0-9a-f]{4}\.[0-9a-f]{3}$",
        "creditCard": r"^\d{4} \d{4} \d{4} \d{4}$",
        "extra": r"^[0-9a-f]{16}$",
    }.items():
        assert pc.all(pc.match_substring_regex(column[name], pattern)).as_py(), name
    assert len(pc.unique(column["extra"])) == len(pc.unique(column["creditCard"])) == column.num_rows


def test_disorder_is_less_than_what_is_said_and_nearly_that_much() -> None:
    rows = nexmark("bid", 100_000, first_event__rate="1000", disorder="5 s")
    times = ms(rows["dateTime"])
    behind = np.maximum.accumulate(times) - times
    assert 4_900 < behind.max() < 5_000
    assert times.min() >= ms(pa.chunked_array([[START]], pa.timestamp("us")))[0]


@pytest.mark.parametrize("name", PROPORTIONS)
def test_a_row_is_its_number_seed_and_options(name: str) -> None:
    rows = nexmark(name, 20_000, disorder="1 min", seed="7")
    assert rows.equals(nexmark(name, 20_000, disorder="1 min", seed="7"))
    for column in rows.column_names:
        kind = next(field.type.spark for field in TABLES[name] if field.name == column)
        alone = table("nexmark", f"{column} {kind}", 130, 180, nexmark__table=name, disorder="1 min", seed="7")
        assert alone[column].to_pylist() == rows[column].slice(130, 50).to_pylist()
        other = nexmark(name, 20_000, disorder="1 min", seed="8")
        assert column == "id" or not other[column].equals(rows[column])


def test_events_in_one_table_are_those_of_the_three() -> None:
    """The rows of the single table, sorted out by their kinds, are the rows of each table."""
    fields = {
        name: ["id", "dateTime"] if name != "bid" else ["auction", "dateTime", "price"]
        for name in TABLES
        if name in PROPORTIONS
    }
    types_of = {field.name: field.type.spark for name in PROPORTIONS for field in TABLES[name]}
    schema = types.StructType([types.StructField("event_type", types.IntegerType())])
    for name, wanted in fields.items():
        inside = [types.StructField(field, spark_type(types_of[field])) for field in wanted]
        schema.add(name, types.StructType(inside))
    read = of("nexmark", disorder="1 min").streamReader(schema)
    parts = read.partitions({"row": 0}, {"row": 5_000})
    rows = [row for part in parts for batch in read.read(part) for row in batch.to_pylist()]
    for number, name in enumerate(PROPORTIONS):
        found = [row[name] for row in rows if row["event_type"] == number]
        assert found == nexmark(name, 5_000, disorder="1 min").select(fields[name]).to_pylist()
        assert all(row[name] is None for row in rows if row["event_type"] != number)


def test_expressions_of_faker_give_what_they_say() -> None:
    expressions = {
        "request": ("string", "#{regexify '(GET|POST){1}'} #{regexify '/[a-c]{2,4}[.]html'}"),
        "size": ("int", "#{number.numberBetween '100','103'}"),
        "price": ("decimal(10,2)", "#{Number.randomDouble '2','1','2'}"),
        "share": ("double", "#{number.randomDouble '3','-1','1'}"),
        "user": ("string", "#{numerify 'user_##'}"),
        "state": ("string", "#{Options.option 'new','old, gone')}"),
        "id": ("string", "#{Internet.UUID}"),
        "sent": ("timestamp_ntz", "#{date.past '15','5','SECONDS'}"),
        "born": ("date", "#{date.birthday '1','100'}"),
        "valid": ("boolean", "#{bool.bool}"),
        "name": ("string", "#{Name.first_name}"),
        "fixed": ("string", "-"),
    }
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in expressions.items())
    options = {f"fields__{name}__expression": text for name, (_, text) in expressions.items()}
    rows = table("faker", schema, 0, 3_000, rows_per_second="10", fields__user__null_rate="0.25", **options)
    made = {name: rows[name].to_pylist() for name in expressions}
    assert all(re.fullmatch(r"(GET|POST) /[a-c]{2,4}\.html", each) for each in made["request"])
    assert {*made["size"]} == {100, 101, 102}
    assert {*made["price"]} == {Decimal(n) / 100 for n in range(100, 201)}
    assert -1 <= min(made["share"]) < -0.9 and 0.9 < max(made["share"]) <= 1
    assert 650 < made["user"].count(None) < 850
    assert all(re.fullmatch(r"user_\d\d", each) for each in made["user"] if each)
    assert {*made["state"]} == {"new", "old, gone"}
    assert len({*made["id"]}) == 3_000 and {len(each) for each in made["id"]} == {36}
    past = [START + timedelta(milliseconds=100 * n) - each for n, each in enumerate(made["sent"])]
    assert timedelta(seconds=5) <= min(past) < timedelta(seconds=5.1)
    assert timedelta(seconds=14.9) < max(past) <= timedelta(seconds=15)
    assert {*range(1925, 2022)} <= {each.year for each in made["born"]} <= {*range(1923, 2024)}
    assert {*made["valid"]} == {True, False} and {*made["fixed"]} == {"-"}
    assert len({*made["name"]}) > 100
    alone = table("faker", "size int", 130, 180, **options)["size"].to_pylist()
    assert alone == made["size"][130:180]


TYPES = {
    "tinyint": (-5, 5),
    "smallint": (-300, 300),
    "int": (-70_000, 70_000),
    "bigint": (-(2**62), 2**62),
    "float": (-1.5, 2.5),
    "double": (-1e300, 1e300),
    "decimal(10,2)": (Decimal("-1.25"), Decimal("99.99")),
    "decimal(38,30)": (Decimal("0"), Decimal("0.0000000000009")),
}


@pytest.mark.parametrize("kind", TYPES)
def test_random_numbers_fill_their_range(kind: str) -> None:
    bounds: Any = TYPES[kind]
    low, high = bounds
    options = {"fields__x__min": str(low), "fields__x__max": str(high)}
    values = table("datagen", f"x {kind}", 0, 20_000, **options)["x"].to_pylist()
    assert low <= min(values) and max(values) <= high
    share = float(high - low) / 100
    assert float(min(values)) < float(low) + share and float(max(values)) > float(high) - share
    assert abs(sum(map(float, values)) / len(values) - float(low + high) / 2) < share


@pytest.mark.parametrize("kind", [*TYPES, "boolean", "string", "binary", "date", "timestamp", "timestamp_ntz"])
def test_every_type_has_defaults_and_nulls(kind: str) -> None:
    column = table("datagen", f"x {kind}", 0, 5_000, fields__x__null_rate="0.3")["x"]
    assert 1_400 < column.null_count < 1_600
    assert len(set(column.to_pylist())) > (1 if kind in ("boolean", "date") else 200)
    whole = table("datagen", f"x {kind}", 0, 5_000)["x"]
    assert whole.null_count == 0
    assert pc.drop_null(column).equals(whole.filter(column.is_valid()))
    if kind in ("string", "binary"):
        assert set(map(len, whole.to_pylist())) == {100}


@pytest.mark.parametrize("kind", [*(kind for kind in TYPES if kind != "decimal(38,30)"), "string"])
def test_sequences_of_numbers(kind: str) -> None:
    options = {"fields__x__kind": "sequence", "fields__x__start": "-3", "fields__x__end": "90"}
    assert of("datagen", **options).rows().number == 94
    found = table("datagen", f"x {kind}", 0, 94, **options)["x"].to_pylist()
    assert found == [str(n) if kind == "string" else n for n in range(-3, 91)]


def test_random_times_are_those_of_a_clock() -> None:
    """Event times of a table with few options rise, as in Flink, whose times are those of its clock."""
    clock = table("datagen", "ts timestamp_ntz", 0, 30, rows_per_second="20")["ts"].to_pylist()
    assert clock == [START + n * timedelta(milliseconds=50) for n in range(30)]
    delayed = table("datagen", "ts timestamp_ntz", 0, 1000, rows_per_second="20", fields__ts__max_past="10 s")
    times = delayed["ts"].to_pylist()
    behind = [START + n * timedelta(milliseconds=50) - times[n] for n in range(1000)]
    assert timedelta(0) <= min(behind) and timedelta(seconds=9) < max(behind) < timedelta(seconds=10)
    usual = table("datagen", "ts timestamp_ntz", 0, 20_001)["ts"].to_pylist()
    assert (usual[0], usual[10_000], usual[20_000]) == tuple(START + timedelta(seconds=n) for n in range(3))


def test_sequences_of_times() -> None:
    options: Any = {
        "fields__ts__kind": "sequence",
        "fields__ts__step": "250 ms",
        "fields__ts__start": "2024-02-29 12:00:00.5",
    }
    first = datetime(2024, 2, 29, 12, 0, 0, 500_000)
    plain = table("datagen", "ts timestamp_ntz", **options)["ts"].to_pylist()
    assert plain == [first + n * timedelta(milliseconds=250) for n in range(1000)]
    drawn = table("datagen", "ts timestamp_ntz", **options, fields__ts__max_past="1 s")["ts"].to_pylist()
    behind = [one - other for one, other in zip(plain, drawn, strict=True)]
    assert timedelta(0) <= min(behind) and timedelta(milliseconds=900) < max(behind) < timedelta(seconds=1)
    days = table("datagen", "d date", 0, 3, fields__d__kind="sequence", fields__d__start="1969-12-31")["d"].to_pylist()
    assert days == [date(1969, 12, 31), date(1970, 1, 1), date(1970, 1, 2)]


def test_the_shortest_sequence_is_the_end() -> None:
    ends = {"fields__a__start": "1", "fields__a__end": "10", "fields__b__start": "1", "fields__b__end": "7"}
    assert of("datagen", **ends).rows().number == 7
    assert of("datagen", **ends, number_of_rows="5").rows().number == 5
    assert of("datagen").rows().number is None
    with pytest.raises(DataError, match="needs the number of rows"):
        of("datagen").reader(struct("x int"))


def offsets(read: GeneratedStream, at: int = 0) -> list[int]:
    """Where the micro-batches of an availableNow run end."""
    read.prepareForTriggerAvailableNow()
    found = [at]
    while len(found) < 2 or found[-1] != found[-2]:
        found.append(read.latestOffset({"row": found[-1]}, ReadAllAvailable())["row"])
    return found[1:-1]


@given(st.integers(0, 5000), st.integers(1, 3000), st.integers(0, 5000))
def test_a_bounded_stream_is_read_to_its_end_and_no_further(rows: int, per_batch: int, at: int) -> None:
    read = stream("datagen", "x int", number_of_rows=str(rows), rows_per_batch=str(per_batch))
    ends = offsets(read, at)
    assert ends == [*range(at + per_batch, rows, per_batch), *([rows] if at < rows else [])]
    assert all(end - start <= per_batch for start, end in zip([at, *ends], ends, strict=False))


def test_rows_come_no_faster_than_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(source.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(source.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    read = stream("datagen", "x int", rows_per_second="100", rows_per_batch="250")
    found = []
    for wait in (0.0, 0.5, 0.5, 0.0, 10.0, 0.0):
        clock[0] += wait
        found.append(read.latestOffset({"row": 1000 + sum(found)}, ReadAllAvailable())["row"] - 1000 - sum(found))
    assert found == [100, 50, 50, 0, 250, 250]
    assert offsets(stream("datagen", "x int", rows_per_second="100"), 70) == [170]
    began = clock[0]
    bounded = stream("datagen", "x int", rows_per_second="100", number_of_rows="350")
    assert offsets(bounded) == [100, 200, 300, 350]
    assert clock[0] - began == pytest.approx(2.5)


def test_partitions_are_the_rows_in_order() -> None:
    read = stream("datagen", "x int")
    parts = read.partitions({"row": 7}, {"row": 250_000})
    assert [part.value for part in parts] == [(7, 100_007), (100_007, 200_007), (200_007, 250_000)]
    assert all(isinstance(part, InputPartition) for part in parts)
    batch = of("datagen", number_of_rows="150000").reader(struct("x int"))
    assert [part.value for part in batch.partitions()] == [(0, 100_000), (100_000, 150_000)]


def test_endless_nexmark_goes_as_fast_as_its_event_time() -> None:
    speeds = {
        name: of("nexmark", nexmark__table=name, first_event__rate="5000").rows().per_second
        for name in TABLES
        if name in PROPORTIONS
    }
    assert speeds == {"bid": 4600, "auction": 300, "person": 100}
