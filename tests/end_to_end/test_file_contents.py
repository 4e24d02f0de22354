"""Files as Flink reads and writes them: subfolders, columns of folders, quotes, blanks and NULLs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MODES = ("batch", "streaming")


def session(spark: SparkSession, mode: str = "batch", **tables: Any) -> Session:
    """A session with tables: folder, columns, and what follows them with the format."""
    made = Session(spark, mode=mode)
    for name, (folder, columns, rest) in tables.items():
        by, _, form = rest.rpartition(" ")
        options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}'"
        made.execute(f"CREATE TABLE {name} ({columns}) {by} WITH ({options})")
    return made


def rows(made: Session, sql: str) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, made.sql(sql).collect()), key=str)


def text_of(folder: Path) -> list[str]:
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]
    return sorted(line for file in files for line in file.read_text().splitlines())


def test_columns_of_folders_keep_their_places(spark: SparkSession, tmp_path: Path) -> None:
    """Spark has them last; UNION ALL, files and streams take columns by position. A folder that the table does not
    declare is no column."""
    of_folders = (tmp_path / "p", "dt STRING, item STRING", "PARTITIONED BY (dt) parquet")
    tables: Any = {
        "p": of_folders,
        "q": (tmp_path / "q", "dt STRING, item STRING", "csv"),
        "undeclared": (tmp_path / "p", "item STRING", "parquet"),
    }
    made = session(spark, **tables)
    made.execute("INSERT INTO p VALUES ('2024-01-01', 'pen')")
    made.execute("INSERT INTO q SELECT * FROM p")
    assert text_of(tmp_path / "q") == ["2024-01-01,pen"]
    assert rows(made, "SELECT * FROM p UNION ALL SELECT * FROM q") == [("2024-01-01", "pen")] * 2
    for mode in MODES:
        made = session(spark, mode, **tables)
        assert rows(made, "SELECT * FROM p") == [("2024-01-01", "pen")]
        assert rows(made, "SELECT * FROM undeclared") == [("pen",)]


def test_files_in_subfolders_are_read_but_hidden_ones(spark: SparkSession, tmp_path: Path) -> None:
    """And only those that a stream of Spark has committed to a folder with its log."""
    for name in ("0.json", "2024/01/1.json", "_hidden/2.json", ".hidden/3.json", "2024/_4.json"):
        file = tmp_path / "logs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'{{"n": {file.stem[-1]}}}\n')
    tables = {"logs": (tmp_path / "logs", "n INT", "json"), "copy": (tmp_path / "copy", "n INT", "json")}
    for mode in MODES:
        assert rows(session(spark, mode, **tables), "SELECT * FROM logs") == [(0,), (1,)], mode
    made = session(spark, "streaming", **tables)
    made.execute("INSERT INTO copy SELECT * FROM logs")
    assert (tmp_path / "copy" / "_spark_metadata").exists()
    (tmp_path / "copy" / "part-uncommitted.json").write_text('{"n": 9}\n')
    for mode in MODES:
        assert rows(session(spark, mode, **tables), "SELECT * FROM copy") == [(0,), (1,)], mode


def test_csv_has_doubled_quotes_and_blanks(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lines = ['1,"a ""quoted"" word"', '2,"ends in \\"', "3, blanks ", '4,"a,b"', '5,say "hi"', "6,"]
    (tmp_path / "in" / "0.csv").write_text("\n".join(lines) + "\n")
    columns = "n INT, s STRING"
    tables: Any = {"given": (tmp_path / "in", columns, "csv"), "made": (tmp_path / "out", columns, "csv")}
    found = [(1, 'a "quoted" word'), (2, "ends in \\"), (3, " blanks "), (4, "a,b"), (5, 'say "hi"'), (6, None)]
    for mode in MODES:
        assert rows(session(spark, mode, **tables), "SELECT * FROM given") == found
    made = session(spark, **tables)
    made.execute("INSERT INTO made SELECT * FROM given")
    again = [*lines[:1], "2,ends in \\", *lines[2:4], '5,"say ""hi"""', *lines[5:]]
    assert text_of(tmp_path / "out") == again
    assert rows(made, "SELECT * FROM made") == found


def test_what_ignores_parse_errors_skips_what_is_no_object(spark: SparkSession, tmp_path: Path) -> None:
    """As Flink: a value that does not fit is NULL, and so is a time of a year after 9999, which Spark would read."""
    (tmp_path / "t").mkdir()
    lines = [
        '{"a": 1, "b": "x", "at": "2024-01-01 00:00:00"}', "garbage", '{"a": 2, "b": "cut', '{"a": "no", "b": "y"}',
        "5", "", '[{"a": 7, "b": "of an array"}, {"a": 8}]', "{}", '{"a": 3, "at": "+294247-01-10 04:00:54"}',
    ]  # fmt: skip
    (tmp_path / "t" / "1.json").write_text("\n".join(lines))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "1.csv").write_text(
        "1,x,2024-01-01 00:00:00\nno,y,+10000-01-01 00:00:00\n3,z,9999-12-31 23:59:59\n"
    )
    columns = "a INT, b STRING, at TIMESTAMP(3)"
    for mode in MODES:
        made = session(spark, mode)
        for name, form in (("t", "json"), ("c", "csv")):
            made.execute(
                f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}', "
                f"'format' = '{form}', '{form}.ignore-parse-errors' = 'true')"
            )
        in_2024 = datetime(2024, 1, 1)
        read = [(1, "x", in_2024), (None, "y", None), (7, "of an array", None), (8, None, None), (None, None, None)]
        assert sorted(rows(made, "SELECT * FROM t"), key=str) == sorted([*read, (3, None, None)], key=str)
        assert sorted(rows(made, "SELECT b FROM t"), key=str) == sorted([(b,) for _, b, _ in read] + [(None,)], key=str)
        last = (3, "z", datetime(9999, 12, 31, 23, 59, 59))
        assert rows(made, "SELECT * FROM c") == [(1, "x", in_2024), last, (None, "y", None)]
    counted = session(spark)
    options = "'connector' = 'filesystem', 'format' = 'json', 'json.ignore-parse-errors' = 'true'"
    counted.execute(f"CREATE TABLE t (a INT) WITH ({options}, 'path' = '{tmp_path}/t')")
    assert rows(counted, "SELECT COUNT(*) FROM t") == [(6,)]


def test_json_has_its_nulls(spark: SparkSession, tmp_path: Path) -> None:
    made = session(spark, t=(tmp_path / "t", "a INT, b STRING", "json"))
    made.execute("INSERT INTO t VALUES (1, CAST(NULL AS STRING))")
    assert text_of(tmp_path / "t") == ['{"a":1,"b":null}']
