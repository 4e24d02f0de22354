"""Names that no table, column or alias may have."""

from __future__ import annotations


def refused(name: str) -> str | None:
    """Return why a name cannot be used; None if it can."""
    if "${" in name:
        return "Spark would replace ${...} in this name"
    if name.startswith("$"):
        return "names that begin with $ are reserved"
    return None
