"""The place at which a stream starts to read its tables (`tvfsql.start-mode`). Source: docs/streams.md#start-mode."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.catalog import Table
from tvfsql.errors import UnsupportedError
from tvfsql.plan.start_mode import Place, StartMode


def started(table: Table, mode: StartMode) -> Table:
    """Return a table that a new stream reads from the place of `mode` on. Raises UnsupportedError if it cannot."""
    if mode.place in (Place.BEGINNING, None):
        return table
    made = table.connector.started(mode) if table.connector is not None else None
    if table.history is not None or made is None:
        kind = "it has a history" if table.history is not None else "only Kafka has times to start at"
        raise UnsupportedError(
            f"tvfsql.start-mode is {mode}, but table {table.name} can only be read from its beginning: {kind}",
            hint="SET 'tvfsql.start-mode' = 'RESUME_OR_FROM_BEGINNING', and a condition on the time column",
        )
    return replace(table, connector=made)
