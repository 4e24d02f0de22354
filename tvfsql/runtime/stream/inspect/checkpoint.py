"""The state of the streams in a checkpoint, read through Spark's state data sources. Nothing in the checkpoint changes.

The stream may be running meanwhile: everything is read as of one micro-batch, the last one that has finished.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tvfsql.errors import DataError
from tvfsql.plan.window import Session
from tvfsql.runtime.cluster.files import LocalPlace, Place, for_spark
from tvfsql.runtime.host.failures import translated
from tvfsql.runtime.stream.checkpoint.moved import OTHER_IN_URIS, refuse_elsewhere
from tvfsql.runtime.stream.driver.checkpoints import finished
from tvfsql.runtime.stream.inspect.state_reader import KeyGroupState, Snapshot, TimerSnapshot, key_group_state
from tvfsql.runtime.stream.state.chunk_index import ChunkKey, Kind
from tvfsql.runtime.stream.state.chunk_store import Index
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.timer_queue import QueueName

Group = tuple[int, int]  # (operator, key group)


@dataclass(frozen=True)
class Operator:
    """A stateful operator: the number that Spark gives it, its description, and the state of its key groups by
    label."""

    number: int
    description: Description
    groups: Mapping[int, KeyGroupState]


@dataclass(frozen=True)
class StreamState:
    """A stream, named after its folder. Its operators are in the order in which rows pass through them. `micro_batch`
    is the last one that has finished; None if none has."""

    name: str
    micro_batch: int | None
    operators: Sequence[Operator] = ()


class StoredIndex(NamedTuple):
    """The index of a key group without its chunks, as stored: watermark (epoch ms), channels and description."""

    watermark: int | None
    channels: str
    description: str | None


Indexes = Mapping[int, StoredIndex]  # by label of the key group


def streams_of(checkpoint: Place) -> list[Place]:
    """The folders of the streams in a checkpoint, or the folder itself if it is one. Raises DataError if there is
    none."""
    if not checkpoint.exists():
        raise DataError(f"there is no folder {checkpoint}", hint="pass the folder of tvfsql run --checkpoint")
    folders = (checkpoint, *(checkpoint / name for name in checkpoint.names()))
    found = [folder for folder in folders if (folder / "query.py").exists()]
    if not found:
        raise DataError(
            f"the folder {checkpoint} is not a checkpoint of tvfsql",
            hint="pass the folder of tvfsql run --checkpoint",
        )
    return sorted(found, key=lambda folder: (len(folder.name), folder.name))


def stream_state(spark: SparkSession, stream: Place) -> StreamState:
    """The state of a stream. Raises DataError if another version wrote it, or if it cannot be read."""
    micro_batch = finished(stream)
    if micro_batch is None or not (stream / "spark" / "state").exists():
        return StreamState(stream.name, micro_batch)
    refuse_elsewhere(stream.resolved())
    with translated(), _readable(stream.resolved() / "spark") as folder:
        return StreamState(stream.name, micro_batch, _Reader(spark, folder, micro_batch).operators())


def indexes(spark: SparkSession, stream: Place) -> dict[int, Indexes]:
    """The indexes of each operator with state, by its number. Raises DataError if an operator is not of tvfsql."""
    micro_batch = finished(stream)
    assert micro_batch is not None, stream
    with _readable(stream.resolved() / "spark") as folder:
        return _Reader(spark, folder, micro_batch).indexes()


@contextmanager
def _readable(folder: Place) -> Iterator[str]:
    """A path of a folder for Spark's sources of state, which take `a b` for `a%20b`: a link, where they would not find
    it."""
    path = for_spark(folder)
    if not isinstance(folder, LocalPlace) or not OTHER_IN_URIS.search(path):
        yield path
        return
    with TemporaryDirectory(prefix="tvfsql-") as scratch:
        link = Path(scratch, "spark").resolve()
        link.symlink_to(folder.path)
        yield for_spark(LocalPlace(link))


@dataclass(frozen=True)
class _Reader:
    """Reads state as of one micro-batch, a variable of several operators at a time: each Spark job has a fixed cost."""

    spark: SparkSession
    folder: str
    micro_batch: int

    def operators(self) -> list[Operator]:
        variables = self._variables()
        ours = [number for number, names in variables.items() if {"index", "chunks"} <= names]
        timed = [number for number in ours if {"timer_queues", "timers"} <= variables[number]]
        descriptions: dict[int, Description] = {}
        indexes: dict[Group, Index] = {}
        for row in self._rows("index", ours, "value.*"):
            indexes[row.operator, row.key_group] = row.watermark, row.channels, bytes(row.chunks)
            descriptions.setdefault(row.operator, Description.load(row.asDict().get("description")))
        queues: dict[Group, dict[QueueName, tuple[int | None, bytes]]] = defaultdict(dict)
        for row in self._rows("timer_queues", timed, "user_map_key.*", "user_map_value.*"):
            queues[row.operator, row.key_group][row.service, row.clock] = row.now, bytes(row.chunks)
        chunks: dict[Group, dict[ChunkKey, bytes]] = defaultdict(dict)
        whole = [number for number, of in descriptions.items() if isinstance(of.window, Session)]
        listed = [number for number in descriptions if number not in whole]
        parts = F.col("kind") == int(Kind.INDEX)
        for row in chain(
            self._rows("chunks", whole, "user_map_key.*", "user_map_value.*"),
            self._rows("chunks", listed, "user_map_key.*", "user_map_value.*", where=parts),
        ):
            chunks[row.operator, row.key_group][ChunkKey(row.kind, row.number, row.level, row.place)] = bytes(row.data)
        groups: dict[int, dict[int, KeyGroupState]] = defaultdict(dict)
        for number in self._of_spark():
            descriptions[number], groups[number] = self._groups_of_spark(number)
        for (number, label), index in sorted(indexes.items()):
            state, timers = Snapshot(chunks[number, label], index), TimerSnapshot(queues[number, label])
            groups[number][label] = key_group_state(descriptions[number], state, timers)
        # Spark numbers operators from the result to the sources
        return [Operator(number, descriptions[number], groups[number]) for number in sorted(descriptions, reverse=True)]

    def indexes(self) -> dict[int, Indexes]:
        variables = self._variables()
        if others := [number for number, names in variables.items() if not {"index", "chunks"} <= names]:
            raise DataError(f"operator {others[0]} keeps state of its own, which tvfsql does not know")
        found: dict[int, dict[int, StoredIndex]] = defaultdict(dict)
        for row in self._rows("index", [*variables], "value.*"):
            found[row.operator][row.key_group] = StoredIndex(row.watermark, row.channels, row.description)
        return dict(found)

    def _of_spark(self) -> list[int]:
        """The numbers of Spark's own aggregates."""
        return sorted({row.operatorId for row in self._metadata if row.operatorName == "stateStoreSave"})

    def _groups_of_spark(self, number: int) -> tuple[Description, dict[int, KeyGroupState]]:
        """The groups in each partition of Spark's own aggregate, and their keys."""
        options: dict[str, int] = {"batchId": self.micro_batch, "operatorId": number}
        rows = self.spark.read.format("statestore").options(**options).load(self.folder)
        counts = rows.groupBy("partition_id").count().collect()
        keys = rows.select("key.*").columns
        return Description("UpsertAggregate", tuple(keys)), {
            row["partition_id"]: KeyGroupState(None, (), (), (), row["count"], None) for row in counts
        }

    @cached_property
    def _metadata(self) -> list[Row]:
        """A row for each state store of each operator, with the operator's name and properties."""
        read = self.spark.read.format("state-metadata").option("batchId", self.micro_batch)
        return read.load(self.folder).collect()

    def _variables(self) -> dict[int, set[str]]:
        """The names of the state variables of each operator."""
        every = ((row.operatorId, json.loads(row.operatorProperties or "{}")) for row in self._metadata)
        return {
            number: {variable["stateName"] for variable in properties.get("stateVariables", ())}
            for number, properties in every
        }

    def _rows(
        self, variable: str, operators: Sequence[int], *columns: str, where: Column | None = None
    ) -> Iterator[Row]:
        """The rows of a variable of some operators, all or some: `operator`, `key_group` and the given columns."""
        if not operators:
            return iter(())
        read = self.spark.read.format("statestore").option("batchId", self.micro_batch)

        def of(number: int) -> DataFrame:
            options: dict[str, int | str] = {"operatorId": number, "stateVarName": variable}
            rows = read.options(**options).load(self.folder)
            chosen = rows.select(F.lit(number).alias("operator"), "key.key_group", *columns)
            return chosen if where is None else chosen.where(where)

        return reduce(DataFrame.unionByName, map(of, operators)).toLocalIterator()
