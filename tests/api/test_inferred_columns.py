"""Tables of files without columns: CREATE TABLE, FROM 'file', and `tvfsql init file`."""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tvfsql
from tvfsql.api.compiled import Compiled
from tvfsql.api.definitions import Message
from tvfsql.api.script import Script
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.cli.new_project import script_over_file
from tvfsql.errors import BindError, DataError, Span, UnsupportedError
from tvfsql.plan.values.types import INT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 1, 1)
TIMES = [START + timedelta(minutes=7 * i) for i in range(50)]
TYPES = {
    "b": (pa.bool_(), "BOOLEAN"),
    "i8": (pa.int8(), "TINYINT"),
    "u8": (pa.uint8(), "SMALLINT"),
    "u32": (pa.uint32(), "BIGINT"),
    "u64": (pa.uint64(), "DECIMAL(20, 0)"),
    "f": (pa.float32(), "FLOAT"),
    "d": (pa.decimal128(12, 3), "DECIMAL(12, 3)"),
    "s": (pa.dictionary(pa.int32(), pa.string()), "STRING"),
    "bin": (pa.binary(), "BYTES"),
    "dt": (pa.date32(), "DATE"),
    "ms": (pa.timestamp("ms"), "TIMESTAMP(3)"),
    "us": (pa.timestamp("us", "UTC"), "TIMESTAMP_LTZ(6)"),
    "l": (pa.list_(pa.struct([("a b", pa.int64())])), "ARRAY<ROW<`a b` BIGINT>>"),
    "m": (pa.map_(pa.string(), pa.float64()), "MAP<STRING, DOUBLE>"),
}


def created(folder: Path, options: str, elements: str = "") -> str:
    """What is said when a table `t` of files in the folder is created."""
    (outcome,) = Script(folder=str(folder)).outcomes(f"CREATE TABLE t {elements} WITH ({options})")
    assert isinstance(outcome, Message)
    return outcome.text


def write_trips(folder: Path) -> None:
    columns = {"ts": pa.array(TIMES, pa.timestamp("us")), "k": ["a", "b"] * 25, "v": pa.array(range(50), pa.int64())}
    pq.write_table(pa.table(columns), folder / "trips.parquet")
    (folder / "trips.csv").write_text("k,v\n" + "".join(f"{'ab'[i % 2]},{i}\n" for i in range(50)))
    with gzip.open(folder / "trips.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"v": i, "o": {"at": TIMES[i].isoformat(" ")}}) + "\n" for i in range(50))


def test_columns_of_parquet_have_the_types_that_read_all_values(tmp_path: Path) -> None:
    schema = pa.schema([(name, kind) for name, (kind, _) in TYPES.items()])
    pq.write_table(schema.empty_table(), tmp_path / "all.parquet")
    expected = ", ".join(f"{name} {kind}" for name, (_, kind) in TYPES.items())
    assert created(tmp_path, "'path' = 'all.parquet'") == f"created table t ({expected})"
    pq.write_table(pa.table({"t": pa.array([1], pa.timestamp("ns"))}), tmp_path / "nanos.parquet", version="2.6")
    with pytest.raises(BindError, match=r"column t of .* is timestamp\[ns\], which no type reads"):
        created(tmp_path, "'path' = 'nanos.parquet'")


@pytest.mark.parametrize(
    ("text", "options", "columns"),
    [
        ("k,v\na,1\nb,2\n", "", "k STRING, v BIGINT"),
        ("a,1\nb,2\n", "", "f0 STRING, f1 BIGINT"),
        ("k,v\na,b\n", ", 'csv.header' = 'true'", "k STRING, v STRING"),
        ("k;v\na;1.5\n", ", 'csv.field-delimiter' = ';'", "k STRING, v DOUBLE"),
        ("ts,dt\n2024-01-01 00:00:00,2024-01-01\n", "", "ts TIMESTAMP(3), dt DATE"),
    ],
)
def test_columns_of_csv(text: str, options: str, columns: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    assert created(tmp_path, f"'path' = 'x.csv'{options}") == f"created table t ({columns})"


def test_definitions_keep_what_was_found_and_elements_that_were_written(tmp_path: Path) -> None:
    write_trips(tmp_path)
    script = Script(folder=str(tmp_path))
    assert created(tmp_path, "'path' = 'trips.parquet'", "(WATERMARK FOR ts AS ts)").endswith("v BIGINT)")
    *_, shown = script.outcomes("CREATE TABLE t WITH ('path' = 'trips.csv'); SHOW CREATE TABLE t")
    told = vars(shown)["text"]
    assert "v BIGINT" in told and "'csv.header' = 'true'" in told and "'connector' = 'filesystem'" in told


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT * FROM 'none.parquet'", "there is no table or file none.parquet"),
        ("SELECT * FROM 'words.csv'", "it is not clear whether the first line of .* has the names of its columns"),
        ("SELECT * FROM 's3://bucket/x.csv'", "the columns of s3://bucket/x.csv are not known"),
        (
            "SELECT * FROM 'broken.json'",
            r"no line of .* is a JSON object: line 1, it is not JSON from column 2 on: \{\]",
        ),
        ("SELECT * FROM 'trips'", "there is no table trips"),
        ("INSERT INTO `trips.csv` SELECT * FROM 'trips.csv'", "trips.csv is a file without a table"),
        ("DROP TABLE `trips.csv`", "trips.csv is a file without a table"),
        ("CREATE TABLE t WITH ('path' = 'trips')", "the format of trips is not known"),
        ("CREATE TABLE t WITH ('connector' = 'kafka')", "a table needs columns"),
    ],
)
def test_what_cannot_be_found_is_refused_at_its_place(sql: str, problem: str, tmp_path: Path) -> None:
    write_trips(tmp_path)
    (tmp_path / "words.csv").write_text("a,b\nc,d\n")
    (tmp_path / "broken.json").write_text("{]\n")
    with pytest.raises(BindError, match=problem) as raised:
        [*Script(folder=str(tmp_path)).outcomes(sql)]
    assert "\n" in str(raised.value) and "^" in str(raised.value) and raised.value.hint


