"""Names that no table, column or alias may have."""

from __future__ import annotations

import re

# Names of internal columns: those of internal_columns.py, and of the modules that use one alone
RESERVED = frozenset(
    "arrived bad change changes channel closed control done emitted end first hash i in last late lates met namespace "
    "o op opened piece range row rows session slice span start text time timeless timer times version watermark "
    "window".split()
)
# keys, expansions of grouping sets, the order of changes, parameters of lambdas
NUMBERED = re.compile(r"\$(?:\d+|e\d*|arrival_.*|\$.*)", re.DOTALL)


def refused(name: str) -> str | None:
    """Return why a name cannot be used; None if it can. Other names may begin with $, such as Confluent's $rowtime."""
    if "${" in name:
        return "Spark would replace ${...} in this name"
    if is_internal(name):
        return f"the name {name} is reserved"
    return None


def is_internal(name: str) -> bool:
    """Whether an internal column has that name."""
    lower = name.lower()
    return lower.startswith("$") and (lower[1:] in RESERVED or NUMBERED.fullmatch(lower) is not None)
