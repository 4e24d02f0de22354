"""Types as Spark's DDL spells them, in lower case: `bigint`, `decimal(10,2)`, `timestamp_ntz`.

An empty string is a type that only Spark knows; nothing here guesses at it.
"""

from __future__ import annotations

import re

SqlType = str
UNKNOWN: SqlType = ""

INTEGERS = ("tinyint", "smallint", "int", "bigint")
FLOATS = ("float", "double")
TIMES = ("timestamp_ntz", "timestamp")
ORDER = {name: rank for rank, name in enumerate(INTEGERS)}


def is_integer(kind: SqlType) -> bool:
    return kind in INTEGERS


def is_float(kind: SqlType) -> bool:
    return kind in FLOATS


def is_decimal(kind: SqlType) -> bool:
    return kind.startswith("decimal")


def is_number(kind: SqlType) -> bool:
    return is_integer(kind) or is_float(kind) or is_decimal(kind)


def is_time(kind: SqlType) -> bool:
    """Whether a window may run over a column of this type."""
    return kind in TIMES


def is_orderable(kind: SqlType) -> bool:
    return not kind.startswith("map<")


def scale_of(kind: SqlType) -> int:
    """Digits after the point of a decimal type."""
    found = re.fullmatch(r"decimal\(\d+,(\d+)\)", kind)
    assert found, kind
    return int(found.group(1))


def shown(kind: SqlType) -> str:
    """The type as a Flink user writes it."""
    flink = {"timestamp_ntz": "TIMESTAMP(3)", "timestamp": "TIMESTAMP_LTZ(3)", UNKNOWN: "(known to Spark)"}
    return flink.get(kind) or kind.upper().replace(",", ", ").replace(":", " ")
