"""The order of files by name, and by a time in their names."""

from __future__ import annotations

import pytest

from tvfsql import compile
from tvfsql.errors import DataError, TvfSqlError
from tvfsql.plan.tables.file_order import NAME, TIME, FileOrder, formatter_error

TABLE = "CREATE TABLE t (v INT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', {})"


def test_names_are_compared_character_by_character() -> None:
    names = ["b/1.csv", "9.csv", "10.csv", "ä.csv", "a.csv", "a/z.csv"]
    assert sorted(names, key=FileOrder(NAME).key) == ["10.csv", "9.csv", "a.csv", "a/z.csv", "b/1.csv", "ä.csv"]


@pytest.mark.parametrize(
    ("formatter", "path", "found"),
    [
        ("yyyyMMdd", "log-20240131.csv", "2024-01-31T00:00:00+0"),
        ("yyyyMMdd", "20230101/log-20240131.csv", "2024-01-31T00:00:00+0"),  # the one nearest to the name
        ("yyyyMMdd", "20240131/part-0.csv", "2024-01-31T00:00:00+0"),
        ("yyyyMMdd", "20240131/log-20249931.csv", "2024-01-31T00:00:00+0"),  # 99 is no month
        ("yyyyMMdd", "2024013112.csv", None),  # digits that go on are another form
        ("yyyyMMdd", "120240131.csv", None),
        ("yyyy-MM-dd'T'HH.mm.ss.SSS", "2024-01-31T23.59.58.125.json", "2024-01-31T23:59:58+125000000"),
        ("'year='yyyy'/month='MM'/day='dd", "year=2024/month=02/day=29/x.csv", "2024-02-29T00:00:00+0"),
        ("uuuu/MM/dd/HH", "2024/01/31/05/x.csv", "2024-01-31T05:00:00+0"),
        ("'o''clock 'yyyy", "o'clock 2024", "2024-01-01T00:00:00+0"),
        ("yyyy.MM", "2024x01", None),
    ],
)
def test_the_time_in_a_path(formatter: str, path: str, found: str | None) -> None:
    assert not formatter_error(formatter)
    at = FileOrder(TIME, formatter).time_in(path)
    assert (at and f"{at[0].isoformat()}+{at[1]}") == found


def test_a_name_without_a_time_is_refused() -> None:
    with pytest.raises(DataError, match=r"the name of the file README\.csv has no time of the form yyyyMMdd"):
        FileOrder(TIME, "yyyyMMdd").key("README.csv")


def test_files_of_one_time_follow_by_path() -> None:
    names = ["b-20240101.csv", "a-20240102.csv", "a-20240101.csv"]
    assert sorted(names, key=FileOrder(TIME, "yyyyMMdd").key) == [names[2], names[0], names[1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'source.file-order' = 'size'", "source.file-order cannot be 'size'"),
        ("'source.file-order' = 'time-in-name'", "time-in-name needs to know what times look like"),
        ("'source.file-order.timestamp-formatter' = 'yyyy'", "is for files in the order of time-in-name"),
        (
            "'source.file-order' = 'time-in-name', 'source.file-order.timestamp-formatter' = 'yyyyMMddTHH'",
            "has T, but supports only yyyy",
        ),
        (
            "'source.file-order' = 'time-in-name', 'source.file-order.timestamp-formatter' = 'HH-mm'",
            "has no year",
        ),
        (
            "'source.file-order' = 'time-in-name', 'source.file-order.timestamp-formatter' = 'yyyy-yyyy'",
            "has the year twice",
        ),
        (
            "'source.file-order' = 'time-in-name', 'source.file-order.timestamp-formatter' = 'yyyy''T'",
            "has a quote without an end",
        ),
        ("'source.file-order' = 'name', 'latestFirst' = 'true'", "latestFirst goes by modification times"),
        ("'source.file-order' = 'name', 'cleanSource' = 'delete'", "cleanSource goes by modification times"),
    ],
)
def test_options_that_do_not_fit(options: str, message: str) -> None:
    with pytest.raises(TvfSqlError) as error:
        compile(f"{TABLE.format(options)}; SELECT v FROM t", mode="streaming")
    assert message in error.value.message


def test_what_a_program_reads() -> None:
    name = "'source.file-order' = 'name', 'maxFilesPerTrigger' = '1'"
    code = compile(f"{TABLE.format(name)}; SELECT v FROM t", mode="streaming").code
    assert 'listed_files(spark, "in", "t", "name", recursiveFileLookup="true")' in " ".join(code.split())
    batch = compile(f"{TABLE.format(name)}; SELECT v FROM t", mode="batch").code
    assert batch == compile(f"{TABLE.format(name.split(', ')[1])}; SELECT v FROM t", mode="batch").code
