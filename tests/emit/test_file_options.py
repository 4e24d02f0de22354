"""How tables of files are read and written: with Flink's columns, folders and texts, where Spark has others."""

from __future__ import annotations

from pathlib import Path

import pytest

import tvfsql
from tvfsql.api.script import Script

TABLE = "CREATE TABLE {name} ({columns}) {by} WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = {form});"


def table(columns: str, form: str = "'parquet'", path: str = "in", by: str = "", name: str = "t") -> str:
    return TABLE.format(name=name, columns=columns, by=by, path=path, form=form)


def code(sql: str, mode: str = "batch") -> str:
    return tvfsql.compile(sql, mode=mode).code


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_columns_of_folders_are_read_last_and_come_in_their_place(mode: str) -> None:
    """Spark's stream takes them by position, if its folder was empty when it started."""
    columns, by = "hr INT, dt STRING, item STRING", "PARTITIONED BY (dt, hr)"
    program = code(f"{table(columns, by=by)} SELECT * FROM t", mode)
    assert '.schema("item STRING, dt STRING, hr INT")' in program
    assert '.select("hr", "dt", "item")' in program
    assert ".select(" not in code(f"{table(columns)} SELECT * FROM t", mode)


def test_the_text_of_a_row_that_cannot_be_read_is_a_column_of_its_file() -> None:
    bad = table("text STRING", path="bad", name="bad")
    rows = table("dt STRING, item STRING", "'json'", by="PARTITIONED BY (dt)")
    program = code(f"SET 'tvfsql.dead-letter' = 'bad'; {bad}{rows} SELECT * FROM t", "streaming")
    assert "item STRING, `$text` STRING, dt STRING" in program


@pytest.mark.parametrize(
    ("path", "by", "read"),
    [
        ("in", "", True),
        ("s3a://logs/2024.01", "", True),
        ("in/*", "", True),
        ("in/bids.csv", "", False),
        ("in/*.json.gz", "", False),
        ("in", "PARTITIONED BY (a)", False),
        ("in', 'recursiveFileLookup' = 'false", "", False),
    ],
)
def test_files_in_subfolders_are_read_unless_these_are_partitions(path: str, by: str, read: bool) -> None:
    for mode in ("batch", "streaming"):
        program = code(f"{table('a INT, b INT', path=path, by=by)} SELECT * FROM t", mode)
        assert ('.option("recursiveFileLookup", "true")' in program) == read


def test_a_folder_with_the_name_of_a_file_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in.csv").mkdir()
    assert "recursiveFileLookup" in code(f"{table('a INT', path=str(tmp_path / 'in.csv'))} SELECT * FROM t")


def test_columns_that_only_names_of_folders_have_are_told(tmp_path: Path) -> None:
    """Their values are not read unless the table is partitioned by them, as in Flink."""
    for folder in ("day=1", "hour=2", "_other=3"):
        (tmp_path / folder).mkdir()
    for by, told in (("", ["table t reads `day` from its files"]), ("PARTITIONED BY (day)", [])):
        script = Script(mode="batch")
        assert [*script.outcomes(table("day INT, a INT", path=str(tmp_path), by=by))]
        assert [note.partition(", not")[0] for note in script.take_warnings()] == told


@pytest.mark.parametrize(
    ("form", "escape"),
    [
        ("'csv'", """'"'"""),
        ("'csv', 'csv.quote-character' = ''''", '''"'"'''),
        ("'csv', 'csv.escape-character' = '\\'", '''"\\\\"'''),
        ("'csv', 'csv.disable-quote-character' = 'true'", None),
    ],
)
def test_a_quote_in_csv_is_doubled_unless_a_table_says_otherwise(form: str, escape: str | None) -> None:
    sql = table("a STRING", form) + table("a STRING", form, "out", name="o")
    for program in (code(f"{sql} SELECT * FROM t"), code(f"{sql} INSERT INTO o SELECT * FROM t")):
        assert (f'.option("escape", {escape})' in program) if escape else ('"escape"' not in program)


def test_blanks_and_nulls_are_written() -> None:
    blanks = [f'.option("ignore{side}WhiteSpace", "false")' for side in ("Leading", "Trailing")]
    made = table("a STRING") + table("a STRING", "'csv', 'csv.trim-spaces' = 'true'", "out", name="o")
    written, read = code(f"{made} INSERT INTO o SELECT * FROM t"), code(f"{made} SELECT * FROM o")
    assert all(blank in written for blank in blanks)
    assert written.count("WhiteSpace") == read.count("WhiteSpace") == 2
    assert all(blank.replace("false", "true") in read for blank in blanks)
    for option, value in (("", "false"), (", 'json.encode.ignore-null-fields' = 'true'", "true")):
        written = code(table("a STRING", f"'json'{option}") + "INSERT INTO t VALUES ('a')")
        assert f'.option("ignoreNullFields", "{value}")' in written and written.count("ignoreNullFields") == 1
    kafka = "CREATE TABLE k (a STRING) WITH ('connector' = 'kafka', 'topic' = 'k', 'format' = '{}', {});"
    servers = "'properties.bootstrap.servers' = 'b:9092'"
    json, csv = (code(f"{kafka.format(form, servers)} INSERT INTO k VALUES (' a')") for form in ("json", "csv"))
    assert 'to_json(F.struct("a"), {"ignoreNullFields": "false"})' in json
    assert '"ignoreLeadingWhiteSpace": "false"' in csv and """"escape": '"\'""" in csv
