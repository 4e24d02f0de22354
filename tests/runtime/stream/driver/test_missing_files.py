"""Source files that are gone before they are read: found in any folder, and noted until they are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.source_files import missing_before, missing_in, refuse_missing


def test_each_folder_is_listed_once() -> None:
    folders = {"hdfs://host:8020/in": ["a b.json", "c.json"], "s3a://bucket/in/day=1": ["1.json"]}
    listed = list[str]()

    def names(folder: str) -> list[str]:
        listed.append(folder)
        return folders[folder]

    files = ["hdfs://host:8020/in/a b.json", "hdfs://host:8020/in/gone.json", "hdfs://host:8020/in/c.json"]
    files += ["s3a://bucket/in/day=1/1.json", "s3a://bucket/in/day=1/2.json"]
    assert missing_in(files, names) == [files[1], files[4]]
    assert listed == [*folders]


def test_a_missing_file_is_refused_until_it_is_counted(tmp_path: Path) -> None:
    checkpoint = LocalPlace(tmp_path)
    assert missing_before(checkpoint, counts=False) == 0
    error = refuse_missing(checkpoint, ["/in/1.json", "/in/2.json"])
    assert error.message.startswith("the file /in/1.json and 1 more was deleted before it was read")
    for _ in range(2):
        with pytest.raises(DataError) as refused:
            missing_before(checkpoint, counts=False)
        assert (refused.value.message, refused.value.hint) == (error.message, error.hint)
    assert missing_before(checkpoint, counts=True) == 2
    assert missing_before(checkpoint, counts=False) == 0, "they have been counted"
