"""The files that a micro-batch read: which of them were missing, and whether all are new.

Spark's file streams list the files of a micro-batch in a log, and read missing ones as empty, without an error. We look
after the micro-batch has ended. So a file that is missing then was missing before, or was deleted during the
micro-batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

FILES = "FileStreamSource["


def missing_files(progress: Mapping[str, Any], checkpoint: Path, control: Path) -> list[str]:
    """The local files that a micro-batch should have read, by its progress report, and that do not exist."""
    return [file.path for file in _read(progress, checkpoint, control) if file.local and not os.path.exists(file.path)]


def came_after(began: float, progress: Mapping[str, Any], checkpoint: Path, control: Path) -> bool:
    """Whether all files that a micro-batch read were written after `began` (epoch seconds). False if it read none."""
    times = [file.modified for file in _read(progress, checkpoint, control)]
    return bool(times) and min(times) > began * 1000


@dataclass(frozen=True)
class _File:
    """A file that a micro-batch read. `modified`: epoch ms."""

    path: str
    local: bool
    modified: int


def _read(progress: Mapping[str, Any], checkpoint: Path, control: Path) -> Iterator[_File]:
    """The files that a micro-batch read, without those of the control channel."""
    for number, source in enumerate(progress["sources"]):
        description = source["description"]
        if description.startswith(FILES) and not description.endswith(f"{control.absolute()}]"):
            first, last = (_log(source[name]) for name in ("startOffset", "endOffset"))
            yield from _listed(checkpoint / "spark" / "sources" / str(number), first, last)


def _log(offset: Any) -> int:
    """The log entry that a source's offset names; -1 before the first micro-batch."""
    offset_json = json.loads(offset) if isinstance(offset, str) else offset
    return int(offset_json["logOffset"]) if offset_json else -1


def _listed(log: Path, after: int, upto: int) -> Iterator[_File]:
    """The files in log entries `after` + 1 to `upto`. A compact entry repeats all earlier ones, which are skipped."""
    for number in range(after + 1, upto + 1):
        for file in (log / str(number), log / f"{number}.compact"):
            if file.exists():
                for line in file.read_text(encoding="utf-8").splitlines()[1:]:  # the first line is a version
                    entry = json.loads(line)
                    path = urlsplit(entry["path"])
                    if entry["batchId"] == number:
                        yield _File(unquote(path.path), path.scheme in ("", "file"), entry["timestamp"])
