"""Compares the columns that a table declares with those of its files, which Spark does not: it reads NULL."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator, Mapping

from tvfsql.errors import nearest

LINES = 100  # of a file of JSON that are looked at
FILES = 5  # that are looked at
ALIKE = 0.7
# Of types that a table may declare, with types of Parquet: from which power of 2 on values differ, and what has room.
UNSIGNED = {("int", "uint32"): (31, "BIGINT"), ("bigint", "uint64"): (63, "DECIMAL(20, 0)")}


def columns_not_in_files(path: str, form: str, declared: Iterable[str]) -> Iterator[str]:
    """Sentences about declared columns that none of a few local files has.

    Parquet says which columns a file has. A field of JSON may be missing in the first lines; it is only told if they
    have one with a similar name, which the table does not declare.
    """
    names = [*declared]
    found = _columns(path, form)
    if not found:
        return
    have = {name.lower() for name in found}
    others = sorted(name for name in found if name.lower() not in {each.lower() for each in names})
    for name in names:
        close = nearest(name, others, ALIKE)
        if name.lower() not in have and (close or form == "parquet"):
            yield f"no file of {path} has a column {name}, which is NULL" + (f"; there is {close}" if close else "")


def columns_misread(path: str, declared: Mapping[str, str]) -> Iterator[str]:
    """Sentences about columns of a few local Parquet files that Spark takes for what the table declares (names, with
    their types), although not every value fits: unsigned numbers, of which the largest become negative, and times as
    their bare numbers.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    told = set[str]()
    for file in local_files(path)[:FILES]:
        try:
            schema = pq.read_schema(file)
        except (OSError, ValueError):
            return
        of_file = {field.name.lower(): field.type for field in schema}
        for name, kind in declared.items():
            found = of_file.get(name.lower())
            if name in told or found is None:
                continue
            if (kind, str(found)) in UNSIGNED:
                told.add(name)
                power, fits = UNSIGNED[kind, str(found)]
                values = f"values from 2^{power} on are read as negative, but not as {fits}"
                yield f"column {name} of {path} has no sign: {values}"
            elif kind == "bigint" and pa.types.is_timestamp(found):
                told.add(name)
                unit = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}.get(found.unit, "nanoseconds")
                yield f"column {name} of {path} is a time, which BIGINT reads as a number of {unit}"


def _columns(path: str, form: str) -> set[str]:
    files = local_files(path)
    found: set[str] = set()
    for file in files[:FILES]:
        try:
            found |= _of_parquet(file) if form == "parquet" else _of_json(file)
        except (OSError, ValueError):  # pyarrow's errors are ValueErrors; the query tells what is wrong with the file
            return set()
    return found


def local_files(path: str) -> list[str]:
    """The files of a folder, or those that a path or pattern names, in order; none on other file systems."""
    path = path.removeprefix("file://")
    if os.path.isdir(path):
        inside = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        return sorted(file for file in inside if not os.path.basename(file).startswith(("_", ".")))
    return sorted(file for file in glob.glob(path) if os.path.isfile(file))


def _of_parquet(file: str) -> set[str]:
    import pyarrow.parquet as pq

    return {*pq.read_schema(file).names}


def _of_json(file: str) -> set[str]:
    names: set[str] = set()
    with open(file, encoding="utf-8-sig") as lines:
        for line, _ in zip(lines, range(LINES), strict=False):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            names |= row.keys() if isinstance(row, dict) else set()
    return names
