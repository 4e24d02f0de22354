"""Error goldens: what a user is told, where the caret stands, and what to type instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.golden import Case, PlanExtension, cases, outcomes
from tvfsql.errors import Span, TvfSqlError
from tvfsql.plan.node import Node
from tvfsql.plan.tables.internal_columns import RESERVED
from tvfsql.runtime.host.failures import failure
from tvfsql.syntax.parser import STARTS

SCREEN = 80  # columns


def operators(kind: type[Node] = Node) -> Iterator[str]:
    """The names of all classes of operators."""
    for each in kind.__subclasses__():
        yield each.__name__
        yield from operators(each)


OPERATORS = sorted(set(operators()))
LONG = "|".join(name for name in OPERATORS if sum(map(str.isupper, name)) > 1)
# operators as EXPLAIN prints them, columns that tvfsql adds, classes of sqlglot and Python
NAMES = "|".join(["ROWS", *sorted(RESERVED)])
INTERNAL = re.compile(rf"\b(?:{LONG})\b|\b(?:{'|'.join(OPERATORS)})[(]|[$](?:{NAMES})\b|<Token|<class|\b[a-z]\w+=\[")


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(PlanExtension)


@pytest.mark.parametrize("case", cases("errors"), ids=str)
def test_error(case: Case, golden: SnapshotAssertion) -> None:
    with pytest.raises(TvfSqlError) as caught:
        outcomes(case)
    kind = type(caught.value).__name__
    assert f"{kind}\n{caught.value}\n" == golden
    assert faults(caught.value) == []


def faults(error: TvfSqlError) -> list[str]:
    """What a reader would stumble over."""
    found = []
    for text in (error.message, error.hint or ""):
        if len(text) > 2 * SCREEN or "\n" in text:
            found.append("longer than two lines")
        found += [f"speaks of {word}" for word in INTERNAL.findall(text)]
    marked = (error.source or "")[error.span.start : error.span.end] if error.span else ""
    if "\n" in marked and marked.split(maxsplit=1)[0].upper() in STARTS:
        found.append("underlines a whole statement")
    if error.span and not marked.strip() and error.span.end <= len(error.source or ""):
        found.append("underlines a blank")
    return found


@pytest.mark.parametrize(
    ("message", "marked", "fault"),
    [
        ("x" * 100, "item", None),
        ("x" * 161, "item", "longer than two lines"),
        ("this aggregate: WindowAggregate(groupBy=[item])", "item", "speaks of WindowAggregate"),
        ("Join(where=[a = b]) does not work", "item", "speaks of Join("),
        ("cannot merge $ROWS(left_row)", "item", "speaks of $ROWS"),
        ("expected a name but got <Token token_type", "item", "speaks of <Token"),
        ("this does not work", "SELECT item\nFROM bid", "underlines a whole statement"),
        ("this does not work", "TUMBLE(TABLE bid,\nDESCRIPTOR(ts))", None),
    ],
)
def test_what_a_reader_would_stumble_over_is_found(message: str, marked: str, fault: str | None) -> None:
    found = faults(TvfSqlError(message, span=Span(0, len(marked))).within(marked))
    assert fault in found if fault else not found


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (
            "[KAFKA_DATA_SOURCE_NOT_ENABLED] Failed to find data source: kafka. Please deploy the application as ...",
            "Spark has no data source kafka",
            f"--packages org.apache.spark:spark-sql-kafka-0-10_2.13:{version('pyspark')} ",
        ),
        (
            ": org.apache.spark.SparkException: Job aborted: org.apache.kafka.common.errors.TimeoutException: "
            "Topic bids not present in metadata after 3000 ms.\nCaused by: org.apache.kafka.common.errors."
            "UnknownTopicOrPartitionException: This server does not host this topic-partition.",
            "there is no topic bids",
            "--create --topic bids",
        ),
        (
            ": java.util.concurrent.ExecutionException: org.apache.kafka.common.errors."
            "UnknownTopicOrPartitionException: This server does not host this topic-partition.",
            "Kafka lacks the topic of a table",
            "--create",
        ),
        (
            ": java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: "
            "Timed out waiting for a node assignment. Call: listNodes",
            "Kafka does not answer",
            "properties.bootstrap.servers",
        ),
        (
            "[AVRO_DATA_SOURCE_NOT_ENABLED] Failed to find data source: avro. Avro is built-in but external data ...",
            "Spark has no data source avro",
            f"spark.jars.packages=org.apache.spark:spark-avro_2.13:{version('pyspark')}",
        ),
        (
            "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///data/a.avro.  SQLSTATE: KD001\n"
            "Caused by: org.apache.spark.sql.avro.IncompatibleSchemaException: Cannot convert Avro field 't' to SQL "
            "field 't' because Avro logical type org.apache.avro.LogicalTypes$TimestampMillis@41bf4406 cannot be "
            "converted to SQL type TIMESTAMP_NTZ.",
            "t is an instant in this Avro file, not a TIMESTAMP",
            "declare t TIMESTAMP_LTZ(3)",
        ),
    ],
)
def test_what_spark_says_of_sources_becomes_a_line(said: str, message: str, hint: str) -> None:
    error = failure(said)
    assert error.message == message
    assert hint in (error.hint or "")
