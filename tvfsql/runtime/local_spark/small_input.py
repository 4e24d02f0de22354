"""Whether scripts read so little that Java's fast compiler alone is the right one.

With `-XX:TieredStopAtLevel=1`, `tvfsql run` of a few rows takes a quarter less time, and a query over 180 MB of CSV a
fifth more; they take the same at about 60 MB (docs/dev/benchmarks.md). The answer only changes how long a script takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

SMALL = 16 << 20  # bytes of text
PACKED = 8  # how many bytes of text a byte of Parquet, ORC, Avro or gzip may hold
TEXT_FILES = frozenset(("", ".csv", ".json", ".jsonl", ".ndjson", ".txt"))
FILES = 200  # more than these are not counted
WITHOUT_INPUT = frozenset(("filesystem", "print", "blackhole"))
TABLE = re.compile(r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+)?TABLE\b", re.IGNORECASE)
OPTION = re.compile(r"'(connector|path)'\s*=\s*'([^']*)'", re.IGNORECASE)
UNCERTAIN = re.compile(r"[*?\[\]{}$:]")  # patterns, variables of the environment, URIs


def is_small(scripts: Iterable[tuple[str, Path]]) -> bool:
    """Whether scripts, each with the folder of its relative paths, read at most `SMALL` bytes from local files, and
    nothing else. False if their text does not tell.
    """
    size = 0
    for text, folder in scripts:
        options = [(key.lower(), value) for key, value in OPTION.findall(text)]
        connectors = [value for key, value in options if key == "connector"]
        if len(connectors) != len(TABLE.findall(text)) or not WITHOUT_INPUT.issuperset(connectors):
            return False
        for key, path in options:
            if key == "path":
                if UNCERTAIN.search(path):
                    return False
                size += _size(folder / path)
    return size <= SMALL


def _size(path: Path) -> int:
    """The bytes of a file, or of the files below a folder, as text; 0 if there is none, as of a sink's folder."""
    files = list(islice(_files(path), FILES + 1))
    if len(files) > FILES:
        return SMALL + 1
    return sum(file.stat().st_size * (1 if file.suffix in TEXT_FILES else PACKED) for file in files)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file())
    elif path.exists():
        yield path
