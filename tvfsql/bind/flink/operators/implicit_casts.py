"""Flink's implicit casts, with which INSERT stores the values of a query.

Source: LogicalTypeCasts.supportsImplicitCast of Flink 2.3. Lengths and numbers of digits do not matter.
"""

from __future__ import annotations

from tvfsql.plan.values.types import INTEGERS, NULL, UNKNOWN, SqlType

WHOLE = tuple(kind.root for kind in INTEGERS)
NUMBERS = (*WHOLE, "decimal", "float", "double")
CLOCK, INSTANT = "timestamp_ntz", "timestamp"
# by root of the column's type: the roots of the values that it takes
FROM: dict[str, tuple[str, ...]] = {
    **{root: WHOLE[: rank + 1] for rank, root in enumerate(WHOLE)},
    "decimal": NUMBERS,
    "float": (*WHOLE, "decimal", "float"),
    "double": NUMBERS,
    "date": ("date", CLOCK),
    "time": ("time", CLOCK),
    CLOCK: (CLOCK, INSTANT),
    INSTANT: (INSTANT, CLOCK),
    **{kind: (kind,) for kind in ("boolean", "string", "binary", "array", "map", "struct")},
}


def is_implicit(source: SqlType, target: SqlType) -> bool:
    """Whether a column of type `target` takes values of type `source`; True if one of them is not known here."""
    if source in (UNKNOWN, NULL) or target.root not in FROM:
        return True
    given, parts = source.parts, target.parts
    return source.root in FROM[target.root] and len(given) == len(parts) and all(map(is_implicit, given, parts))
