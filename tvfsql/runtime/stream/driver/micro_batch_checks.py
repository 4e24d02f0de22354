"""The checks around each micro-batch of a stream: its source files are there, and so is its checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace, Place
from tvfsql.runtime.stream.driver.identity import has_id, refuse_moved
from tvfsql.runtime.stream.driver.source_files import missing_files, refuse_missing, refuse_unread
from tvfsql.runtime.stream.progress.counts import MISSING, StreamCounts
from tvfsql.runtime.stream.progress.files_read import files_read, planned_files

FAR = 5.0  # seconds between two looks whether a checkpoint that is not on a disk is still there


@dataclass
class MicroBatchChecks:
    """The checks of one stream with the id `identity`. `place` is the checkpoint that it was given; None: it has a
    temporary one. Missing files are counted in `counts` if `counts_missing` is set. With `deletes_files` the stream
    deletes what it has read, so they are not looked for."""

    place: Place | None
    identity: str
    counts: StreamCounts
    counts_missing: bool
    deletes_files: bool
    spark: Callable[[], SparkSession]
    refused: DataError | None = None  # why a micro-batch was not written
    identified: bool = False  # whether the checkpoint had the id of the stream when it started
    checked: int = -1  # the last micro-batch whose files were there before its rows were written
    seen: float = 0.0  # when the checkpoint was last seen at its place

    def start(self, checkpoint: Place) -> None:
        """Raises DataError if the id of the checkpoint cannot be read, and OSError."""
        self.identified = has_id(checkpoint, self.identity)

    def before(self, checkpoint: Place, number: int) -> None:
        """Raise DataError before the rows of a micro-batch are written, if it should have read a file that is gone, or
        if the checkpoint is. Called by Spark's thread."""
        self.refuse_moved()
        if self.checked == number or self.counts_missing or self.deletes_files:
            return
        files = planned_files(number, checkpoint, checkpoint / "control")
        if missing := missing_files(files, self.spark):
            self.refused = refuse_unread(missing)
            raise self.refused
        self.checked = number

    def after(self, progress: StreamingQueryProgress, control: Place) -> None:
        """Count the files of a micro-batch that were deleted before they could be read. Raises DataError unless the
        stream may count them."""
        if self.checked == progress["batchId"] or self.deletes_files:
            return
        missing = missing_files(files_read(progress, control.parent, control), self.spark)
        if missing and not self.counts_missing:
            raise refuse_missing(control.parent, missing)
        self.counts.added[MISSING] += len(missing)

    def refuse_moved(self, cause: Exception | None = None) -> None:
        """Raise DataError if the checkpoint was moved away. Spark makes its folders anew, and would go on there."""
        if self.place is None or not self.identified:
            return
        now = time.monotonic()
        if cause is None and not isinstance(self.place, LocalPlace) and now < self.seen + FAR:
            return
        self.seen = now
        refuse_moved(self.place, self.identity, cause)
