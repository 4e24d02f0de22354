"""What only the API can add to an error: how its reader chooses the mode, and which topics a query reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tvfsql.api.compiled import Compiled
from tvfsql.api.script import Script
from tvfsql.catalog.connectors import Kafka
from tvfsql.errors import DataError, OtherMode, TvfSqlError
from tvfsql.options.known import RUNTIME_MODE
from tvfsql.physical.checkpoint.manifest import source_of
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.analysis.sharing import shared_by


def with_set_mode(error: TvfSqlError, script: Script) -> TvfSqlError:
    """The same error, whose hint names SET and not --mode, unless the mode is fixed, so that SET has no effect."""
    if isinstance(error.advice, OtherMode) and script.mode is None:
        error.advice = error.advice.written(f"SET '{RUNTIME_MODE.key}' = '{error.advice.mode}'")
    return error


@contextmanager
def naming_topics(*queries: Compiled) -> Iterator[None]:
    """Name the topics that these queries read if Kafka says in the block only that it lacks one."""
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
