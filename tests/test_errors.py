"""Error goldens: what a user is told, where the caret stands, and what to type instead."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from golden import Case, PlanExtension, cases, outcomes
from syrupy.assertion import SnapshotAssertion

from tvfsql.errors import TvfSqlError
from tvfsql.runtime.failures import failure


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(PlanExtension)


@pytest.mark.parametrize("case", cases("errors"), ids=str)
def test_error(case: Case, golden: SnapshotAssertion) -> None:
    with pytest.raises(TvfSqlError) as caught:
        outcomes(case)
    kind = type(caught.value).__name__
    assert f"{kind}\n{caught.value}\n" == golden


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
            "there is no topic of that name",
            "--create",
        ),
        (
            ": java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: "
            "Timed out waiting for a node assignment. Call: listNodes",
            "Kafka does not answer",
            "properties.bootstrap.servers",
        ),
    ],
)
def test_what_spark_says_of_kafka_becomes_a_line(said: str, message: str, hint: str) -> None:
    error = failure(said)
    assert error.message == message
    assert hint in (error.hint or "")
