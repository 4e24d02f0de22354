"""Spark's log of the control messages that a stream has read forgets those that are gone.

Spark's source of files adds an entry to its log for each micro-batch with a new file, and merges all entries so far
into every tenth one: `7`, `8`, `9.compact`, `10` ... Windows in processing time need a message per trigger, so the
merged entries would have 86,400 files after a day of one trigger per second, and would be written again every ten
triggers. Spark needs the merged entries only for files that it may list again. So messages that have been deleted leave
the newest merged entry, and are not in the next ones.

Source: Spark's CompactibleFileStreamLog, which reads the last merged entry and those after it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.progress.counts import is_own

COMPACT = ".compact"
RECENT = 100  # entries whose files stay, in any case
SAFE = 4  # entries after a merged one within which it may be replaced: Spark reads it again with the tenth


def forget_messages(progress: Mapping[str, Any], control: Place, messages: Collection[str]) -> bool:
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
