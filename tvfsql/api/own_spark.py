"""The Spark of a session: the one passed to it, or a local one that starts when it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class OwnSpark:
    """`spark` is None until it is needed. Several threads may ask for it: one starts it and the others wait."""

    spark: SparkSession | None = None
    _started: bool = False
    _packages: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, packages: Callable[[], Collection[str]]) -> SparkSession:
        """The running Spark; starts a local one with `packages` if there is none. Raises DataError without Java."""
        with self._lock:
            if self.spark is None:
                from tvfsql.runtime.local_spark.start import is_running, local_spark

                running = is_running()
                self._packages = frozenset(packages())
                self.spark = local_spark(self._packages)
                self._started = not running
            return self.spark

    def lacks(self, packages: Collection[str]) -> bool:
        """Whether the Spark started here lacks one of these packages."""
        with self._lock:
            return self.spark is not None and self._started and not self._packages >= frozenset(packages)

    def restart(self, packages: Collection[str]) -> None:
        """Stop Spark and its JVM, and start them with these packages. Everything registered in Spark is lost."""
        from tvfsql.runtime.local_spark.start import end_java, local_spark

        with self._lock:
            if self.spark is not None:
                end_java(self.spark)
            self._packages = frozenset(packages)
            self.spark = local_spark(self._packages)

    def cancel(self) -> None:
        """Cancel the running jobs, without waiting for them to end."""
        if self.spark is not None:
            self.spark.sparkContext.cancelAllJobs()

    def silence(self) -> None:
        """Discard the JVM's messages from now on, such as those of workers whose jobs are cancelled."""
        from tvfsql.runtime.stream.driver.quiet_worker import silence

        if self.spark is not None and self._started:
            silence(self.spark)

    def stop(self) -> None:
        """Stop Spark if it was started here."""
        if self.spark is not None and self._started:
            self.spark.stop()
            self.spark, self._started = None, False
