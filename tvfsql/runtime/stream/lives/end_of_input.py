"""The end of a bounded input of files, generated rows and Kafka topics: where Spark ends to read them.

Spark's trigger availableNow fixes where all sources end, and then reads nothing that comes later, not even the message
that the input has ended. So a query has its usual trigger, and only its topics and its folders are told what
availableNow tells every source. Its progress reports say when they are read (`table_lives`): offsets without a record
(transactions, compaction) count too.

Where the first micro-batch reads everything and no run resumes, the end is announced before the query starts, and comes
in that micro-batch. There availableNow is right, and the query ends by itself.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place, for_spark
from tvfsql.runtime.stream.backfill import FOLDER as HISTORY
from tvfsql.runtime.stream.lives.idle_sources import Source
from tvfsql.runtime.stream.lives.table_lives import TOPICS
from tvfsql.runtime.stream.progress.counts import TableReport, is_own

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

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


def stream_leaves(writer: DataStreamWriter) -> list[JavaObject]:
    """The nodes of Spark's plan that read a stream."""
    leaves = writer._df._jdf.queryExecution().analyzed().collectLeaves()
    return [leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.isStreaming()]


def text_options(leaf: JavaObject) -> dict[str, str]:
    """The options of a node that reads files."""
    options = leaf.dataSource().options()
    keys = options.keys().toSeq()
    return {str(key): str(options.apply(key)) for key in map(keys.apply, range(keys.size()))}


def _ends(source: str) -> bool:
    return source in (KAFKA, *GENERATED) or source.startswith(FILES)


# The tables of a checkpoint that have ended for good: by `--final`, or one by one beside tables without end.
#
# The checkpoint says so before operators know. A run that finds new files of such a table refuses before it reads them:
# their rows would be late. Source: docs/streams.md#runs-ends-and-lulls.


FILE = "closed.json"  # in a checkpoint
COMPACT = ".compact"
LISTED = ("recursivefilelookup", "pathglobfilter")  # the options of a folder that say which files it has


@dataclass(frozen=True)
class Closed:
    """`all`: `--final` has closed all tables. `tables`: those that have ended beside others."""

    all: bool = False
    tables: tuple[str, ...] = ()

    @classmethod
    def of(cls, checkpoint: Place) -> Closed:
        """What has been closed in a checkpoint. Raises DataError if that cannot be read."""
        file = checkpoint / FILE
        try:
            text = file.read()
            kept = json.loads(text) if text is not None else {}
            return cls(bool(kept.get("all", False)), tuple(kept.get("tables", ())))
        except (ValueError, AttributeError, TypeError) as error:
            raise DataError(
                f"the checkpoint {checkpoint} is damaged: {file} does not say which tables are closed",
                hint=f"restore {file}",
            ) from error

    def with_table(self, table: str | None) -> Closed:
        """The same, and one table more; None: all."""
        return Closed(True, self.tables) if table is None else Closed(self.all, tuple({*self.tables, table}))

    def keep(self, checkpoint: Place) -> None:
        (checkpoint / FILE).write(json.dumps({"all": self.all, "tables": sorted(self.tables)}) + "\n")

    def refusal(self, table: str, found: str) -> DataError:
        """The error of a run that has found something new of a closed table."""
        if self.all:
            return DataError(
                f"table {table} was closed by --final, but {found}",
                hint="a new --checkpoint; without --final (tvfsql.final) tables stay open for the next run",
            )
        return DataError(
            f"table {table} has been read to its end, but {found}",
            hint=f"'source.monitor-interval' = '1 s' in CREATE TABLE {table} keeps it open; or a new --checkpoint",
        )


def refuse_new_files(
    writer: DataStreamWriter, closed: Closed, checkpoint: Place, control: Place, sources: Sequence[Source]
) -> None:
    """Raise DataError if a closed table that a writer reads has files that Spark has not read. Not over Spark Connect,
    where its sources are out of reach."""
    if not (closed.all or closed.tables) or of_connect(writer):
        return
    own = (for_spark(control), f"{for_spark(checkpoint / HISTORY)}/")
    leaves = [leaf for leaf in stream_leaves(writer) if not _path(leaf).startswith(own)]
    if len(leaves) != len(sources):  # a registered DataFrame may read several
        return
    read: set[str] | None = None
    for leaf, source in zip(leaves, sources, strict=True):
        if _path(leaf) and (closed.all or (source.ends and source.table in closed.tables)):
            read = {*logged_files(checkpoint / "spark" / "sources")} if read is None else read
            new = sorted({*_listed(writer._spark, leaf)} - read)
            if new:
                others = f" and {len(new) - 1} more" if len(new) > 1 else ""
                raise closed.refusal(source.table, f"there is a new file: {new[0]}{others}")


def refuse_rows(closed: Closed, reports: Sequence[TableReport], sources: Sequence[Source]) -> None:
    """Raise DataError if a micro-batch has read rows although all tables had been closed before."""
    rows = sum(report["numInputRows"] for report in reports)
    if closed.all and rows:
        raise closed.refusal(sources[0].table if sources else "", f"{rows:,} new rows have come, which are late")


def _path(leaf: JavaObject) -> str:
    """The path of a folder whose files Spark reads; "" for other sources, such as a table of Delta."""
    of_files = leaf.getClass().getSimpleName() == "StreamingRelation" and str(leaf.sourceName()).startswith(FILES)
    return text_options(leaf).get("path", "") if of_files else ""


def _listed(spark: SparkSession, leaf: JavaObject) -> Iterator[str]:
    """The files of a folder. None if Spark reads only some of them, by their age."""
    options = {name.lower(): value for name, value in text_options(leaf).items()}
    if not options.get("maxfileage", "1000000d").startswith("1000000"):
        return
    listing = {name: options[name] for name in LISTED if name in options}
    with suppress(AnalysisException):  # the folder is gone
        for uri in spark.read.format("binaryFile").options(**listing).load(options["path"]).inputFiles():
            yield _plain(uri)


def logged_files(sources: Place) -> Iterator[str]:
    """The files in Spark's logs of a stream: paths of local files, URLs of others."""
    for number in sources.names():
        names = [name for name in (sources / number).names() if name.removesuffix(COMPACT).isdigit()]
        merged = max((int(name.removesuffix(COMPACT)) for name in names if name.endswith(COMPACT)), default=-1)
        for name in names:
            at = int(name.removesuffix(COMPACT))
            if at > merged or (at == merged and name.endswith(COMPACT)):
                for line in ((sources / number / name).read() or "").splitlines()[1:]:  # the first line is a version
                    with suppress(ValueError, TypeError, KeyError):
                        yield _plain(json.loads(line)["path"])


def _plain(uri: str) -> str:
    return re.sub(r"^file:/*", "/", unquote(uri))
