"""Changes: what window aggregates give of rows that come and go is what they give of the rows that are left."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from user_functions import Median, Seen

from tests.models import naive
from tests.models.naive import Cumulating, Hopping, Tumbling
from tests.models.random_windows import (
    AGGREGATES,
    COLUMNS,
    KEYS,
    RULES_OFF,
    STRATEGY,
    answer,
    assert_same,
    expected,
    one_of_each,
    query,
    random_rows,
    random_tables,
)
from tests.support.bids import bag, create_table, write_files
from tests.support.examples import SOAK
from tests.support.flink_cases import CASES, plain, written
from tvfsql import Session
from tvfsql.errors import DataError
from tvfsql.runtime import canal_changes, debezium_changes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# doubles that differ by 300 digits, NaN and infinities: what is left of them when some are taken back is no sum
EXACT = tuple(sql for sql in AGGREGATES if sql != "SUM(e)")
LINEAR = ("COUNT(*)", "COUNT(n)", "COUNT(s) FILTER (WHERE f)", "SUM(n)", "SUM(p)", "AVG(b)", "AVG(p)", "SUM(d)")
CASE = CASES["cdc_hop_single_delete"]
WINDOWS = {
    "tumble": "TUMBLE(TABLE stock, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "hop": "HOP(TABLE stock, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
    "cumulate": "CUMULATE(TABLE stock, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)",
}
STOCK = (
    "op STRING, ts TIMESTAMP(3), item STRING, price DECIMAL(10, 2), n INT, "
    "WATERMARK FOR ts AS ts - INTERVAL '{}' SECOND"
)
TOTALS = """SELECT window_start, window_end, item, COUNT(*) AS n, SUM(n) AS total, AVG(price) AS mean, MIN(n) AS least,
    MAX(price) AS most, COUNT(DISTINCT n) AS numbers, LISTAGG(CAST(n AS STRING)) AS list, LAST_VALUE(price) AS newest,
    ROUND(VAR_POP(n) FILTER (WHERE n > 10), 6) AS spread, seen(n, price) FILTER (WHERE n > 5) AS seen,
    seen(DISTINCT item) AS items, middle(n) AS middle
