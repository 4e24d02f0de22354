"""INSERT into tables of debezium-json and canal-json: the bytes are Flink's, and tvfsql reads its own rows back."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bids import bag, write_files
from tests.support.flink_changes import BID, FORMATS, MESSAGES, answers, table_of
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker


def session_over_bids(spark: SparkSession, mode: str, folder: Path) -> Session:
    """A session over the bids, of which a stream reads each in a micro-batch."""
    session = Session(spark, mode=mode)
    session.execute("SET 'table.local-time-zone' = 'Europe/Berlin'")
    session.execute(
        f"CREATE TABLE bid ({BID.ddl}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json', "
        "'maxFilesPerTrigger' = '1')"
    )
    return session


def lines(folder: Path) -> list[str]:
    """The lines of the files in a folder, with their ends."""
    files = [file for file in folder.iterdir() if file.name.startswith("part-")]
    return [line for file in files for line in file.read_text(encoding="utf-8").splitlines(keepends=True)]


@pytest.mark.spark
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("about", [each for each in MESSAGES if each != "decimals"])
def test_bytes_are_those_of_flink(about: str, form: str, spark: SparkSession, tmp_path: Path) -> None:
    columns, sql, options = MESSAGES[about]
    told = answers()[f"{form}: {about}"]
    assert told["sql"] == sql, "python -m tests.support.flink_changes"
    write_files(tmp_path / "in", [[row] for row in BID.objects()])
    streaming = about.startswith("groups")
    session = session_over_bids(spark, "streaming" if streaming else "batch", tmp_path / "in")
    session.execute(table_of(columns, form, options, str(tmp_path / "out")))
    session.execute(f"INSERT INTO o {sql}")
    assert Counter(lines(tmp_path / "out")) == Counter(f"{line}\n" for line in told["lines"])


@pytest.mark.spark
@pytest.mark.parametrize("form", FORMATS)
def test_decimals_are_those_of_flink_with_all_their_digits(form: str, spark: SparkSession, tmp_path: Path) -> None:
    columns, sql, options = MESSAGES["decimals"]
    write_files(tmp_path / "in", [[row] for row in BID.objects()])
    session = session_over_bids(spark, "batch", tmp_path / "in")
    session.execute(table_of(columns, form, options, str(tmp_path / "out")))
    session.execute(f"INSERT INTO o {sql}")
    (found,), (told,) = lines(tmp_path / "out"), answers()[f"{form}: decimals"]["lines"]
    assert json.loads(found, parse_float=Decimal) == json.loads(told, parse_float=Decimal)
    assert '"f":12.50,"g":100.00,' in found and '"f":12.5,"g":1E+2,' in told


@pytest.mark.spark
@pytest.mark.parametrize("form", FORMATS)
def test_the_rows_read_back_are_those_of_batch(form: str, spark: SparkSession, tmp_path: Path) -> None:
    columns, sql, options = MESSAGES["groups"]
    write_files(tmp_path / "in", [[row] for row in BID.objects()])
    create = table_of(columns, form, options, str(tmp_path / "out"))
    stream, batch = (session_over_bids(spark, mode, tmp_path / "in") for mode in ("streaming", "batch"))
    for session in (stream, batch):
        session.execute(create)
    stream.execute(f"INSERT INTO o {sql}")
    assert bag(batch.sql("SELECT * FROM o").collect()) == bag(batch.sql(sql).collect())


@pytest.mark.spark
@pytest.mark.parametrize("form", FORMATS)
def test_partitions_of_a_micro_batch_keep_updates_in_order(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """Of an item, the message about the row that goes stands before that about the row that comes."""
    columns, sql, options = MESSAGES["groups"]
    write_files(tmp_path / "in", [BID.objects()[:3], BID.objects()[3:]])
    session = session_over_bids(spark, "streaming", tmp_path / "in")
    session.execute(table_of(columns, form, options, str(tmp_path / "out")))
    session.execute(f"INSERT INTO o {sql}")
    said: dict[str, list[bool]] = {}
    for file in sorted((tmp_path / "out").glob("part-*"), key=lambda file: file.stat().st_mtime_ns):
        for message in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            goes = message.get("op") == "d" or message.get("type") == "DELETE"
            row = message["data"][0] if "data" in message else message["before" if goes else "after"]
            said.setdefault(row["item"], []).append(goes)
    assert said == {"a": [False, True, False], "b": [False, True, False], None: [False]}


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_changes_go_through_kafka(form: str, spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """The messages of a key have its columns as their key, so they stay in order. Read back they leave the rows."""
    topic = f"written_{form.removesuffix('-json')}"
    broker.make_topic(spark, topic)
    columns, sql, _ = MESSAGES["groups"]
    write_files(tmp_path / "in", [[row] for row in BID.objects()])
    stream, batch = (session_over_bids(spark, mode, tmp_path / "in") for mode in ("streaming", "batch"))
    for session in (stream, batch):
        session.execute(
            f"CREATE TABLE o ({columns}) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'value.format' = '{form}', "
            f"'properties.bootstrap.servers' = '{broker.servers}', 'key.format' = 'json', 'key.fields' = 'item')"
        )
    stream.execute(f"INSERT INTO o {sql}")
    assert bag(batch.sql("SELECT * FROM o").collect()) == bag(batch.sql(sql).collect())
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": topic}
    sent = spark.read.format("kafka").options(**options).load().selectExpr("CAST(value AS STRING) AS value").collect()
    assert Counter(row.value for row in sent) == Counter(answers()[f"{form}: groups"]["lines"])
