"""What the streams over a checkpoint hold, for a person: what `tvfsql state` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tvfsql.errors import DataError
from tvfsql.runtime.formats import write_rows
from tvfsql.runtime.progress import working

if TYPE_CHECKING:
    from tvfsql.runtime.checkpoint import StreamState

GLANCE = 20  # rows of a table that are shown beside others


def show_state(checkpoint: str, tables: Sequence[str], format: str, out: TextIO) -> None:
    """Write tables of STATE_TABLES about a checkpoint. Starts a Spark if none runs.

    Raises DataError for what is no checkpoint, holds no finished micro-batch, or was written by another version.
    """
    with working("reading the checkpoint"):
        streams = read_streams(checkpoint)
    write_tables(streams, tables, format, out)


def read_streams(checkpoint: str) -> list[StreamState]:
    """What the streams over a checkpoint hold. Raises DataError as `show_state`."""
    from tvfsql.runtime.checkpoint import finished, stream_state, streams_of
    from tvfsql.runtime.spark import local_spark

    folders = streams_of(Path(checkpoint))
    if all(finished(folder) is None for folder in folders):
        raise DataError(f"no micro-batch of {checkpoint} has finished yet", hint="there is state once one has")
    spark = local_spark()
    return [stream_state(spark, folder) for folder in folders]


def write_tables(streams: Sequence[StreamState], tables: Sequence[str], format: str, out: TextIO) -> None:
    """One table comes whole; several stand under their titles, cut if they are long, left out if they are empty."""
    from tvfsql.runtime.state_tables import TABLES

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
