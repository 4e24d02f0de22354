"""The end of a bounded input of files, generated rows and Kafka topics: where Spark ends to read them.

Spark's trigger availableNow fixes where all sources end, and then reads nothing that comes later, not even the message
that the input has ended. So a query has its usual trigger, and only its topics and its folders are told what
availableNow tells every source. Its progress reports say when they are read (`table_lives`): offsets without a record
(transactions, compaction) count too.

Where the first micro-batch reads everything and no run resumes, the end is announced before the query starts, and comes
in that micro-batch. There availableNow is right, and the query ends by itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.lives.table_lives import TOPICS
from tvfsql.runtime.stream.progress.counts import is_own

RELATIONS = ("StreamingRelation", "StreamingRelationV2")  # Spark's nodes that name their source
LIMITS = ("maxfilespertrigger", "maxbytespertrigger")  # options of files that split them among micro-batches
KAFKA, FILES, GENERATED = "kafka", "FileSource[", ("datagen", "faker", "nexmark")  # Spark's names of sources
FILE_SOURCE = "FileStreamSource["  # how a progress report describes a folder
SINCE = (4, 2)  # in Spark 4.1 only the thread of the query can fix where topics end
WAITING = "Waiting for"  # the message of a query that has found nothing: new data, or the next trigger
INITIALIZING = 0.002  # seconds between two looks at a query whose sources are not there yet


def found_nothing(status: Mapping[str, Any]) -> bool:
    """Whether a query with this status has looked for input and found nothing. Spark gives each micro-batch a status of
    its own: before it looks, this one says neither that a trigger is active nor that there is data, but `Initializing`.
    """
    waits = status["message"].startswith(WAITING)
    return waits and not (status["isTriggerActive"] or status["isDataAvailable"])


def topics_can_end(writer: DataStreamWriter) -> bool:
    """Whether a query reads only topics, files and generated rows, and the ends of its topics can be fixed here. Not
    over Spark Connect, where its sources are out of reach."""
    if of_connect(writer):
        return False
    known = all(
        leaf.getClass().getSimpleName() in RELATIONS and _ends(str(leaf.sourceName())) for leaf in stream_leaves(writer)
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
        and not any(name.lower() in LIMITS for name in text_options(leaf))
        for leaf in stream_leaves(writer)
    )


def fix_ends(query: StreamingQuery, control: Place, ends: Sequence[bool]) -> None:
    """Let topics and folders of a query that has just been started end at what there is when it next looks for rows.
    Almost always this is its first look, which takes longer to prepare than this call.

    `ends`: for each table in order, whether it ends. If the query reads others than these, all of them end.
    """
    execution = query._jsq.streamingQuery()
    while query.isActive and execution.sources().isEmpty():
        time.sleep(INITIALIZING)
    sources = execution.sources()
    every = map(sources.apply, range(sources.size()))
    tables = [source for source in every if not is_own(str(source.toString()), control)]
    which = ends if len(ends) == len(tables) else [True] * len(tables)
    for source, ending in zip(tables, which, strict=True):
        if ending and str(source.toString()).startswith((TOPICS, FILE_SOURCE)):
            source.prepareForTriggerAvailableNow()


def stream_leaves(writer: DataStreamWriter) -> list[Any]:
    """The nodes of Spark's plan that read a stream."""
    leaves = writer._df._jdf.queryExecution().analyzed().collectLeaves()
    return [leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.isStreaming()]


def text_options(leaf: Any) -> dict[str, str]:
    """The options of a node that reads files."""
    options = leaf.dataSource().options()
    keys = options.keys().toSeq()
    return {str(key): str(options.apply(key)) for key in map(keys.apply, range(keys.size()))}


def _ends(source: str) -> bool:
    return source in (KAFKA, *GENERATED) or source.startswith(FILES)
