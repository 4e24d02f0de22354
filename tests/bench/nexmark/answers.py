"""Whether engines gave the same rows: DuckDB reads their files, and compares rows as multisets."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

NO_FILES = "No files found"


@dataclass(frozen=True)
class Rows:
    """The number of rows, and the sum of their hashes: equal for equal rows in any order."""

    count: int
    hashes: int
    total: int | None = None  # of one column


def read(source: str, columns: list[tuple[str, str]], summed: str = "") -> Rows:
    """The rows of `source`, which is a table function of DuckDB, with these columns and types."""
    rows = ", ".join(f'CAST("{name}" AS {kind})' for name, kind in columns)
    total = f'CAST(sum("{summed}") AS BIGINT)' if summed else "NULL"
    sums = f"count(*), coalesce(sum(CAST(hash(row({rows})) AS HUGEINT)), 0), {total}"
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        try:
            found = duck.execute(f"SELECT {sums} FROM {source}").fetchone()
        except duckdb.IOException as error:
            if NO_FILES not in str(error):
                raise
            return Rows(0, 0, 0 if summed else None)  # an engine without rows writes no file
    assert found is not None
    return Rows(found[0], int(found[1]), found[2])


def only_in(source: str, other: str, columns: list[tuple[str, str]], most: int = 3) -> list[tuple[object, ...]]:
    """Some rows of `source` that are not in `other`, or less often."""
    rows = ", ".join(f'CAST("{name}" AS {kind})' for name, kind in columns)
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        query = f"SELECT {rows} FROM {source} EXCEPT ALL SELECT {rows} FROM {other} LIMIT {most}"
        return duck.execute(query).fetchall()
