"""The output of the `print` connector."""

from __future__ import annotations

from pyspark.sql import DataFrame

from tvfsql.plan.tables.internal_columns import OP


def print_rows(rows: DataFrame) -> None:
    """Print each row to stdout as Flink's print connector does: `+I[first, second, ...]`, NULL as null."""
    at = rows.columns.index(OP) if OP in rows.columns else None
    for row in rows.toLocalIterator():
        shown = ("null" if value is None else str(value) for place, value in enumerate(row) if place != at)
        print(f"{'+I' if at is None else row[at]}[{', '.join(shown)}]")
