"""What emitted programs and Sessions share to run streams: `start_streams`, and `run_streams`, which waits for the
end."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import TvfSqlError
from tvfsql.plan.checkpoint.manifest import Manifest
from tvfsql.plan.start_mode import USUAL, start_mode
from tvfsql.plan.stream import PACE
from tvfsql.runtime.cluster.code import prepare
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.cluster.places import place_of, require_streams
from tvfsql.runtime.frames.shown_rows import print_rows
from tvfsql.runtime.host.failures import require_settings, translated
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.stream.checkpoint.moved import refuse_left_behind
from tvfsql.runtime.stream.checkpoint.owner import Release, own
from tvfsql.runtime.stream.checkpoint.sink_log import refuse_adding
from tvfsql.runtime.stream.driver.checkpoints import (
    claim,
    manifest_in,
    refuse_files_of_others,
    refuse_start,
    refuse_unseen_logs,
    usable,
)
from tvfsql.runtime.stream.driver.first_rows import of_first_rows
from tvfsql.runtime.stream.driver.identity import identify, new_identity
from tvfsql.runtime.stream.driver.progress_text import counter_lines, open_lines, warn_of_late_rows
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream
from tvfsql.runtime.stream.lives.idle_sources import Source
from tvfsql.runtime.stream.progress.counts import counted_out, counter
from tvfsql.runtime.stream.progress.metrics import Report

ERROR, INTERRUPTED = 1, 130  # exit codes, those of the command line


@dataclass(frozen=True)
class Job:
    """A stream to run. `build` makes its writer.

    `reads`: its streams, in order. `looks_up`: the tables that each micro-batch reads anew. `writes`, `late`: the
    folders for files of its rows and of its late rows. `logged`: those in which Spark keeps a log of its files.
    `endless`: it runs until it is stopped. Otherwise it ends when all available input has been read.
    `idle_advance`: open windows fire when all sources are idle, and the rest of their rows is late. `keeps_late`: late
    rows go into tables, so none is dropped. `count_missing_files`: a file that is deleted before it is read is counted.
    Otherwise it is an error.
    `interval`: for an `endless` stream, ms between the starts of two micro-batches; 0: as soon as there are rows, but
    at least `pace` ms apart, or `between_windows` where rows only wait for their windows (`Pace`). `real_time`: ms that
    its micro-batches last in Spark's real-time mode; 0: it does not run in it.
    `name`: the name of its query. `checkpoint`: the folder of its state; None: a temporary folder. The folder belongs
    to the query that `manifest` describes, or without a manifest to the text `program`.
    `limit`, `offset`: the job of a SELECT writes so many rows, after so many others, and then stops; None: all.
    `stateful`: some operator has state then.
    `start`: its start mode; "": RESUME_OR_FROM_BEGINNING. `final`: a run that ends closes its tables.
    `report` receives its metrics after each micro-batch, under its name or `label`.
    `beside`: it writes what another stream cannot read (dead letters), so that stream counts its rows.
    """

    build: Callable[[SparkSession], DataStreamWriter]
    reads: Sequence[Source] = ()
    writes: Sequence[str] = ()
    late: Sequence[str] = ()
    logged: Sequence[str] = ()
    endless: bool = False
    idle_advance: bool = False
    keeps_late: bool = False
    count_missing_files: bool = False
    interval: int = 0
    name: str = ""
    checkpoint: str | Path | Place | None = None
    program: str = ""
    manifest: Manifest | None = None
    label: str = ""
    beside: bool = False
    report: Report | None = None
    looks_up: Sequence[str] = ()
    start: str = ""
    final: bool = False
    limit: int | None = None
    offset: int = 0
    stateful: bool = False
    pace: int = PACE
    between_windows: int = 0
    real_time: int = 0


def start_streams(spark: SparkSession, *jobs: Job, changed_input: bool = False) -> Running:
    """Start streams, all at the same time.

    With `changed_input` the state is reused although open windows will mix results of the old and the new query. On a
    cluster each job has a checkpoint. Raises OptionError if a checkpoint belongs to another program or Spark's ANSI
    mode is off, and DataError if a checkpoint cannot be used or the folder of a sink has files of others.
    """
    require_settings(spark)
    folders = [None if job.checkpoint is None else place_of(job.checkpoint, lambda: spark).resolved() for job in jobs]
    require_streams(spark, folders)
    prepare(spark)
    for job, folder in zip(jobs, folders, strict=True):
        refuse_start(folder, start_mode(job.start) or USUAL)
        refuse_adding(spark, folder, job.manifest)
    owned: list[Release] = []
    try:
        ids = [_claimed(spark, job, folder, owned, changed_input) for job, folder in zip(jobs, folders, strict=True)]
    except BaseException:
        for release in owned:
            release()
        raise
    names = _free_names((query.name for query in spark.streams.active), [job.name for job in jobs])
    streams = [
        Stream(
            partial(job.build, spark),
            folder,
            job.endless,
            job.final,
            tuple(job.reads),
            job.idle_advance,
            job.keeps_late,
            job.count_missing_files,
            job.interval,
            name,
            job.label,
            job.beside,
            job.report,
            tuple(job.looks_up),
            tuple(job.writes),
            tuple(job.logged),
            job.limit,
            job.offset,
            job.stateful,
            job.pace,
            job.between_windows,
            job.real_time,
            *id_and_release,
        )
        for job, folder, name, id_and_release in zip(jobs, folders, names, ids, strict=True)
    ]
    return Running(spark, streams)


def _claimed(
    spark: SparkSession, job: Job, folder: Place | None, owned: list[Release], changed_input: bool
) -> tuple[str, Release]:
    """Make a folder the checkpoint of a job, in this process alone. Returns the id of its stream, and a function that
    gives the folder back, which is added to `owned`."""
    if folder is not None:
        refuse_left_behind(folder)
    before = manifest_in(folder) if folder is not None else None
    refuse_files_of_others(spark, job.writes, job.late, folder, before)
    refuse_unseen_logs(spark, job.logged, folder, before)
    if folder is None:
        return new_identity(), lambda: None
    with usable(folder):
        owned.append(own(folder))
    claim(folder, job.program, job.manifest, changed_input=changed_input)
    with usable(folder):
        return identify(folder, lambda: spark), owned[-1]


def _free_names(taken: Iterable[str | None], wanted: Iterable[str]) -> list[str]:
    """Names for queries that run at once, made unique; "" means no name."""
    used, names = {*taken}, list[str]()
    for name in wanted:
        free = name and next(each for each in chain([name], (f"{name}-{i}" for i in count(2))) if each not in used)
        used.add(free)
        names.append(free)
    return names


def run_streams(spark: SparkSession, *jobs: Job, program: str) -> None:
    """Run the streams of the file `program` until they end, or until Ctrl-C or SIGTERM stops them after the current
    micro-batch. Prints the counters to stderr. Exits the process with 1 after an error, which it prints, and with 130
    after an interrupt.
    """
    running: Running | None = None
    text = Path(program).read_text(encoding="utf-8")
    try:
        with translated(), _stopped_by_signals():
            running = start_streams(spark, *(replace(job, program=text) for job in jobs))
            running.wait()
    except TvfSqlError as error:
        print(error, file=sys.stderr)
        sys.exit(ERROR)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    finally:
        if running is not None:
            warn_of_late_rows(running)
            print(*counter_lines(running.counts), *open_lines(running), sep="\n", file=sys.stderr)


def printed(
    query: Callable[[SparkSession], DataFrame],
    late_output: Callable[[Write], Write] | None = None,
    zone: str = "UTC",
) -> Callable[[SparkSession], DataStreamWriter]:
    """Returns a function that builds the writer of a SELECT. Its rows go to stdout, as those of a `print` table do.

    `late_output` is the program's function of that name, if late rows go into a table. Instants are shown on the clock
    of `zone`.
    """

    def write(rows: DataFrame, number: int) -> None:
        print_rows(rows, zone)

    def build(spark: SparkSession) -> DataStreamWriter:
        rows = query(spark)
        if late_output is not None:
            return rows.writeStream.foreachBatch(late_output(write))
        return counted_out(rows).writeStream.foreachBatch(of_first_rows(write))

    return build


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Make SIGINT and SIGTERM raise KeyboardInterrupt. pyspark's handler of SIGINT would call Java from within a call
    to Java."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


# One stream that fills several tables: each micro-batch is computed once, and then split.


Write = Callable[[DataFrame, int], None]  # writes the rows of a micro-batch, whose number is passed
Part = tuple[Callable[[DataFrame], DataFrame], Write]  # makes the rows of a table, and writes them


def to_tables(*parts: Part, late: Sequence[Part] = ()) -> Write:
    """Returns a function that writes a micro-batch to several tables, skipping tables that get no rows.

    The rows of all tables except `late` count as rowsOut. If it is repeated after a kill between two tables, it writes
    the same rows to each of them.
    """

    def write(rows: DataFrame, number: int) -> None:
        check_input(rows)
        cached = rows.persist()  # otherwise each table would compute it again
        try:
            for part in late:
                _written(cached, number, part)
            written = sum(_written(cached, number, part) for part in parts)
        finally:
            cached.unpersist()
        if sent is not None:
            sent[number] = written

    sent = counter()
    return write


def _written(rows: DataFrame, number: int, part: Part) -> int:
    """Write the rows of one table. Returns their number."""
    of, write = part
    made = of(rows)
    if count := made.count():
        write(made, number)
    return count
