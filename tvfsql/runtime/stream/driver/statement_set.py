"""One stream that fills several tables: each micro-batch is computed once, and then split."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame

from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.stream.progress.counts import counter

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
