"""The files that a micro-batch read, by its progress report and Spark's log of the files of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.backfill import FOLDER as HISTORY
from tvfsql.runtime.stream.progress.counts import Progress, is_own

FILES = "FileStreamSource["
VERSION = "v1"  # of Spark's log of offsets


@dataclass(frozen=True)
class ReadFile:
    """A file that a micro-batch read. `modified`: epoch ms."""

    uri: str
    path: str
    local: bool
    modified: int


def files_read(progress: Progress, checkpoint: Place, control: Place, *, own: bool = False) -> Iterator[ReadFile]:
    """The files of tables that a micro-batch read, or its `own` ones, within the checkpoint."""
    for number, source in enumerate(progress["sources"]):
        description = source["description"]
        if description.startswith(FILES) and is_own(description, control) == own:
            first, last = (_log(source[name]) for name in ("startOffset", "endOffset"))
            yield from _listed(checkpoint / "spark" / "sources" / str(number), first, last)


def planned_files(number: int, checkpoint: Place, control: Place) -> Iterator[ReadFile]:
    """The files of tables that micro-batch `number` is to read, by Spark's logs. None if these have another version."""
    own = tuple(f"{unquote(urlsplit(str(place)).path)}/" for place in (control, checkpoint / HISTORY))
    first, last = (_offsets(checkpoint / "spark" / "offsets" / str(each)) for each in (number - 1, number))
    for source, offset in enumerate(last):
        before = first[source] if source < len(first) else -1
        for file in _listed(checkpoint / "spark" / "sources" / str(source), before, offset):
            if not file.path.startswith(own):
                yield file


def _offsets(entry: Place) -> list[int]:
    """The offsets of the sources in an entry of Spark's log, as entries of their logs of files; -1: none, or another
    kind of source."""
    lines = (entry.read() or "").split("\n")
    return [_log_entry(line) for line in lines[2:]] if lines[:1] == [VERSION] else []


def _log_entry(line: str) -> int:
    try:
        found = json.loads(line)
    except ValueError:
        return -1
    return int(found.get("logOffset", -1)) if isinstance(found, dict) else -1


def own_files(progress: Progress, checkpoint: Place, control: Place) -> tuple[list[str], list[str]]:
    """The files within the checkpoint that a micro-batch read: control messages, and slices of histories."""
    own = [file.uri for file in files_read(progress, checkpoint, control, own=True)]
    messages = [uri for uri in own if uri.endswith(".json")]
    return messages, [uri for uri in own if not uri.endswith(".json")]


def _log(offset: Any) -> int:
    """The log entry that a source's offset names; -1 before the first micro-batch."""
    found = reported_offset(offset)
    return int(found["logOffset"]) if found else -1


def _listed(log: Place, after: int, upto: int) -> Iterator[ReadFile]:
    """The files in log entries `after` + 1 to `upto`. A compact entry repeats all earlier ones, which are skipped."""
    for number in range(after + 1, upto + 1):
        for file in (log / str(number), log / f"{number}.compact"):
            for line in (file.read() or "").splitlines()[1:]:  # the first line is a version
                entry = json.loads(line)
                path = urlsplit(entry["path"])
                if entry["batchId"] == number:
                    yield ReadFile(
                        unquote(entry["path"]), unquote(path.path), path.scheme in ("", "file"), entry["timestamp"]
                    )