FROM TABLE({}) WHERE n < 90 GROUP BY window_start, window_end, item"""


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_the_rows_are_those_of_flink(mode: str, spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, mode=mode)
    columns = [column for column, _ in CASE["columns"]]
    write_files(tmp_path / "in", [[dict(zip(columns, row, strict=True))] for row in CASE["rows"]])
    stored = ", ".join(f"`{column}` {kind.split(' ')[0]}" for column, kind in CASE["columns"])
    stored = stored.replace("CHANGELOG", "STRING")
    computed = "".join(f", `{column}` AS {kind.split(' AS ')[1]}" for column, kind in CASE["computed_columns"])
    mark = f", WATERMARK FOR rowtime AS {CASE['watermark']}"
    create_changelog(session, CASE["input_table"], stored + computed + mark, tmp_path / "in", op="row_kind")
    result = session.sql(CASE["query"])
    kinds = [field.type.spark for field in result.query.physical.schema]
    assert written(list(map(plain, row, kinds)) for row in result.collect()) == written(CASE["expected_rows"])


@pytest.mark.spark
@random_tables
@one_of_each
def test_windows_of_changes_hold_what_the_rows_that_are_left_give(
    spark: SparkSession, seed: int, tumble: Tumbling, hop: Hopping, cumulate: Cumulating
) -> None:
    """By slices, in one phase, and without any rule: then the changes are applied first."""
    source = random.Random(seed)
    windows = (tumble, hop, replace(cumulate, only_on_update=False))
    rows, gone = random_rows(source, windows), random_rows(source, windows)
    changes = [*some_changes(source, rows, gone)]
    ways: tuple[tuple[dict[str, str], Sequence[str], bool], ...] = (
        ({}, EXACT, False),
        ({STRATEGY: "ONE_PHASE"}, LINEAR, False),
        ({STRATEGY: "ONE_PHASE"}, (*LINEAR, "MAX(s)"), True),
        (RULES_OFF, (*LINEAR, "MAX(s)"), True),
    )
    for each in windows:
        for options, aggregates, applied in ways if each is hop else ways[:1]:
            session = Session(spark, options=options)
            register(session, changes)
            some = source.sample(aggregates, 16) if len(aggregates) > 16 else aggregates
            code = session.sql(query(each, some, KEYS)).query.code
            assert ("applied_changes" in code) == applied, (each, options)
            found = answer(session, each, some, KEYS)
            assert_same(found, expected(rows, each, some, KEYS), some, (each, options))


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.usefixtures("several_partitions")
def test_streams_of_changes_give_the_rows_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    delay = 12
    changes = stream_of_changes(random.Random(3), 900, delay * 1000)
    write_files(tmp_path / "in", cut(random.Random(4), changes, 7 if SOAK else 3))
    windows = [window for kind, window in WINDOWS.items() if SOAK or kind != "tumble"]
    stream, batch = Session(spark, mode="streaming"), Session(spark)
    plain = Session(spark)
    for session in (stream, batch, plain):
        session.create_function("seen", Seen)
        session.create_function("middle", Median)  # has no merge()
    for session in (stream, batch):
        create_changelog(session, "stock", STOCK.format(delay), tmp_path / "in")
    query = " UNION ALL ".join(map(TOTALS.format, windows))
    rows = stream.sql(query).collect()
    assert stream.counts["numLateRecordsDropped"] == 0
    assert stream.counts["rowsIn"] == len(windows) * len(changes), "each window function reads them"
    of_batch = bag(batch.sql(query).collect())
    assert bag(rows) == of_batch
    assert len(rows) > 60
    write_files(tmp_path / "left", [left(changes)])
    create_table(plain, "stock", STOCK.format(delay).replace("op STRING, ", ""), tmp_path / "left")
    assert bag(plain.sql(query).collect()) == of_batch


@pytest.mark.spark
def test_late_changes_are_counted_and_can_be_kept(spark: SparkSession, tmp_path: Path) -> None:
    def change(op: str, second: int, n: int) -> dict[str, Any]:
        return {"op": op, "ts": f"2020-04-15 08:00:{second:02d}", "item": "A", "n": n}

    write_files(
        tmp_path / "in", [[change("+I", 1, 1), change("+I", 2, 5)], [change("+I", 30, 7)], [change("-D", 2, 5)]]
    )
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    create_changelog(session, "stock", STOCK.format(0), tmp_path / "in")
    create_table(session, "out", "window_end TIMESTAMP(3), n BIGINT, total INT", tmp_path / "out")
    create_table(session, "late", "op STRING, ts TIMESTAMP(3), n INT, window_end TIMESTAMP(3)", tmp_path / "late")
    session.execute(
        "SET 'tvfsql.late-output' = 'late';"
        "INSERT INTO out SELECT window_end, COUNT(*), SUM(n) "
        f"FROM TABLE({WINDOWS['tumble']}) GROUP BY window_start, window_end"
    )
    assert session.counts["numLateRecordsWritten"] == 1
    assert sorted((row["n"], row["total"]) for row in files(tmp_path / "out")) == [(1, 7), (2, 6)]
    (kept,) = files(tmp_path / "late")
    assert (kept["op"], kept["n"], kept["window_end"][:19]) == ("-D", 5, "2020-04-15T08:00:10")


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_the_elements_of_rows_that_go_are_subtracted(mode: str, spark: SparkSession, tmp_path: Path) -> None:
    changes = [("+I", 1, "ab"), ("+I", 2, "bc"), ("-U", 2, "bc"), ("+U", 2, "cc"), ("+I", 3, ""), ("-D", 1, "ab")]
    rows = [{"op": op, "ts": f"2020-04-15 08:00:0{n}", "n": n, "tags": [*tags]} for op, n, tags in changes]
    write_files(tmp_path, [rows[:3], rows[3:]])
    session = Session(spark, mode=mode)
    columns = "op STRING, ts TIMESTAMP(3), n INT, tags ARRAY<STRING>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    create_changelog(session, "posts", columns, tmp_path)
    sql = """SELECT tag, COUNT(*), SUM(n), MAX(n)
        FROM TABLE(TUMBLE(TABLE posts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) {}
        GROUP BY window_start, window_end, tag"""
    assert [*map(tuple, session.sql(sql.format("CROSS JOIN UNNEST(tags) AS t (tag)")).collect())] == [("c", 2, 4, 2)]
    kept = session.sql(sql.format("LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE")).collect()
    assert sorted(map(tuple, kept), key=repr) == [("c", 2, 4, 2), (None, 1, 3, 3)]


@pytest.mark.spark
def test_a_batch_reads_the_rows_that_are_left(spark: SparkSession) -> None:
    """Also rows that are there several times; those that go and never came are counted, and unknown changes named."""
    from tvfsql.runtime.frames.dead_letters import counting_dropped

    session = Session(spark)
    changes = [("+I", "a"), ("+I", "a"), ("+I", "a"), ("-U", "a"), ("+U", "b"), ("-D", "c"), ("+I", None), ("-D", None)]
    session.register("stock", spark.createDataFrame(changes, "op STRING, item STRING"), changelog_op="op")
    with counting_dropped() as dropped:
        rows = session.sql("SELECT * FROM stock").collect()
    assert sorted(row.asDict()["item"] for row in rows) == ["a", "a", "b"]
    assert dropped.counts == {"numRowsDeletedUnseen (stock)": 1}
    users = [("+I", 1, "Rome"), ("-D", 2, "Rome"), ("+I", 3, "Oslo"), ("-D", 3, "Oslo")]
    session.register("users", spark.createDataFrame(users, "op STRING, id INT, city STRING"), changelog_op="op")
    assert session.sql("SELECT city FROM users").collect() == [("Rome",)]
    assert session.sql("SELECT city, COUNT(*) FROM users GROUP BY city").collect() == [("Rome", 1)]
    session.register("odd", spark.createDataFrame([("UPDATE", "a")], "op STRING, item STRING"), changelog_op="op")
    with pytest.raises(DataError, match="column op contains 'UPDATE', which is not a kind of change"):
        session.sql("SELECT * FROM odd").collect()


# ------------------------------------------------------------------------------------------ messages

PRODUCTS = (
    "id BIGINT, item STRING, price DECIMAL(10, 2), weight DECIMAL(30, 2), tags ARRAY<STRING>, ts TIMESTAMP(3), "
    "made DATE"
)
PEN = {"id": 101, "item": "pen", "price": "3.14", "tags": ["a"], "ts": "2020-05-13 12:01:00", "made": "2020-01-31"}
INK = {"id": 102, "item": "ink", "price": 8, "weight": 0.5, "tags": None, "ts": "2020-05-13T12:02:00"}
RED = {**INK, "item": "red", "price": None, "weight": 12345678901234567890.25}
LEFT = [
    (102, "red", None, "2020-05-13 12:02:00", "None"),
    (103, "pen", "1.50", "2020-05-13 12:03:00", "2020-02-29"),
]


def debezium(op: str, before: object, after: object) -> dict[str, Any]:
    source = {"version": "2.5.0.Final", "connector": "mysql", "name": "shop", "db": "inventory", "table": "products"}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1589362330904, "transaction": None}


def canal(kind: str, data: object, old: object = None, table: str = "products") -> dict[str, Any]:
    about = {"database": "inventory", "es": 1589373560000, "id": 9, "isDdl": data is None, "mysqlType": None}
    more = {"pkNames": ["id"], "sql": "", "sqlType": {"id": 4}, "table": table, "ts": 1589373560798}
    return {"data": data, "old": old, "type": kind, **about, **more}


def texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as Canal writes it: all values are texts."""
    return {k: v if v is None or isinstance(v, str) else json.dumps(v) for k, v in row.items()}


LAST = {"id": 103, "item": "pen", "price": "1.50", "tags": [], "ts": "2020-05-13 12:03:00", "made": "2020-02-29"}
DEBEZIUM = [
    debezium("r", None, PEN),
    debezium("c", None, INK),
    debezium("u", INK, RED),
    debezium("d", PEN, None),
    debezium("c", None, LAST),
]
CANAL = [
    canal("CREATE", None),
    canal("INSERT", [texts(PEN), texts(INK)]),
    canal("UPDATE", [texts(RED)], [{"item": "ink", "price": "8", "weight": "0.5"}]),
    canal("DELETE", [texts(PEN)]),
    canal("INSERT", [texts({**LAST, "id": 7})], table="orders"),
    canal("INSERT", [texts(LAST)]),
]
INSERTED = {"before": None, "after": {"id": 7}, "op": "c"}
FORMATS: dict[str, tuple[Sequence[object], str]] = {
    "debezium": (DEBEZIUM, "'format' = 'debezium-json'"),
    "debezium with schemas": (
        [
            *({"schema": {"type": "struct", "fields": []}, "payload": message} for message in DEBEZIUM),
            {"payload": None},
        ],
        "'format' = 'debezium-json', 'debezium-json.schema-include' = 'true'",
    ),
    "canal": (CANAL, "'format' = 'canal-json', 'canal-json.table.include' = 'prod.*'"),
}


ON_STREAMS = ("debezium", "canal")  # the windows, in `make test`; those of the other one are in both modes


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("form", FORMATS)
def test_messages_of_debezium_and_canal_are_changes(form: str, spark: SparkSession, tmp_path: Path) -> None:
    messages, options = FORMATS[form]
    (tmp_path / "in").mkdir()
    text = "".join(json.dumps(message) + "\n\n" for message in messages)
    (tmp_path / "in" / "1.json").write_text(text.replace("1.2345678901234567e+19", "12345678901234567890.25"))
    query = """SELECT window_end, item, COUNT(*) AS n, SUM(price) AS total, MAX(weight) AS most, MAX(tags) AS tags
        FROM TABLE(TUMBLE(TABLE products, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
        GROUP BY window_start, window_end, item"""
    for mode in ("batch", "streaming")[form in ON_STREAMS and not SOAK :]:
        session = Session(spark, mode=mode)
        session.execute(
            f"CREATE TABLE products ({PRODUCTS}, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', {options})"
        )
        found = [(row.item, row.n, row.total, row.most, row.tags) for row in session.sql(query).collect()]
        pen, red = (found[0], found[1]) if found[0][0] == "pen" else (found[1], found[0])
        assert len(found) == 2
        assert (pen[1], str(pen[2]), pen[3], pen[4]) == (1, "1.50", None, [])
        assert (red[1], red[2], str(red[3]), red[4]) == (1, None, "12345678901234567890.25", None)
    session = Session(spark)
    session.execute(
        f"CREATE TABLE products ({PRODUCTS}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', {options})"
    )
    rows = session.sql("SELECT id, item, price, ts, made FROM products").collect()
    assert sorted((row.id, row.item, row.price and str(row.price), str(row.ts), str(row.made)) for row in rows) == LEFT


@pytest.mark.spark
def test_messages_have_metadata(spark: SparkSession) -> None:
    """Of each message; NULL where it has none of it."""
    metadata = ["source.database", "source.timestamp", "source.properties", "ingestion-timestamp", "schema"]
    whole = DEBEZIUM[2] | {"source": {"db": "inventory", "ts_ms": 1589362330000, "pos": 154}}
    messages = [json.dumps({"schema": {"type": "struct"}, "payload": payload}) for payload in (whole, {**INSERTED})]
    given = spark.createDataFrame([(each, i) for i, each in enumerate(messages)], "value STRING, `offset` INT")
    made = debezium_changes(given, {"id": "INT"}, sign="sign", schema_include=True, metadata=metadata)
    read = made.selectExpr(
        "value.id", "sign", "`value.source.database`", "unix_millis(`value.source.timestamp`)",
        "`value.source.properties`['pos']", "unix_millis(`value.ingestion-timestamp`)", "`value.schema`", "`offset`",
    )  # fmt: skip
    of_first = ("inventory", 1589362330000, "154", 1589362330904, '{"type":"struct"}', 0)
    assert [tuple(row) for row in read.collect()] == [
        (102, -1, *of_first),
        (102, 1, *of_first),
        (7, 1, None, None, None, None, '{"type":"struct"}', 1),
    ]
    keys = ["database", "table", "sql-type", "pk-names", "ingestion-timestamp"]
    given = spark.createDataFrame([(json.dumps(CANAL[3]),)], "value STRING")
    (row,) = canal_changes(given, {"id": "INT"}, sign="sign", metadata=keys).collect()
    assert tuple(row)[1:5] == ("inventory", "products", {"id": 4}, ["id"]) and row["value.ingestion-timestamp"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("message", "form", "says"),
    [
        (debezium("u", None, PEN), "debezium-json", "lacks the row before it"),
        (debezium("t", None, None), "debezium-json", "has the op t"),
        ({"payload": debezium("c", None, PEN)}, "debezium-json", "has the op NULL"),
        (canal("TRUNCATE", None), "canal-json", "has the type TRUNCATE"),
        (canal("UPDATE", [texts(PEN)]), "canal-json", "lacks rows, of type UPDATE"),
        (debezium("c", None, {**PEN, "id": "no number"}), "debezium-json", "'no number' cannot be cast to BIGINT"),
        ("no object", "canal-json", "a row cannot be read"),
        (debezium("c", None, {**PEN, "made": 19000}), "debezium-json", "made is not DATE: 19000"),
        (debezium("c", None, {**PEN, "ts": "12:30:00"}), "debezium-json", r"ts is not TIMESTAMP\(3\): 12:30:00"),
    ],
)
def test_messages_that_say_too_little_stop_the_query(
    message: object, form: str, says: str, spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "1.json").write_text(json.dumps(message))
    session = Session(spark)
    session.execute(
        f"CREATE TABLE t ({PRODUCTS}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = '{form}')"
    )
    with pytest.raises(DataError, match=says):
        session.sql("SELECT * FROM t").collect()


# ------------------------------------------------------------------------------------------ changes


def some_changes(
    source: random.Random, rows: Sequence[naive.Row], gone: Sequence[naive.Row]
) -> Iterator[tuple[str, naive.Row]]:
    """Changes that leave `rows`: some of the rows that are `gone` turn into others of them or are deleted."""
    waiting = list(gone)
    source.shuffle(waiting)
    for row in rows:
        how = source.random()
        if how < 0.3 and waiting:
            old = waiting.pop()
            yield "+I", old
            if how < 0.15 and waiting:
                yield "-U", old
                old = waiting.pop()
                yield "+U", old
            yield "-U", old
            yield "+U", row
        elif how < 0.4:  # it goes and comes again
            yield from (("+I", row), ("-D", row), ("+I", row))
        else:
            yield "+I", row
    for old in waiting[: len(waiting) // 2]:
        yield from (("+I", old), ("-D", old))


def register(session: Session, changes: Sequence[tuple[str, naive.Row]]) -> None:
    names = [part.split()[0] for part in COLUMNS.split(", ")]
    tuples = [(op, *(naive.at(row[c]) if c == "ts" else row[c] for c in names)) for op, row in changes]
    frame = session.spark.createDataFrame(tuples, f"op STRING, {COLUMNS}").coalesce(2).localCheckpoint()
    session.register("events", frame, changelog_op="op")


def stream_of_changes(draw: random.Random, rows: int, disorder: int) -> list[dict[str, Any]]:
    """Changes in the order in which they come, each less than `disorder` ms after its row's time."""
    coming: list[tuple[float, int, dict[str, Any]]] = []

    def come(when: float, op: str, row: Mapping[str, Any]) -> None:
        coming.append((when, len(coming), {"op": op, **row}))

    for i in range(rows):
        ms = i * 100
        row, when = stock_row(draw, ms), ms + draw.random() * disorder / 3
        come(when, "+I", row)
        while draw.random() < 0.4 and when < ms + disorder / 2:
            when += draw.random() * disorder / 3
            come(when, "-U", row)
            ms = int(when)
            row = stock_row(draw, ms) if draw.random() < 0.7 else row
            come(when, "+U", row)
            if row["ts"] != at(ms):
                break
        else:
            if draw.random() < 0.3:
                come(when + draw.random() * disorder / 3, "-D", row)
    return [change for _, _, change in sorted(coming)]


def stock_row(draw: random.Random, ms: int) -> dict[str, Any]:
    price = draw.choice([f"{draw.randrange(500) / 100:.2f}", None])
    return {"ts": at(ms), "item": draw.choice(["A", "B", "C", None]), "price": price, "n": draw.randrange(100)}


def at(ms: int) -> str:
    return f"2020-04-15 08:{ms // 60000:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"


def left(changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows that are left, by applying the changes one by one to a bag."""
    rows: list[dict[str, Any]] = []
    for change in changes:
        row = {name: value for name, value in change.items() if name != "op"}
        if change["op"] in ("+I", "+U"):
            rows.append(row)
        else:
            rows.remove(row)
    return rows


def cut(draw: random.Random, changes: Sequence[dict[str, Any]], parts: int) -> list[list[dict[str, Any]]]:
    """Micro-batches of any sizes."""
    ends = sorted(draw.sample(range(1, len(changes)), parts - 1))
    return [list(changes[a:b]) for a, b in zip([0, *ends], [*ends, len(changes)], strict=True)]


def create_changelog(session: Session, name: str, columns: str, folder: Path, op: str = "op") -> None:
    session.execute(
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json', "
        f"'maxFilesPerTrigger' = '1', 'changelog.op' = '{op}')"
    )


def files(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]
