"""Control messages that all sources of a query have read are deleted: Spark lists their folder in each micro-batch.

Each table of a query reads the folder by itself, so one source may have read a message that another one has not. What
counts is the end of a micro-batch: it began after the one before it had ended, and listed what was there by then.
Spark's option `cleanSource` does not wait for the other sources.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.progress.counts import Progress, is_own
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


# Spark's log of the control messages that a stream has read forgets those that are gone.
#
# Spark's source of files adds an entry to its log for each micro-batch with a new file, and merges all entries so far
# into every tenth one: `7`, `8`, `9.compact`, `10` ... Windows in processing time need a message per trigger, so the
# merged entries would have 86,400 files after a day of one trigger per second, and would be written again every ten
# triggers. Spark needs the merged entries only for files that it may list again. So messages that have been deleted
# leave the newest merged entry, and are not in the next ones.
#
# Source: Spark's CompactibleFileStreamLog, which reads the last merged entry and those after it.


COMPACT = ".compact"
RECENT = 100  # entries whose files stay, in any case
SAFE = 4  # entries after a merged one within which it may be replaced: Spark reads it again with the tenth


def forget_messages(progress: Progress, control: Place, messages: Collection[str]) -> bool:
    """Drop the messages that are not in the control folder from Spark's logs of a stream, whose last report this is.
    `messages`: the names of those that are there. A log that cannot be read or written now is left as it is. Returns
    whether all logs have been looked at: there is a moment for it after every tenth micro-batch with a message."""
    done = True
    for number, source in enumerate(progress.get("sources", ())):
        read = reported_offset(source.get("endOffset"))
        if is_own(source["description"], control) and isinstance(read, dict) and "logOffset" in read:
            with suppress(OSError, DataError, ValueError, KeyError):
                log = control.parent / "spark" / "sources" / str(number)
                done = forget(log, int(read["logOffset"]), messages) and done
    return done


def forget(log: Place, newest: int, messages: Collection[str]) -> bool:
    """Drop deleted messages from the newest merged entry of a log whose newest entry is `newest`. False: not now,
    because Spark may read that merged entry soon, or has none yet."""
    names = log.names()
    merged = max((int(name.removesuffix(COMPACT)) for name in names if name.endswith(COMPACT)), default=None)
    if merged is None or not 0 <= newest - merged <= SAFE:
        return False
    name = f"{merged}{COMPACT}"
    version, *lines = (log / name).read().split("\n")  # type: ignore[union-attr]  # it is in the list
    kept = [line for line in lines if line and _stays(json.loads(line), merged - RECENT, messages)]
    if len(kept) < len(lines) // 2:  # it is written anew only if that is worth it
        if f".{name}.crc" in names:
            (log / f".{name}.crc").delete()
        (log / name).write("\n".join([version, *kept]))
    return True


def _stays(entry: Mapping[str, Any], since: int, messages: Collection[str]) -> bool:
    return entry["batchId"] > since or str(entry["path"]).rpartition("/")[2] in messages
