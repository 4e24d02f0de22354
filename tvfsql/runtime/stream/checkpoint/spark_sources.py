"""The sources of a query, as Spark numbers them in a checkpoint."""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.plan.checkpoint.manifest import Manifest, Source
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import LISTED, Place, for_spark
from tvfsql.runtime.stream.backfill.history import FOLDER as HISTORY
from tvfsql.runtime.stream.checkpoint.added_sources import Leaf, add_sources, refuse_other_log


def add_tables(writer: DataStreamWriter, stream: Place, control: Place, manifest: Manifest | None) -> None:
    """Give the tables that a query adds to the checkpoint of a stream a place in Spark's log. Raises DataError if the
    checkpoint does not fit, and UnsupportedError."""
    if manifest is None or not any(source.since for source in manifest.sources) or of_connect(writer):
        return
    plan = writer._df._jdf.queryExecution().analyzed()
    leaves = plan.collectLeaves()
    found = [leaf for i in range(leaves.size()) if (leaf := leaves.apply(i)).isStreaming()]
    made, since, tables = list[Leaf](), 0, 0
    for leaf in found:
        path = _path(leaf)
        if path == for_spark(control):
            made.append(Leaf(_Relation(leaf), since, control=True))  # it follows the rows of its table
        elif path.startswith(f"{for_spark(stream / HISTORY)}/"):
            made.append(Leaf(_Relation(leaf)))
        else:
            source = manifest.sources[tables] if tables < len(manifest.sources) else None
            if source is None or not (_is_read(leaf, source) or path.startswith(f"{for_spark(stream / LISTED)}/")):
                break
            tables, since = tables + 1, source.since
            made.append(Leaf(_Relation(leaf), since))
    if len(made) != len(found) or tables != len(manifest.sources):
        names = ", ".join(source.table for source in manifest.sources)
        raise DataError(
            f"the checkpoint {stream} is of a stream of {names}, but Spark reads other tables, or in another order",
            hint="use a new folder",
        )
    add_sources(stream, made)


def _is_read(leaf: Any, source: Source) -> bool:
    """Whether Spark reads this table, as far as it can be seen."""
    if source.connector == "filesystem":  # a single file, and a folder in order, are read as patterns in a folder
        folder = os.path.dirname(_path(leaf))
        return _path(leaf) == source.at or folder in (os.path.dirname(source.at), source.at.rstrip("/"))
    if source.connector == "kafka":
        options = leaf.extraOptions()
        return source.at in (options.get("subscribe"), options.get("subscribePattern"))
    return True


def refuse_adding(spark: SparkSession, stream: Place | None, manifest: Manifest | None) -> None:
    """Raise UnsupportedError if a stream with this manifest would add tables to its checkpoint, but cannot."""
    if stream is None or manifest is None or manifest.known is None:
        return
    if of_connect(spark):
        raise UnsupportedError(
            "over Spark Connect no table can be added to a checkpoint: the plan of the query is out of reach",
            hint="--master URL of the cluster, once; or use a new folder",
        )
    refuse_other_log(stream)


class _Relation:
    """A relation of Java, with its equality."""

    def __init__(self, relation: Any) -> None:
        self.relation = relation

    def __hash__(self) -> int:
        return int(self.relation.hashCode())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Relation) and bool(self.relation.equals(other.relation))


def _path(leaf: Any) -> str:
    """The path of a source of files; "" for others."""
    if leaf.getClass().getSimpleName() != "StreamingRelation":
        return ""
    path = leaf.dataSource().options().get("path")
    return str(path.get()) if path.isDefined() else ""
