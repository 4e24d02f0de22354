"""The streams of a session: where each keeps its state, which run now, and what they have counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql.api.compiled import Program
from tvfsql.catalog.connectors import Kafka
from tvfsql.errors import DataError, OptionError
from tvfsql.options import Options, duration
from tvfsql.physical.operators import TableSourceScan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.runtime.stream.idle import Source
    from tvfsql.runtime.stream.run import Running

IDLE_TIMEOUT = "table.exec.source.idle-timeout"

Build = Callable[[], Any]  # makes a DataStreamWriter


@dataclass
class Streams:
    """The first stream of the session has its state in `checkpoint`/1, the second in `checkpoint`/2, and so on;
    without a checkpoint the state goes with the stream. `flush`: the end of a bounded input fires every window."""

    checkpoint: Path | None
    flush: bool
    runs: list[Running] = field(default_factory=list)
    begun: int = 0

    def run(self, spark: SparkSession, programs: Sequence[tuple[Program, Build]], options: Options) -> Running:
        """Start streams, all at once. Raises OptionError if a checkpoint belongs to another query, DataError if
        a sink's files do."""
        from tvfsql.runtime.stream import Running, Stream

        folders = [self.folder(program) for program, _ in programs]
        for (program, _), folder in zip(programs, folders, strict=True):
            _refuse_files_of_others(program, folder)
        advance = options["tvfsql.source.idle-advance"] == "true"
        streams = [
            Stream(build, folder, program.awaits_start, self.flush, _sources(program, options), advance)
            for (program, build), folder in zip(programs, folders, strict=True)
        ]
        running = Running(spark, streams)
        self.runs = [*(run for run in self.runs if run.active), running]
        return running

    @property
    def counts(self) -> dict[str, int]:
        """The counters of those that run, or of those that ran last."""
        from tvfsql.runtime.stream.counts import totals

        return totals(each for run in self.runs for each in run.counts) if self.runs else {}

    def advance(self, watermark: int, table: str | None) -> int:
        """Say to the streams that run, and to all over the checkpoint, whoever runs them, that event time has come
        to `watermark` (epoch ms), of `table` or of all tables. Gives how many have not ended yet."""
        from tvfsql.runtime.stream.control import advance, ended

        folders = {folder for run in self.runs if run.active for folder in run.controls(table)}
        if self.checkpoint is not None:
            folders |= {folder.absolute() for folder in self.checkpoint.glob("*/control")}
        told = [folder for folder in sorted(folders) if not ended(folder)]
        for folder in told:
            advance(folder, watermark, table)
        return len(told)

    def folder(self, of: Program) -> Path | None:
        """Where the next stream keeps its state. The folder holds the program that it belongs to."""
        self.begun += 1
        if self.checkpoint is None:
            return None
        folder = self.checkpoint / str(self.begun)
        program = folder / "query.py"
        if program.exists() and program.read_text(encoding="utf-8") != of.code:
            raise OptionError(
                f"the checkpoint {folder} belongs to another query: {program} says which",
                hint="choose a new folder, or run the script as it was",
            )
        if not program.exists():
            folder.mkdir(parents=True, exist_ok=True)
            draft = folder / "query.draft"  # a kill while it is written must not leave half of a program
            draft.write_text(of.code, encoding="utf-8")
            draft.replace(program)
        return folder


def _refuse_files_of_others(program: Program, checkpoint: Path | None) -> None:
    """Spark lists a sink's files by micro-batch, and passes over micro-batches that are in the list: those of a new
    stream, whose numbers start at 0 again, would be lost without a trace. So would be files beside the list, for who
    reads them through Spark. Late rows of several streams may go into one folder. Raises DataError."""
    from tvfsql.runtime.stream.batches import FILES

    if checkpoint is not None and any((checkpoint / "spark" / "offsets").glob("[0-9]*")):
        return
    own = [(query.sink, ("_spark_metadata/[0-9]*", f"**/{FILES}*")) for query in program.queries if query.sink]
    for table, patterns in (*own, *((late, ("_spark_metadata/[0-9]*",)) for late in program.late)):
        path = table.connector.path if table.connector else None
        if path is not None and any(any(Path(path.removeprefix("file:")).glob(pattern)) for pattern in patterns):
            raise DataError(
                f"the folder {path} holds what another stream has written",
                hint="another path, or the --checkpoint of that stream, to go on with it",
            )


def _sources(program: Program, options: Options) -> tuple[Source, ...]:
    """The tables that a stream reads, in order, and when each is idle."""
    from tvfsql.runtime.stream.idle import Source

    usual = duration(options[IDLE_TIMEOUT], IDLE_TIMEOUT)
    return tuple(
        Source(
            table.name,
            usual if table.idle_timeout is None else table.idle_timeout,
            isinstance(table.connector, Kafka) and table.connector.topic is None,
        )
        for table in (node.source for node in program.operators if isinstance(node, TableSourceScan))
    )