BAD = {
    "few.csv": (
        "a,b\n1,2\n\n3\n4,5,6\n",
        "line 4, it has 1 value, not 2: 3 (and 1 more bad lines)",
        "a BIGINT, b BIGINT",
    ),
    "cut.json": ('{"a": 1}\n{"a":\n{"a": 3}\n', 'line 2, it is not JSON from column 6 on: {"a":', "a BIGINT"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_line_that_is_no_row_is_named_unless_it_is_ignored(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, problem, columns = BAD[name]
    (tmp_path / name).write_text(text)
    ignore = f"'{name.partition('.')[2]}.ignore-parse-errors' = 'true'"
    for sql in (f"SELECT * FROM '{name}'", f"CREATE TABLE t WITH ('path' = '{name}')"):
        with pytest.raises(BindError) as raised:
            [*Script().outcomes(sql)]
        assert problem in raised.value.message and name in raised.value.message
        assert raised.value.hint and raised.value.hint.startswith(f"CREATE TABLE t WITH ('path' = '{name}', {ignore})")
    assert created(tmp_path, f"'path' = '{name}', {ignore}") == f"created table t ({columns})"
    script, note = script_over_file(name, name.partition(".")[2])
    assert problem in note and f"{ignore} in {script}" in note
    written = script.read_text()
    assert ignore not in written and isinstance([*Script().outcomes(written)][-1], Compiled)


def test_a_json_column_of_two_types_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_text('{"a": 1}\n\n{"a": "x"}\n')
    with pytest.raises(BindError, match=r'two\.json .*: line 3, Column\(/a\) changed .*: \{"a": "x"\}'):
        [*Script(folder=str(tmp_path)).outcomes("SELECT * FROM 'two.json'")]


@pytest.mark.parametrize("path", ["x.csv", "none/new.parquet", "d.jsonl.gz"])
def test_a_table_with_columns_needs_no_format_where_the_path_tells_it(path: str, tmp_path: Path) -> None:
    assert created(tmp_path, f"'path' = '{path}'", "(a STRING)") == "created table t"


def test_files_of_duckdb_are_read_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("k,v\na,1\n")
    script = Script(folder=str(tmp_path))
    (columns,) = script.outcomes("DESCRIBE 'x.csv'")
    assert "BIGINT" in str(columns)
    (summary,) = script.outcomes("SUMMARIZE TABLE 'x.csv'")
    assert isinstance(summary, Compiled)
    for call in ("read_csv('x.csv')", "read_csv_auto('x.csv', header = true)", "read_parquet('x.csv')"):
        with pytest.raises(UnsupportedError) as raised:
            [*script.outcomes(f"SELECT * FROM {call}")]
        assert raised.value.hint == "FROM 'x.csv'"
    with pytest.raises(UnsupportedError) as raised:  # any other function of tables
        [*script.outcomes("SELECT * FROM readings('x.csv')")]
    assert raised.value.hint != "FROM 'x.csv'"


def test_computed_columns_are_added_to_those_that_are_found(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("ms,k\n1700000000123,a\n")
    elements = "(ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)"
    assert created(tmp_path, "'path' = 'x.csv'", elements) == "created table t (ms BIGINT, k STRING)"


def test_names_that_are_no_files_are_those_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder beside the process is not read because a table is called like it, and a table of Spark that is called
    like a file is found."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips").mkdir()
    write_trips(tmp_path / "trips")
    known = Known()
    script = Script(Catalog(outside=known), folder=str(tmp_path))
    with pytest.raises(BindError, match="there is no table trips"):
        [*script.outcomes("SELECT * FROM trips")]
    (compiled,) = script.outcomes("SELECT * FROM shop.csv")
    assert isinstance(compiled, Compiled) and [*compiled.logical.columns] == ["id"]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("../trip.csv", "did you mean '../trips.csv'?"),
        ("../nothing.csv", "files there: trips.csv, trips.jsonl.gz, trips.parquet"),
        ("../otter/day.csv", "did you mean '../other/day.csv'?"),
        ("nothing.csv", "there are no files of rows"),
        ("../other", "CREATE TABLE t WITH ('path' = '../other')"),
        ("nowhere/trips.csv", "there is no folder {}/scripts/nowhere"),
    ],
)
def test_a_similar_file_is_named(written: str, hint: str, tmp_path: Path) -> None:
    for folder in ("scripts", "other"):
        (tmp_path / folder).mkdir()
    write_trips(tmp_path)
    (tmp_path / "other" / "day.csv").write_text("a\n1\n")
    (tmp_path / "trips.sql").write_text("")
    script = Script(folder=str(tmp_path / "scripts"))
    with pytest.raises(BindError) as caught:
        [*script.outcomes(f"SELECT * FROM '{written}'")]
    assert caught.value.hint == hint.format(tmp_path)


def test_an_option_path_names_a_similar_file(tmp_path: Path) -> None:
    write_trips(tmp_path)
    with pytest.raises(BindError) as caught:
        created(tmp_path, "'path' = 'trip.csv'", "")
    assert caught.value.hint == f"did you mean {tmp_path}/trips.csv?"


class Known:
    """The catalogs of a Spark that has one table."""

    def table(self, name: str) -> Table | None:
        return Table(name, (TableColumn("id", INT),), None) if name == "shop.csv" else None

    def tables(self, database: str = "") -> tuple[str, ...]:
        return ()

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        return ("shop",)

    def catalogs(self) -> tuple[str, ...]:
        return ()

    def checked(self, table: Table, span: Span) -> Table:
        return table

    def drop_view(self, table: Table) -> None: ...

    def forget(self) -> None: ...


def test_a_table_hides_a_file_of_its_name(tmp_path: Path) -> None:
    write_trips(tmp_path)
    script = Script(folder=str(tmp_path))
    made = "CREATE TABLE `trips.csv` (x INT) WITH ('connector' = 'filesystem', 'path' = 'y', 'format' = 'csv')"
    *_, compiled = script.outcomes(f"{made}; SELECT * FROM `trips.csv`")
    assert isinstance(compiled, Compiled) and [*compiled.logical.columns] == ["x"]


def test_init_writes_a_script_over_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_trips(tmp_path)
    millis: dict[str, Any] = {"event time": [1_700_000_000_123], "k": ["a"]}
    pq.write_table(pa.table(millis), "millis.parquet")
    pq.write_table(pa.table({"created_at": [1_700_000_000], "id": [1_700_000_000]}), "seconds.parquet")
    pq.write_table(pa.table({"id": [1_700_000_000]}), "none.parquet")
    texts = {
        name: script_over_file(f"{name}.parquet", "parquet")[0].read_text() for name in ("trips", "millis", "none")
    }
    assert "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND" in texts["trips"]
    assert "ts AS TO_TIMESTAMP_LTZ(`event time`, 3),\n  WATERMARK FOR ts" in texts["millis"]
    assert "TO_TIMESTAMP_LTZ(created_at, 0)" in script_over_file("seconds.parquet", "parquet")[0].read_text()
    assert "WATERMARK FOR" not in texts["none"]
    for text in texts.values():
        assert isinstance([*Script().outcomes(text)][-1], Compiled)
    with pytest.raises(DataError, match=r"trips\.sql exists"):
        script_over_file("trips.csv", "csv")


@pytest.mark.spark
def test_files_give_their_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_trips(tmp_path)
    session = tvfsql.Session(spark)
    session.script.folder = str(tmp_path)
    windows = """SELECT window_start, COUNT(*) AS n, SUM(c.v) AS s
        FROM TABLE(TUMBLE(TABLE 'trips.parquet', DESCRIPTOR(ts), INTERVAL '3' HOUR)) AS w
        JOIN 'trips.csv' AS c ON w.v = c.v JOIN 'trips.jsonl.gz' AS j ON w.ts = j.o.`at` AND w.v = j.v
        GROUP BY window_start, window_end"""
    expected = [(START + timedelta(hours=3 * at), *numbers) for at, numbers in enumerate([(26, 325), (24, 900)])]
    assert sorted(map(tuple, session.sql(windows).collect())) == expected
