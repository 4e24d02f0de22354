"""`tvfsql state` and `tvfsql rescale`: print the state of the streams in a checkpoint, divide it among other tasks and
key groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, TextIO

from tvfsql.api.program import Program, streams_of
from tvfsql.api.script import Outcome, queries_of
from tvfsql.errors import IN_STREAMS, DataError, OptionError
from tvfsql.plan.checkpoint.changes import changes
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.row_formats import write_rows
from tvfsql.runtime.host.status_line import working
from tvfsql.runtime.stream.driver.checkpoints import manifest_in, refuse_changes, refuse_other_text, refuse_start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.runtime.cluster.files import Place
    from tvfsql.runtime.stream.inspect.checkpoint import StreamState

GLANCE = 20  # the most rows per table, if several are printed


def show_state(
    start: Callable[[], SparkSession], checkpoint: str, tables: Sequence[str], format: str, out: TextIO
) -> None:
    """Write tables of STATE_TABLES about a checkpoint, which the Spark that `start` gives reads.

    Raises DataError if the folder is not a checkpoint, has no completed micro-batch, or is of another version.
    """
    with working("reading the checkpoint"):
        streams = read_streams(start, checkpoint)
    write_tables(streams, tables, format, out)


def read_streams(start: Callable[[], SparkSession], checkpoint: str) -> list[StreamState]:
    """The state of the streams in a checkpoint. Raises DataError as `show_state` does."""
    from tvfsql.runtime.cluster.places import place_of
    from tvfsql.runtime.stream.driver.checkpoints import finished
    from tvfsql.runtime.stream.inspect.checkpoint import stream_state, streams_of

    folders = streams_of(place_of(checkpoint, start))
    if all(finished(folder) is None for folder in folders):
        raise DataError(
            f"no micro-batch of {checkpoint} has finished yet", hint="try again after its first micro-batch"
        )
    spark = start()
    return [stream_state(spark, folder) for folder in folders]


def write_tables(streams: Sequence[StreamState], tables: Sequence[str], format: str, out: TextIO) -> None:
    """Write one table in full, or several with titles: long ones are truncated, empty ones omitted."""
    from tvfsql.runtime.stream.inspect.state_tables import TABLES

    found = [(name, TABLES[name], list(TABLES[name].rows(streams))) for name in tables]
    if len(found) == 1:
        ((_, table, rows),) = found
        write_rows(table.names, table.types, rows, format, out)
        return
    for i, (name, table, rows) in enumerate((name, table, rows) for name, table, rows in found if rows):
        out.write(("\n" if i else "") + f"{table.title}\n")
        write_rows(table.names, table.types, rows[:GLANCE], format, out)
        if len(rows) > GLANCE:
            out.write(f"and {len(rows) - GLANCE} more: --show {name}\n")


def rescale_streams(
    start: Callable[[], SparkSession], checkpoint: str, tasks: int | None, key_groups: int | None, out: TextIO
) -> None:
    """Divide the state of the stopped streams in a checkpoint among `tasks` tasks and `key_groups` key groups (None: as
    many as now), and print what was done.

    Raises DataError if the folder is not a checkpoint, is damaged, or is in use by a stream, OptionError if tasks would
    be idle, and UnsupportedError if the state of an operator cannot be divided.
    """
    from tvfsql.runtime.cluster.places import place_of
    from tvfsql.runtime.stream.checkpoint.owner import owned
    from tvfsql.runtime.stream.inspect.checkpoint import streams_of

    streams = [stream.resolved() for stream in streams_of(place_of(checkpoint, start))]
    with ExitStack() as stack:
        for stream in streams:
            stack.enter_context(owned(stream))
        _rescale(start, streams, tasks, key_groups, out)


def _rescale(
    start: Callable[[], SparkSession], streams: Sequence[Place], tasks: int | None, key_groups: int | None, out: TextIO
) -> None:
    from tvfsql.runtime.stream.rescale.rescale import rescale, settle_rescale, size_of, wanted_size

    for stream in streams:
        settle_rescale(stream, start)
    before = [size_of(stream) for stream in streams]
    sizes = zip(streams, before, strict=True)
    after = [size and wanted_size(stream, size, tasks, key_groups) for stream, size in sizes]
    for stream, size, wanted in zip(streams, before, after, strict=True):
        if size is None or wanted is None:
            out.write(f"stream {stream.name}: no state yet\n")
        elif size == wanted:
            out.write(f"stream {stream.name}: {size} already\n")
        else:
            with working(f"rescaling stream {stream.name}"):
                rescale(start(), stream, size, wanted)
            out.write(f"stream {stream.name}: from {size} to {wanted}\n")


# `tvfsql check --checkpoint`: reports in advance what a run with this checkpoint would do.


def check_checkpoint(checkpoint: Place, outcomes: Iterable[Outcome], changed_input: bool, out: TextIO) -> None:
    """Write for each stream of a script whether it can resume, and its changes. Only reads. Raises OptionError if a run
    would refuse the checkpoint or the script has no stream, and DataError if there is no checkpoint or it is damaged.
    """
    if not checkpoint.exists():
        raise DataError(f"there is no folder {checkpoint}", hint="pass the folder of tvfsql run --checkpoint")
    streams = [*_streams(outcomes)]
    if not streams:
        raise OptionError("no query of the script is a stream, so none reads the checkpoint", hint=IN_STREAMS)
    for number, program in enumerate(streams, 1):
        folder = checkpoint / str(number)
        refuse_start(folder, program.queries[0].options.start)
        old = manifest_in(folder)
        if old is None:
            out.write(f"stream {number} {'resumes' if refuse_other_text(folder, program.code) else 'is new'}\n")
            continue
        found = changes(old, program.aligned(old).manifest)
        refuse_changes(folder, found, changed_input=changed_input)
        out.write(f"stream {number} resumes{':' if found else ''}\n")
        out.writelines(f"{line}\n" for change in found for line in change.lines)


def _streams(outcomes: Iterable[Outcome]) -> Iterator[Program]:
    """The streams of a script, in the order of their folders."""
    for outcome in outcomes:
        yield from streams_of(query for query in queries_of(outcome) if query.mode == "streaming")
