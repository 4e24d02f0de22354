"""Control messages that all sources of a query have read are deleted: Spark lists their folder in each micro-batch.

Each table of a query reads the folder by itself, so one source may have read a message that another one has not. What
counts is the end of a micro-batch: it began after the one before it had ended, and listed what was there by then.
Spark's option `cleanSource` does not wait for the other sources.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from pyspark.sql.streaming.query import StreamingQuery

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.checkpoint.control_log import forget_messages
from tvfsql.runtime.stream.time.control_channel import messages

KEPT = 100  # micro-batches for which a message is kept: Spark keeps the offsets of as many
AT_ONCE = 10  # messages that are deleted in one look, which must not take long


class ReadMessages:
    """Deletes the messages of one run of a query, all but those that announce the `end` of its input."""

    def __init__(self, control: Place, end: Collection[str]) -> None:
        self.control, self.end = control, end
        self.listed: list[str] = []  # the messages that come next
        self.forget = KEPT  # the micro-batch after which Spark's log forgets those that have been deleted
        self.until = KEPT  # the micro-batch after which they are deleted, or listed if there are none

    def look(self, query: StreamingQuery, seen: int | None) -> None:
        """Delete messages, if it is time. `seen` is the last micro-batch that has ended. Messages that cannot be listed
        or deleted do no harm, and are tried again."""
        if seen is None:
            return
        if seen >= self.forget and (last := query.lastProgress) is not None:
            with suppress(OSError, DataError):
                if forget_messages(last, self.control, {*messages(self.control)}):
                    self.forget = seen + KEPT
        if seen < self.until:
            return
        now, self.listed = self.listed[:AT_ONCE], self.listed[AT_ONCE:]
        for name in now:
            with suppress(OSError, DataError):
                (self.control / name).delete()
        if not self.listed:
            with suppress(OSError, DataError):
                self.listed = [name for name in messages(self.control) if name not in self.end]
            last = query.lastProgress  # asked after the folder: the micro-batch after the next one lists all of them
            self.until = (seen if last is None else last["batchId"]) + KEPT
