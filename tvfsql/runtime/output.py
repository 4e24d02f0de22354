"""The `print` connector."""

from __future__ import annotations

from pyspark.sql import DataFrame


def print_rows(rows: DataFrame) -> None:
    """Print each row on stdout as Flink's print connector does: `+I[first, second, ...]`, NULL as null."""
    for row in rows.toLocalIterator():
        print(f"+I[{', '.join('null' if value is None else str(value) for value in row)}]")
