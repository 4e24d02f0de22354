"""A streaming SELECT: runs it, and hands its micro-batches over, also from a Spark Connect server."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tvfsql.api.compiled import Compiled
from tvfsql.api.program import Program
from tvfsql.api.streams.running import Streams, wait_for
from tvfsql.errors import UnsupportedError
from tvfsql.physical.operators import LateOutput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Each = Callable[[DataFrame], None]


def each_micro_batch(query: Compiled, streams: Streams, spark: SparkSession, each: Each) -> None:
    """Run the query until it ends, and call `each` with every micro-batch.

    With LIMIT the micro-batches have these rows alone, and the stream stops after them. Raises DataError,
    UnsupportedError for late output over Spark Connect and for LIMIT with a checkpoint, and whatever `each` raises.
    """
    from tvfsql.runtime.cluster.code import of_connect

    if query.first_rows is not None and streams.checkpoint is not None:
        reason = "a stream that stops at its LIMIT keeps no place to resume from, so it has no checkpoint"
        raise UnsupportedError(reason, hint="leave out --checkpoint, or LIMIT")
    if of_connect(spark):
        _of_server(query, streams, spark, each)
    else:
        _of_process(query, streams, spark, each)


def _of_process(query: Compiled, streams: Streams, spark: SparkSession, each: Each) -> None:
    from tvfsql.runtime.host.failures import translated
    from tvfsql.runtime.host.input_checks import check_input
    from tvfsql.runtime.stream import counted_out
    from tvfsql.runtime.stream.driver.first_rows import of_first_rows

    raised: list[BaseException] = []

    def take(batch: DataFrame, number: int) -> None:
        try:
            check_input(batch)
            each(batch)
        except BaseException as error:  # kept, because Spark would only keep its text
            raised.append(error)
            raise

    def build(program: Program, spark: SparkSession) -> Any:
        rows = program.run("query", spark)
        if isinstance(query.physical, LateOutput):
            return rows.writeStream.foreachBatch(program.function("late_output")(take))
        return counted_out(rows).writeStream.foreachBatch(of_first_rows(take))

    try:
        wait_for(streams.run(spark, [(Program((query,)), build)]))
    except Exception:
        if not raised:
            raise
        with translated():
            raise raised[0] from None


def _of_server(query: Compiled, streams: Streams, spark: SparkSession, each: Each) -> None:
    """The rows come through files in the checkpoint."""
    from tvfsql.runtime.host.failures import translated
    from tvfsql.runtime.stream import counted_out
    from tvfsql.runtime.stream.driver.first_rows import FirstRows
    from tvfsql.runtime.stream.sinks.collected import Collected

    if isinstance(query.physical, LateOutput):
        raise UnsupportedError("late rows go into no table over Spark Connect", hint="RESET 'tvfsql.late-output'")

    def build(program: Program, spark: SparkSession) -> Any:
        return collected.writer(counted_out(program.run("query", spark)))

    limit = query.first_rows
    first = FirstRows(limit.count, limit.offset) if limit is not None and limit.count is not None else None

    def give(batch: DataFrame) -> None:
        if first is None:
            each(batch)
        else:
            first.take(batch, each)

    with TemporaryDirectory(prefix="select-", dir=streams.parent(), ignore_cleanup_errors=True) as folder:
        collected = Collected(Path(folder))
        running = streams.run(spark, [(Program((query,)), build)], [folder])
        try:
            while running.active:
                time.sleep(0.1)
                with translated():
                    for batch in collected.batches(spark):
                        give(batch)
                if first is not None and first.complete:
                    running.stop()
        except BaseException:
            running.stop()
            raise
        wait_for(running)
        with translated():
            for batch in collected.batches(spark):
                give(batch)
