"""Starts Spark in the background, while a script is still being read: the JVM needs a second before it can be used."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tvfsql.runtime.cluster.asked import REMOTE, cluster, requested
from tvfsql.runtime.local_spark.small_input import is_small

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# words of scripts that may ask for packages or settings, with which Spark must start
ASKS_FOR_MORE = re.compile(r"spark\.|kafka|avro|protobuf|jdbc|iceberg|delta", re.IGNORECASE)


class EarlyStart:
    """A local Spark without packages and settings of the user's, which a thread starts. For `small` inputs its Java
    only has its fast compiler.

    An error is ignored: it occurs again, and is reported, when Spark is needed.
    """

    def __init__(self, small: bool = False) -> None:
        self._small = small
        self.spark: SparkSession | None = None
        self._thread = threading.Thread(target=self._start, name="tvfsql-early-start", daemon=True)
        self._thread.start()

    def take(self) -> SparkSession | None:
        """The Spark that has been started; None if it could not. Waits for it."""
        self._thread.join()
        return self.spark

    def abandon(self) -> None:
        """Do not wait for a Java that nobody needs."""
        if self._thread.is_alive():
            from tvfsql.runtime.local_spark.spark_home import kill_launched

            kill_launched()

    def _start(self) -> None:
        with suppress(BaseException):
            from tvfsql.runtime.local_spark.start import FAST_COMPILER, is_running, start_spark

            if not is_running():
                self.spark = start_spark(java_options=FAST_COMPILER if self._small else "")


def start_early(scripts: Sequence[tuple[str, Path]]) -> EarlyStart | None:
    """Start Spark for scripts, each with the folder of its relative paths. None if they may need a cluster, a server,
    packages or settings.
    """
    asked = requested()
    if REMOTE in asked or cluster(asked) or any(ASKS_FOR_MORE.search(text) for text, _ in scripts):
        return None
    return EarlyStart(is_small(scripts))
