"""The end of a bounded input of files, generated rows and Kafka topics. It is announced in the run that reads them, so
the last windows fire without a second query.

Spark's trigger availableNow fixes where all sources end, and then reads nothing that comes later, not even the message
that the input has ended. So a query has its usual trigger, and only its topics are told what availableNow tells every
source. Its progress reports say when they are read: offsets without a record (transactions, compaction) count too.

Where the first micro-batch reads everything and no run resumes, the end is announced before the query starts, and comes
in that micro-batch. There availableNow is right, and the query ends by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.plan.synthetic.tables import NEXT_ROW, ROWS
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance, ended

RELATIONS = ("StreamingRelation", "StreamingRelationV2")  # Spark's nodes that name their source
LIMITS = ("maxfilespertrigger", "maxbytespertrigger")  # options of files that split them among micro-batches
KAFKA, FILES, GENERATED = "kafka", "FileSource[", ("datagen", "faker", "nexmark")  # Spark's names of sources
TOPICS = "KafkaV2["  # how a progress report describes them
SINCE = (4, 2)  # in Spark 4.1 only the thread of the query can fix where topics end
WAITING = "Waiting for"  # the message of a query that has found nothing: new data, or the next trigger
INITIALIZING = 0.002  # seconds between two looks at a query whose sources are not there yet


def found_nothing(status: Mapping[str, Any]) -> bool:
    """Whether a query with this status has looked for input and found nothing. Spark gives each micro-batch a status of
    its own: before it looks, this one says neither that a trigger is active nor that there is data, but `Initializing`.
    """
    waits = status["message"].startswith(WAITING)
    return waits and not (status["isTriggerActive"] or status["isDataAvailable"])


class EndOfInput:
    """Announces the end of the input once, during one run of a query that looks for new rows until it is stopped."""

    def __init__(self, control: Place) -> None:
        self.control = control
        self.announced = bool(ended(control))  # by an earlier run
        self.before = -2  # the last micro-batch that had ended when the end was announced

    def look(self, seen: int | None, at_rest: bool, all_read: bool) -> bool:
        """Announce the end if everything has been read. Returns whether the query has processed the end and can stop.

        `seen`: the last micro-batch that has ended; None if none has ended yet. `at_rest`: since then the query has
        found nothing new. `all_read`: the query is at rest, or has only found files that were written after its start.
        """
        last = -1 if seen is None else seen
        if self.announced:  # micro-batch `before + 1` may have begun before the announcement, `before + 2` has not
            return all_read and last > self.before + (0 if at_rest else 1)
        if all_read:
            advance(self.control, END_OF_INPUT)
            self.announced, self.before = True, last
        return False


def are_generated(sources: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all rows of the generated tables among the sources of a progress report have been read. A table with a
    rate has none for a while, and is not at its end."""
    ends = (reported_offset(source["endOffset"]) for source in sources)
    return all(end[NEXT_ROW] >= end[ROWS] for end in ends if isinstance(end, dict) and ROWS in end)


def topics_can_end(writer: DataStreamWriter) -> bool:
    """Whether a query reads only topics, files and generated rows, and the ends of its topics can be fixed here. Not
    over Spark Connect, where its sources are out of reach."""
    if of_connect(writer):
        return False
    known = all(
        leaf.getClass().getSimpleName() in RELATIONS and _ends(str(leaf.sourceName())) for leaf in _read(writer)
    )
    return known and tuple(map(int, writer._spark.version.split(".")[:2])) >= SINCE


def reads_all_at_once(writer: DataStreamWriter) -> bool:
    """Whether the first micro-batch of a new query reads all input: files without a limit. False over Spark Connect,
    where its sources are out of reach."""
    if of_connect(writer):
        return False
    return all(
        leaf.getClass().getSimpleName() == RELATIONS[0]
        and str(leaf.sourceName()).startswith(FILES)
        and not any(str(name).lower() in LIMITS for name in _names(leaf.dataSource().options()))
        for leaf in _read(writer)
    )


def fix_ends(query: StreamingQuery) -> None:
    """Let the topics of a query that has just been started end at the offsets that are the latest when it next looks
    for messages. Almost always this is its first look, which takes longer to prepare than this call.
    """
    execution = query._jsq.streamingQuery()
    while query.isActive and execution.sources().isEmpty():
        time.sleep(INITIALIZING)
    sources = execution.sources()
    for source in map(sources.apply, range(sources.size())):
        if str(source.toString()).startswith(TOPICS):
            source.prepareForTriggerAvailableNow()


def topics_are_read(sources: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the topics among the sources of a progress report have been read to their ends."""
    topics = (source for source in sources if source["description"].startswith(TOPICS))
    return all(reported_offset(each["endOffset"]) == reported_offset(each["latestOffset"]) for each in topics)


def _read(writer: DataStreamWriter) -> list[Any]:
    """The nodes of Spark's plan that read a stream."""
    leaves = writer._df._jdf.queryExecution().analyzed().collectLeaves()
    return [leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.isStreaming()]


def _names(options: Any) -> list[Any]:
    """The keys of a map of Scala."""
    keys = options.keys().toSeq()
    return [keys.apply(i) for i in range(keys.size())]


def _ends(source: str) -> bool:
    return source in (KAFKA, *GENERATED) or source.startswith(FILES)
