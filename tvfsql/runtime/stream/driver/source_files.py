"""The files that a micro-batch read: those that were gone by then, and whether all of them are new.

Spark's file streams list files in one micro-batch's log, and read those that are missing by then as empty, without an
error. Looked at once the micro-batch has ended: what is missing then was missing before, or is deleted while it runs.
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
    """The local files that a micro-batch, by its progress report, was to read and that are not there."""
    return [file.path for file in _read(progress, checkpoint, control) if file.local and not os.path.exists(file.path)]


def came_after(began: float, progress: Mapping[str, Any], checkpoint: Path, control: Path) -> bool:
    """Whether all files that a micro-batch read were written after `began` (epoch seconds)."""
    times = [file.modified for file in _read(progress, checkpoint, control)]
    return bool(times) and min(times) > began * 1000


@dataclass(frozen=True)
class _File:
    """`modified`: epoch ms."""

    path: str
    local: bool
    modified: int


def _read(progress: Mapping[str, Any], checkpoint: Path, control: Path) -> Iterator[_File]:
    """The files of tables that a micro-batch read."""
    for number, source in enumerate(progress["sources"]):
        said = source["description"]
        if said.startswith(FILES) and not said.endswith(f"{control.absolute()}]"):
            first, last = (_log(source[name]) for name in ("startOffset", "endOffset"))
            yield from _listed(checkpoint / "spark" / "sources" / str(number), first, last)


def _log(offset: Any) -> int:
    """The entry of a source's log that an offset names; before the first micro-batch there is none."""
    told = json.loads(offset) if isinstance(offset, str) else offset
    return int(told["logOffset"]) if told else -1


def _listed(log: Path, after: int, upto: int) -> Iterator[_File]:
    """The files in the entries of a source's log; some entries hold all those before them too."""
    for number in range(after + 1, upto + 1):
        for file in (log / str(number), log / f"{number}.compact"):
            if file.exists():
                for line in file.read_text(encoding="utf-8").splitlines()[1:]:  # the first is a version
                    entry = json.loads(line)
                    path = urlsplit(entry["path"])
                    if entry["batchId"] == number:
                        yield _File(unquote(path.path), path.scheme in ("", "file"), entry["timestamp"])
