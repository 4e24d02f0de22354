"""A last look at the input of a micro-batch before its rows are written: what writes them calls `check_input`.

Spark reads files that were deleted after it has listed them as empty, without an error. Functions that write a
micro-batch run after that, on the driver, and before Spark commits it. So a run registers a check of its files, and
nothing of a micro-batch that lacks one is written. Spark's own sinks (Kafka, files with a log, `noop`) call nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from tvfsql.runtime.host.stream_id import IDENTITY

NUMBER = "streaming.sql.batchId"  # the local property with the number of the micro-batch that is written
_checks: dict[str, Callable[[int], None]] = {}  # by the id of the stream, within this process


@contextmanager
def checking_input(stream: str, check: Callable[[int], None]) -> Iterator[None]:
    """While this block runs, `check` gets the number of each micro-batch of a stream before its rows are written."""
    _checks[stream] = check
    try:
        yield
    finally:
        del _checks[stream]


def check_input(rows: DataFrame) -> None:
    """Raise what the check of a micro-batch raises. Other rows, and streams that run in another process, have none."""
    spark = rows.sparkSession
    if not _checks or (check := _checks.get(spark.conf.get(IDENTITY, "") or "")) is None:
        return
    number = spark.sparkContext.getLocalProperty(NUMBER)
    if number is not None:
        check(int(number))
