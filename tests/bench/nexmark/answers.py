"""Whether engines gave the same rows: DuckDB reads their files, and compares rows as multisets."""

from __future__ import annotations

from collections.abc import Sequence
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
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        return duck.execute(f"{_difference(source, other, columns)} LIMIT {most}").fetchall()


def count_only_in(source: str, other: str, columns: list[tuple[str, str]]) -> int:
    """The number of all such rows."""
    with duckdb.connect() as duck:
        duck.execute("SET TimeZone = 'UTC'")
        found = duck.execute(f"SELECT count(*) FROM ({_difference(source, other, columns)})").fetchone()
    assert found is not None
    return int(found[0])


def _difference(source: str, other: str, columns: list[tuple[str, str]]) -> str:
    rows = ", ".join(f'CAST("{name}" AS {kind})' for name, kind in columns)
    return f"SELECT {rows} FROM {source} EXCEPT ALL SELECT {rows} FROM {other}"


def folded(files: str, columns: list[tuple[str, str]]) -> str:
    """The rows that remain after all changes in files of debezium-json, as a source: `read` fails if a row was deleted
    more often than inserted."""
    kinds = ", ".join(f'"{name}" {kind}' for name, kind in columns)
    names = {"before": f"STRUCT({kinds})", "after": f"STRUCT({kinds})"}
    messages = f"read_json('{files}', format = 'newline_delimited', columns = {names})"
    signed = " UNION ALL ".join(
        f"SELECT {side} AS change, {sign} AS sign FROM {messages} WHERE {side} IS NOT NULL"
        for side, sign in (("before", -1), ("after", 1))
    )
    summed = f"SELECT change, sum(sign) AS copies FROM ({signed}) GROUP BY change HAVING copies <> 0"
    copies = "CASE WHEN copies < 0 THEN error('deleted more often than inserted') ELSE copies END"
    return f"(SELECT unnest(change), unnest(range({copies}::BIGINT)) FROM ({summed}))"


def last(files: str, key: Sequence[str], order: str) -> str:
    """The last row of each key, as a source."""
    keys = ", ".join(f'"{name}"' for name in key)
    newest = f'row_number() OVER (PARTITION BY {keys} ORDER BY "{order}" DESC) = 1'
    return f"(SELECT * FROM read_parquet('{files}') QUALIFY {newest})"
