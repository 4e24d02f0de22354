"""The Spark of a session: the one passed to it, or one that starts when it is needed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvfsql.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tvfsql.runtime.local_spark.early import EarlyStart


@dataclass(frozen=True)
class Needs:
    """The packages of Spark that a session needs, and Spark's settings from the command line and from SET."""

    packages: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass
class OwnSpark:
    """`spark` is None until it is needed. Several threads may ask for it: one starts it and the others wait.

    `needs` returns the current needs of the session. SQL settings that change later are applied by the next `get`.
    `tell_start` is called with the master before Spark starts on a cluster, which can take minutes. `early` is a Spark
    that is starting already; it is used if the session needs no more than it has.
    """

    needs: Callable[[], Needs]
    spark: SparkSession | None = None
    tell_start: Callable[[str], None] = lambda master: None
    early: EarlyStart | None = None
    _started: bool = False
    _packages: frozenset[str] = frozenset()
    _settings: dict[str, str] = field(default_factory=dict)  # the session's settings that Spark has
    _before: dict[str, str | None] = field(default_factory=dict)  # their values before
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self) -> SparkSession:
        """The running Spark; starts one if there is none.

        Raises DataError if there is no Java or Spark does not start, and OptionError if a setting has changed that
        Spark reads only when it starts.
        """
        from tvfsql.runtime.cluster.code import prepare
        from tvfsql.runtime.host.failures import translated

        with self._lock:
            if self.spark is None:
                self._start()
            assert self.spark is not None
            if refused := self._apply(self.spark):
                raise OptionError(
                    f"{refused[0]} cannot change while Spark is running",
                    hint=f"SET it before the first query, or start with --conf {refused[0]}=...",
                )
            with translated():
                prepare(self.spark)
            return self.spark

    def with_catalogs(self) -> SparkSession | None:
        """The same; None if it does not run yet and would start without a table in its catalogs."""
        from tvfsql.runtime.cluster.asked import has_catalogs, requested

        runs = self.spark is not None
        if not runs and "pyspark" in sys.modules:
            from tvfsql.runtime.local_spark.start import is_running

            runs = is_running()
        return self.get() if runs or has_catalogs(requested(self.needs().settings)) else None

    def lacks(self) -> list[str]:
        """The packages and settings that a Spark started here lacks, and can only get by a restart."""
        with self._lock:
            if self.spark is None or not self._started:
                return []
            return [*sorted(self.needs().packages - self._packages), *self._apply(self.spark)]

    def restart(self) -> None:
        """Stop Spark and its JVM, and start them with the current needs. Everything registered in Spark is lost."""
        from tvfsql.runtime.local_spark.start import end_java

        with self._lock:
            if self.spark is not None:
                end_java(self.spark)
            self._start()

    def cancel(self) -> None:
        """Cancel the running jobs, without waiting for them to end."""
        from tvfsql.runtime.cluster.code import of_connect

        if self.spark is None:
            return
        if of_connect(self.spark):
            self.spark.interruptAll()
        else:
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

    def _start(self) -> None:
        from tvfsql.runtime.cluster.asked import REMOTE, cluster, requested
        from tvfsql.runtime.host.environment import from_environment
        from tvfsql.runtime.local_spark.start import is_running, start_spark

        self._wait_for_early()
        needs, running = self.needs(), is_running() and self.early is None
        settings = {key: from_environment(value) for key, value in needs.settings.items()}
        if not running and (master := cluster(requested(settings))):
            self.tell_start(master)
        self.spark = start_spark(needs.packages, settings)
        self._started, self._packages, self._before = not running, needs.packages, {}
        # a Spark that ran before, and a server, did not get all of them
        applied = () if running else (REMOTE,) if REMOTE in needs.settings else needs.settings
        self._settings = {key: needs.settings[key] for key in applied}

    def _wait_for_early(self) -> None:
        """Wait for the Spark that is starting already. If the session needs more than it has, stop it."""
        if self.early is None:
            return
        from tvfsql.runtime.local_spark.start import end_java

        started, needs = self.early.take(), self.needs()
        if started is None or needs.packages or needs.settings:
            self.early = None
            if started is not None:
                end_java(started)

    def _apply(self, spark: SparkSession) -> list[str]:
        """Apply the settings that changed since the last call. Returns the keys that a running Spark rejects."""
        from tvfsql.runtime.cluster.asked import is_fixed
        from tvfsql.runtime.host.environment import from_environment

        wanted, refused = self.needs().settings, []
        for key in sorted({*wanted, *self._settings}):
            if wanted.get(key) == self._settings.get(key):
                continue
            before = spark.conf.get(key, None)
            value = from_environment(wanted[key]) if key in wanted else self._before.get(key)
            if value != before:
                try:
                    if is_fixed(key):
                        raise ValueError(key)
                    spark.conf.unset(key) if value is None else spark.conf.set(key, value)
                except Exception:  # Spark and Spark Connect raise different ones
                    refused.append(key)
                    continue
            self._before.setdefault(key, before)
            self._settings = {other: was for other, was in self._settings.items() if other != key}
            if key in wanted:
                self._settings[key] = wanted[key]
        return refused
