"""Messages of Debezium and Canal that cannot be read: dead letters, or skipped as in Flink. The stream goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
COLUMNS = "id INT, price DECIMAL(10, 2), tags ARRAY<INT>, at DATE, ts TIMESTAMP(3)"
GOOD = {"id": 1, "price": 2.5, "tags": [1], "at": "2024-01-01", "ts": "2024-01-01 00:00:01"}
LATER = {**GOOD, "id": 2, "ts": "2024-01-01 00:00:02"}


def texts(row: dict[str, Any]) -> dict[str, Any]:
    """A row as Canal sends it: values are texts."""
    return {name: json.dumps(value) if isinstance(value, list) else str(value) for name, value in row.items()}


# Bad messages, and what is wrong with each
OF_DEBEZIUM: list[tuple[object, str]] = [
    ("{", "a message is not a JSON object of this format"),
    ([{"before": None, "after": GOOD, "op": "c"}], "a message is not a JSON object of this format"),
    (5, "a message is not a JSON object of this format"),
    ({"before": 5, "after": GOOD, "op": "c"}, "a message is not a JSON object of this format"),
    ({"before": None, "after": GOOD, "op": "x"}, "a message has the op x"),
    ({"before": None, "after": GOOD}, "a message has the op NULL"),
    ({"payload": {"before": None, "after": GOOD, "op": "c"}}, "a message has the op NULL"),
    ({"before": None, "after": GOOD, "op": "u"}, "a change lacks the row before it"),
    ({"before": None, "after": None, "op": "d"}, "a change lacks the row before it"),
    ({"before": GOOD, "after": None, "op": "u"}, "a change lacks the row after it"),
    ({"before": None, "op": "c"}, "a change lacks the row after it"),
    ({"before": None, "after": {**GOOD, "id": "one"}, "op": "c"}, "id is not INT: one"),
    ({"before": None, "after": {**GOOD, "id": 3_000_000_000}, "op": "c"}, "id is not INT: 3000000000"),
    ({"before": GOOD, "after": {**GOOD, "price": "dear"}, "op": "u"}, "price is not DECIMAL(10, 2): dear"),
    ({"before": None, "after": {**GOOD, "tags": {"a": 1}}, "op": "c"}, "tags is not ARRAY<INT>"),
    ({"before": None, "after": {**GOOD, "at": 19000}, "op": "c"}, "at is not DATE: 19000"),
    ({"before": None, "after": {**GOOD, "ts": "12:30:00"}, "op": "c"}, "ts is not TIMESTAMP(3): 12:30:00"),
    ({"before": None, "after": {**GOOD, "ts": "+10000-01-01 00:00:00"}, "op": "c"}, "ts is not TIMESTAMP(3)"),
]
OF_CANAL: list[tuple[object, str]] = [
    ("no object", "a message is not a JSON object of this format"),
    ({"type": "TRUNCATE", "data": None}, "a message has the type TRUNCATE"),
    ({"data": [texts(GOOD)]}, "a message has the type NULL"),
    ({"type": "INSERT", "data": None}, "a message lacks rows, of type INSERT"),
    ({"type": "UPDATE", "data": [texts(GOOD)], "old": None}, "a message lacks rows, of type UPDATE"),
    ({"type": "UPDATE", "data": [texts(GOOD)], "old": []}, "a message lacks rows, of type UPDATE"),
    ({"type": "INSERT", "data": [texts(GOOD), {**texts(GOOD), "id": "one"}]}, "id is not INT: one"),
    ({"type": "UPDATE", "data": [texts(GOOD)], "old": [{"at": "19000"}]}, "at is not DATE: 19000"),
]
READ = {
    "debezium-json": [{"before": None, "after": GOOD, "op": "c"}, {"before": None, "after": LATER, "op": "r"}],
    "canal-json": [{"type": "INSERT", "data": [texts(GOOD), texts(LATER)]}],
}
BAD = {"debezium-json": OF_DEBEZIUM, "canal-json": OF_CANAL}


def line(message: object) -> str:
    return (message if isinstance(message, str) else json.dumps(message)) + "\n"


def script(folder: Path, form: str, more: str = "", bad: str = "") -> str:
    return f"""{bad}
        CREATE TABLE bad (table_name STRING, place STRING, text STRING, error STRING, read_at TIMESTAMP_LTZ(3))
          WITH ('connector' = 'filesystem', 'path' = '{folder}/bad', 'format' = 'json');
        CREATE TABLE changes ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
          WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = '{form}'{more});
        CREATE TABLE out (n BIGINT, total DECIMAL(38, 2), days BIGINT, ids BIGINT, some BIGINT)
          WITH ('connector' = 'filesystem', 'path' = '{folder}/out', 'format' = 'json');
        INSERT INTO out SELECT COUNT(*), SUM(price), COUNT(at), COUNT(id), COUNT(tags)
        FROM TABLE(TUMBLE(TABLE changes, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"""


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("form", BAD)
def test_each_bad_message_is_a_letter_and_the_stream_goes_on(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """As a whole, whatever else it says; a second run tells only what is new."""
    (tmp_path / "in").mkdir()
    first, second = BAD[form][::2], BAD[form][1::2]
    (tmp_path / "in" / "1.json").write_text("".join(line(each) for each, _ in first) + line(READ[form][0]))
    made = script(tmp_path, form, bad="SET 'tvfsql.dead-letter' = 'bad';")
    for number, bad in enumerate((first, second)):
        if number:
            others = [*READ[form][1:], *(each for each, _ in bad)]
            (tmp_path / "in" / "2.json").write_text("".join(map(line, others)))
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=bool(number))
        session.execute(made)
        assert session.counts["numDeadLetters"] == len(bad)
    assert rows(tmp_path / "out") == [{"n": 2, "total": 5.0, "days": 2, "ids": 2, "some": 2}]
    told = {row["text"]: row for row in rows(tmp_path / "bad")}
    assert {*told} == {line(each).strip() for each, _ in BAD[form]}
    for message, problem in BAD[form]:
        row = told[line(message).strip()]
        assert row["error"].startswith(problem), (message, row["error"])
        assert row["table_name"] == "changes" and row["place"].endswith(".json") and row["read_at"]


@pytest.mark.parametrize("form", BAD)
def test_messages_that_cannot_be_read_are_skipped_as_in_flink(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """With ignore-parse-errors. A field or value that is not of its type is NULL; a row with such a time is in no
    window. Flink also takes a list with one message, and years beyond 9999."""
    (tmp_path / "in").mkdir()
    bad = [(each, problem) for each, problem in BAD[form] if not isinstance(each, list) and "+10000" not in line(each)]
    (tmp_path / "in" / "1.json").write_text("".join(map(line, [*(each for each, _ in bad), *READ[form]])))
    no_time = "SET 'table.exec.source.rowtime-null-handling' = 'DROP';"
    read = [
        each
        for each, problem in bad
        if (" is not " in problem and "JSON" not in problem) or '"before": 5' in line(each)
    ]
    for mode in ("streaming", "batch"):
        session = Session(spark, mode=mode)
        where = tmp_path / mode
        made = script(tmp_path, form, f", '{form}.ignore-parse-errors' = 'true'", bad=no_time)
        session.execute(made.replace(f"{tmp_path}/out", str(where)))
        if mode == "streaming":
            assert session.counts["numDeadLetters"] == len(bad) - len(read)
        assert rows(where) == [FLINK[form]], mode


# The rows of Flink, by `WHERE ts IS NOT NULL`: its windows do not take a time that is NULL. Canal's values are
# texts, and Flink reads no array in one.
FLINK = {
    "debezium-json": {"n": 7, "total": 15.0, "days": 6, "ids": 5, "some": 6},
    "canal-json": {"n": 4, "total": 10.0, "days": 5, "ids": 3, "some": 4},
}
