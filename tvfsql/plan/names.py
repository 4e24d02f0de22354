"""Names that no table, column or alias may have."""

from __future__ import annotations


def refused(name: str) -> str | None:
    """Return why a name cannot be used; None if it can."""
    if "${" in name:
        return "Spark replaces ${...} in the text of a query, in names too"
    if name.startswith("$"):
        return "names that begin with a $ are those of tvfsql's own columns"
    return None
