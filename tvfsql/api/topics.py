"""Names the topics that a query reads where Kafka says only that it lacks one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tvfsql.api.compiled import Compiled
from tvfsql.catalog.connectors import Kafka
from tvfsql.errors import DataError
from tvfsql.physical.checkpoint.manifest import source_of
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.analysis.sharing import shared_by


@contextmanager
def naming_topics(*queries: Compiled) -> Iterator[None]:
    """Name the topics in the error of these queries that run in the block."""
    try:
        yield
    except DataError as error:
        from tvfsql.runtime.host.failures import NoTopicError

        topics = _topics(queries)
        if not isinstance(error, NoTopicError) or not topics:
            raise
        hint = f"kafka-topics.sh --bootstrap-server ... --create --topic {topics[0]}"
        known = f"there is no topic {topics[0]}" if len(topics) == 1 else f"Kafka lacks one of {', '.join(topics)}"
        raise DataError(known, hint=hint) from error.__cause__


def _topics(queries: tuple[Compiled, ...]) -> list[str]:
    plans = [query.physical for query in queries]
    scans = (node for plan in (*plans, *shared_by(plans)) for node in plan.walk() if isinstance(node, TableSourceScan))
    read = (source_of(scan).at for scan in scans if isinstance(scan.source.connector, Kafka))
    return [*dict.fromkeys(topic for topics in read for topic in topics.split(",") if topic)]
