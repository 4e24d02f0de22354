"""The error for rows that would replace each other in an unknown order."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.errors import DataError


def same_key(table: str, keys: Sequence[str]) -> DataError:
    """Return the error for two rows of one write that have the same primary key and no order."""
    key = ", ".join(keys)
    return DataError(
        f"two rows for table {table} have the same primary key ({key}), and which one stays is unknown",
        hint=f"GROUP BY {key}, or ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY ...) = 1",
    )
