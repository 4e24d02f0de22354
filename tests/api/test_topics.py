"""Where Kafka says only that it lacks a topic, the topics of the query are named. No Kafka."""

from __future__ import annotations

import pytest

import tvfsql
from tvfsql.api.hints import naming_topics
from tvfsql.errors import DataError
from tvfsql.runtime.host.failures import failure

TABLE = """CREATE TABLE {0} (a INT) WITH ('connector' = 'kafka', 'topic' = '{1}', 'format' = 'json',
'properties.bootstrap.servers' = 'localhost:1', 'scan.startup.mode' = 'earliest-offset',
'scan.bounded.mode' = 'latest-offset');"""
LACKS = ": java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: no"
TWO = TABLE.format("one", "bids") + TABLE.format("other", "asks; offers")


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT a FROM one", "there is no topic bids"),
        ("SELECT a FROM one WHERE a > 1 UNION ALL SELECT a FROM one", "there is no topic bids"),
        ("SELECT a FROM one UNION ALL SELECT a FROM other", "Kafka lacks one of bids, asks, offers"),
    ],
)
def test_the_topics_of_a_query_are_named(mode: str, query: str, message: str) -> None:
    compiled = tvfsql.compile(f"{TWO} {query}", options={"execution.runtime-mode": mode})
    with pytest.raises(DataError) as raised, naming_topics(compiled):
        raise failure(LACKS)
    assert raised.value.message == message
    assert (raised.value.hint or "").endswith("--create --topic bids")


def test_other_errors_and_queries_without_topics_stay_as_they_are() -> None:
    compiled = tvfsql.compile(f"{TWO} SELECT a FROM one", options={"execution.runtime-mode": "batch"})
    with pytest.raises(DataError, match="division by zero"), naming_topics(compiled):
        raise failure("[DIVIDE_BY_ZERO] Division by zero.")
    with pytest.raises(DataError, match="Kafka lacks the topic of a table"), naming_topics():
        raise failure(LACKS)
