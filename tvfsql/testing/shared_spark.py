"""The Spark that tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SharedSpark:
    """A local Spark that starts with the first test. If a Spark already runs in this process, it is used and not
    stopped.
    """

    def __init__(self) -> None:
        self.spark: SparkSession | None = None
        self.started = False

    def get(self) -> SparkSession:
        """Return the Spark. Raises DataError without Java."""
        from tvfsql.runtime.local_spark.start import FAST_COMPILER, is_running, start_spark

        if self.spark is None:
            self.started = not is_running()
            self.spark = start_spark(java_options=FAST_COMPILER)
        return self.spark

    def stop(self) -> None:
        if self.spark is not None and self.started:
            self.spark.stop()
        self.spark = None
