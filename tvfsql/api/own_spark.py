"""The Spark of a session: the one that it was given, or one that starts when it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvfsql.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Needs:
    """What a session needs of its Spark: Spark's own packages, and the settings of the command line and of SET."""

    packages: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass
class OwnSpark:
    """`spark` is None until it is needed. Several threads may ask for it: one starts it, the others wait.

    `needs` tells what the session needs now. SQL settings that come later are set when Spark is asked for.
    """

    needs: Callable[[], Needs]
    spark: SparkSession | None = None
    _started: bool = False
    _packages: frozenset[str] = frozenset()
    _settings: dict[str, str] = field(default_factory=dict)  # those of the session that Spark has
    _before: dict[str, str | None] = field(default_factory=dict)  # what they were
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self) -> SparkSession:
        """The running Spark; starts one if there is none. Raises DataError without Java or if it does not start,
        OptionError if a setting has changed that Spark only takes at its start."""
        from tvfsql.runtime.cluster.code import prepare
        from tvfsql.runtime.host.failures import translated

        with self._lock:
            if self.spark is None:
                self._start()
            assert self.spark is not None
            if refused := self._apply(self.spark):
                raise OptionError(
                    f"{refused[0]} is fixed: Spark runs already",
                    hint=f"SET it before the first query, or start with --conf {refused[0]}=...",
                )
            with translated():
                prepare(self.spark)
            return self.spark

    def lacks(self) -> list[str]:
        """The packages and settings without which it was started here, and that it takes only at its start."""
        with self._lock:
            if self.spark is None or not self._started:
                return []
            return [*sorted(self.needs().packages - self._packages), *self._apply(self.spark)]

    def restart(self) -> None:
        """End Spark and its Java, and start them as they are needed now. What is registered in Spark is lost."""
        from tvfsql.runtime.local_spark.start import end_java

        with self._lock:
            if self.spark is not None:
                end_java(self.spark)
            self._start()

    def cancel(self) -> None:
        """Cancel the jobs that run now. Does not wait for their end."""
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
        from tvfsql.runtime.cluster.asked import REMOTE
        from tvfsql.runtime.host.environment import from_environment
        from tvfsql.runtime.local_spark.start import is_running, start_spark

        needs, running = self.needs(), is_running()
        settings = {key: from_environment(value) for key, value in needs.settings.items()}
        self.spark = start_spark(needs.packages, settings)
        self._started, self._packages, self._before = not running, needs.packages, {}
        # one that ran before, and a server, have not been told all of them
        told = () if running else (REMOTE,) if REMOTE in needs.settings else needs.settings
        self._settings = {key: needs.settings[key] for key in told}

    def _apply(self, spark: SparkSession) -> list[str]:
        """Give a Spark that runs what has been set and reset since. Returns the keys that it does not take."""
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
                except Exception:  # of Spark's, by its way of running
                    refused.append(key)
                    continue
            self._before.setdefault(key, before)
            self._settings = {other: was for other, was in self._settings.items() if other != key}
            if key in wanted:
                self._settings[key] = wanted[key]
        return refused
