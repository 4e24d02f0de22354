"""Files as Flink reads and writes them: subfolders, columns of folders, quotes, blanks and NULLs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MODES = ("batch", "streaming")


def session(spark: SparkSession, mode: str = "batch", **tables: tuple[Path, str, str]) -> Session:
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
    tables = {
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
    tables = {"given": (tmp_path / "in", columns, "csv"), "made": (tmp_path / "out", columns, "csv")}
    found = [(1, 'a "quoted" word'), (2, "ends in \\"), (3, " blanks "), (4, "a,b"), (5, 'say "hi"'), (6, None)]
    for mode in MODES:
        assert rows(session(spark, mode, **tables), "SELECT * FROM given") == found
    made = session(spark, **tables)
    made.execute("INSERT INTO made SELECT * FROM given")
    again = [*lines[:1], "2,ends in \\", *lines[2:4], '5,"say ""hi"""', *lines[5:]]
    assert text_of(tmp_path / "out") == again
    assert rows(made, "SELECT * FROM made") == found


def test_json_has_its_nulls(spark: SparkSession, tmp_path: Path) -> None:
    made = session(spark, t=(tmp_path / "t", "a INT, b STRING", "json"))
    made.execute("INSERT INTO t VALUES (1, CAST(NULL AS STRING))")
    assert text_of(tmp_path / "t") == ['{"a":1,"b":null}']
