"""Flink's implicit casts, with which INSERT stores the values of a query.

Source: LogicalTypeCasts.supportsImplicitCast of Flink 2.3. Lengths and numbers of digits do not matter.
"""

from __future__ import annotations

from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT
from tvfsql.plan.values.types import FLOATS, INTEGERS, UNKNOWN, SqlType, parts_of

NUMBERS = (*INTEGERS, "decimal", *FLOATS)
# by type of the column: the types of the values that it takes
FROM: dict[str, tuple[str, ...]] = {
    **{kind: INTEGERS[: rank + 1] for rank, kind in enumerate(INTEGERS)},
    "decimal": NUMBERS,
    "float": (*INTEGERS, "decimal", "float"),
    "double": NUMBERS,
    "date": ("date", CLOCK),
    "time": ("time", CLOCK),
    CLOCK: (CLOCK, INSTANT),
    INSTANT: (INSTANT, CLOCK),
    **{kind: (kind,) for kind in ("boolean", "string", "binary", "array", "map", "struct")},
}
TEXTS = ("char", "varchar")  # in tables of Spark's catalogs
NULL = "void"


def is_implicit(source: SqlType, target: SqlType) -> bool:
    """Whether a column of type `target` takes values of type `source`; True if one of them is not known here."""
    value, wanted = _outer(source), _outer(target)
    if value in (UNKNOWN, NULL) or wanted not in FROM:
        return True
    given, parts = parts_of(source), parts_of(target)
    return value in FROM[wanted] and len(given) == len(parts) and all(map(is_implicit, given, parts))


def _outer(kind: SqlType) -> str:
    name = kind.partition("<")[0].partition("(")[0]
    return "string" if name in TEXTS else name
