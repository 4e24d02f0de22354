"""The output of the `print` connector."""

from __future__ import annotations

from pyspark.sql import DataFrame

from tvfsql.plan.tables.internal_columns import OP
from tvfsql.runtime.frames.shown_rows import shown_rows
from tvfsql.runtime.host.input_checks import check_input
from tvfsql.runtime.host.row_formats import cells


def print_rows(rows: DataFrame, zone: str = "UTC") -> None:
    """Print each row to stdout as Flink's print connector does: `+I[first, second, ...]`, NULL as null. Other values
    are as `tvfsql run` shows them, with instants on the clock of `zone`."""
    check_input(rows)
    at = rows.columns.index(OP) if OP in rows.columns else None
    for row in cells([kind for _, kind in rows.dtypes], shown_rows(rows, zone)):
        shown = ("null" if value is None else value for place, value in enumerate(row) if place != at)
        print(f"{'+I' if at is None else row[at]}[{', '.join(shown)}]")
