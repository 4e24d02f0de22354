"""Lists of files in an order of their own, without Spark: what is compared of a path, and which files come too late."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tvfsql.plan.tables.file_order import NAME, TIME, FileOrder
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.lives import listed_files
from tvfsql.runtime.stream.lives.listed_files import ListedFiles, path_of, plain_part


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("in", "in"),
        ("/data/in/", "/data/in/"),
        ("/data/20240101/*.csv", "/data/20240101"),
        ("*.csv", "."),
        ("/*.csv", "/"),
        ("in/day=*/x", "in"),
        ("s3a://bucket/in/{a,b}", "s3a://bucket/in"),
    ],
)
def test_the_part_of_a_path_before_its_pattern(path: str, plain: str) -> None:
    assert plain_part(path) == plain


def test_the_path_of_a_uri() -> None:
    assert path_of("file:///in%20%C3%A9/a%2541+b.csv") == "/in é/a%41+b.csv"
    assert path_of("hdfs://host:8020/in/a.csv") == path_of("s3a://bucket/in/a.csv") == "/in/a.csv"


def listed(order: FileOrder) -> ListedFiles:
    spark: Any = None
    made = ListedFiles(spark, "t", "/20240101", order, {}, LocalPlace(Path("/none")))
    made.__dict__["root"] = "/20240101"
    return made


def test_a_file_that_comes_after_those_behind_it_is_told_once() -> None:
    files = listed(FileOrder(NAME))
    assert files.read(["/20240101/c", "/20240101/a", "/other/z"]) == ""
    assert files.read([]) == ""
    assert files.read(["/20240101/d", "/20240101/e"]) == ""
    told = files.read(["/20240101/b", "/20240101/f"])
    assert told.startswith(
        "/20240101/b of t has come after /20240101/e was read, which is behind it in the order by name"
    )
    assert files.read(["/20240101/a1"]) == ""


def test_listing_takes_a_fifth_of_the_time_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    now, written = [0.0], list[float]()

    class Slow(ListedFiles):
        def write(self) -> None:
            written.append(now[0])
            now[0] += 2.0

    monkeypatch.setattr(listed_files.time, "monotonic", lambda: now[0])
    lists = listed_files.FileLists(listed=0.0)
    spark: Any = None
    lists.lists["t",] = Slow(spark, "t", "/in", FileOrder(NAME), {}, LocalPlace(Path("/none")))
    while now[0] < 30:
        lists.list_again(0.5)
        now[0] += 0.25
    assert written == [0.5, 10.5, 20.5]


def test_files_without_a_time_that_others_have_read_are_passed_over() -> None:
    files = listed(FileOrder(TIME, "yyyyMMdd"))
    assert files.read(["/20240101/README", "/20240101/x-20240105"]) == ""
    assert "x-20240104 of t has come after" in files.read(["/20240101/x-20240104", "/20240101/README"])
