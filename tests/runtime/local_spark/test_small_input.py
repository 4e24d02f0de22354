"""Which scripts read little."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tvfsql.runtime.local_spark.small_input import FILES, SMALL, is_small

TABLE = "CREATE TABLE t (a INT) WITH ('connector' = '{}', 'path' = '{}');"


def sparse(path: Path, size: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, size)
    return path


@pytest.mark.parametrize(
    ("file", "size", "small"),
    [
        ("t.csv", SMALL, True),
        ("t.csv", SMALL + 1, False),
        ("t.parquet", SMALL // 8, True),
        ("t.parquet", SMALL // 8 + 8, False),
        ("t/day=1/part-0.csv", SMALL + 1, False),
        ("else.csv", SMALL + 1, True),
    ],
)
def test_the_sizes_of_its_files_count(file: str, size: int, small: bool, tmp_path: Path) -> None:
    sparse(tmp_path / file, size)
    path = "t" if file.startswith("t/") else "t.parquet" if file.endswith("parquet") else "t.csv"
    assert is_small([(TABLE.format("filesystem", path), tmp_path)]) == small


def test_scripts_count_together_each_in_its_folder(tmp_path: Path) -> None:
    for name in "ab":
        sparse(tmp_path / name / "t.csv", SMALL // 2 + 1)
    scripts = [(TABLE.format("filesystem", "t.csv"), tmp_path / name) for name in "ab"]
    assert is_small(scripts[:1]) and not is_small(scripts)


def test_many_files_are_not_counted(tmp_path: Path) -> None:
    for i in range(FILES + 1):
        sparse(tmp_path / "t" / f"{i}.csv", 1)
    assert not is_small([(TABLE.format("filesystem", "t"), tmp_path)])


@pytest.mark.parametrize(
    ("sql", "small"),
    [
        ("SELECT 1", True),
        (TABLE.format("print", ""), True),
        (TABLE.format("datagen", ""), False),
        (TABLE.format("filesystem", "s3a://bucket/t"), False),
        (TABLE.format("filesystem", "logs/*.csv"), False),
        (TABLE.format("filesystem", "${DATA}/t"), False),
        ("CREATE TEMPORARY TABLE t LIKE u", False),
    ],
)
def test_what_the_text_does_not_tell_is_not_small(sql: str, small: bool, tmp_path: Path) -> None:
    assert is_small([(sql, tmp_path)]) == small
