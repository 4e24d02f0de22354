"""Batch adds no files that a stream's log would hide, and deletes the old ones only if the new ones are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.batch import file_tables
from tvfsql.runtime.batch.file_tables import refuse_file_log, replaced_files

SPARK: Any = None  # a path with file: needs none


def test_a_folder_with_a_log_takes_no_rows_of_batch(tmp_path: Path) -> None:
    """Also if the log is still empty: from its first entry on it would hide them."""
    refuse_file_log(SPARK, f"file:{tmp_path}/none")
    refuse_file_log(SPARK, f"file:{tmp_path}")
    (tmp_path / "_spark_metadata").mkdir()
    (tmp_path / "part-0").touch()
    with pytest.raises(DataError, match="is filled by a stream"):
        refuse_file_log(SPARK, f"file:{tmp_path}")
    with pytest.raises(DataError, match="is filled by a stream"), replaced_files(SPARK, f"file:{tmp_path}"):
        raise AssertionError("nothing is written")
    assert (tmp_path / "part-0").exists()


def test_old_files_are_deleted_after_new_ones_are_there_and_not_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "k=1").mkdir()
    (tmp_path / "_aside").mkdir()
    for name in ("old", ".old.crc", "_SUCCESS", "._SUCCESS.crc", ".hidden", "k=1/old", "k=1/.old.crc", "_aside/old"):
        (tmp_path / name).touch()
    before = files(tmp_path)
    with pytest.raises(ZeroDivisionError), replaced_files(SPARK, f"file:{tmp_path}"):
        raise ZeroDivisionError
    assert files(tmp_path) == before
    with replaced_files(SPARK, f"file:{tmp_path}"):
        (tmp_path / "new").touch()
        assert files(tmp_path) == sorted([*before, "new"])
    assert files(tmp_path) == ["._SUCCESS.crc", ".hidden", "_SUCCESS", "_aside/old", "new"]
    with replaced_files(SPARK, f"file:{tmp_path}/none"):
        (tmp_path / "none").mkdir()


def test_an_old_file_that_stays_is_named(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with (
        pytest.raises(DataError, match=r"has its new rows, but an old file cannot be deleted: .*/old"),
        replaced_files(SPARK, f"file:{tmp_path}"),
    ):
        (tmp_path / "old").unlink()
        (tmp_path / "old").mkdir()  # a folder cannot be deleted like a file


def test_over_spark_connect_nothing_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_tables, "of_connect", lambda spark: True)
    refused = pytest.raises(UnsupportedError, match="over Spark Connect INSERT OVERWRITE")
    with refused, replaced_files(SPARK, f"file:{tmp_path}"):
        raise AssertionError("nothing is written")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
