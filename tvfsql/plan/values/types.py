"""Types as Spark's DDL spells them, in lower case: `bigint`, `decimal(10,2)`, `timestamp_ntz`.

The empty string is a type that only Spark knows; no function here guesses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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
    return "map<" not in kind and kind != "variant"


def scale_of(kind: SqlType) -> int:
    """The number of digits after the point of a decimal type."""
    return digits_of(kind)[1]


def digits_of(kind: SqlType) -> tuple[int, int]:
    """The number of digits of a decimal type, and how many of them are after the point."""
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", kind)
    assert found, kind
    return int(found.group(1)), int(found.group(2))


def split_kinds(kinds: SqlType) -> list[str]:
    """Split types at the commas that are outside all brackets and names in backticks."""
    parts, depth = [""], 0
    for word in re.findall(r"`(?:``|[^`])*`|.", kinds, re.DOTALL):
        depth += (word in "<(") - (word in ">)")
        if word == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += word
    return [part.strip() for part in parts]


def fields(kind: SqlType) -> dict[str, SqlType]:
    """The types of a struct's fields by name; {} for other types."""
    if not kind.startswith("struct<"):
        return {}
    named = (re.fullmatch(r"(`(?:``|[^`])*`|\w+):(.*)", part, re.DOTALL) for part in split_kinds(kind[7:-1]))
    return {found[1].strip("`").replace("``", "`"): found[2] for found in named if found}


def field_type(kind: SqlType, name: str) -> SqlType | None:
    """The type of a struct's field of that name, whatever its case; None if the struct lacks it."""
    return next((of for field, of in fields(kind).items() if field.lower() == name.lower()), None)


def parts_of(kind: SqlType) -> list[SqlType]:
    """The types inside an array, map or struct; [] for other types."""
    if kind.startswith("struct<"):
        return [*fields(kind).values()]
    inside = kind.partition("<")[2].removesuffix(">")
    return split_kinds(inside) if inside else []


def ddl(kind: SqlType) -> str:
    """The type in upper case; the field names of a struct keep their case."""
    return _with_words(kind, str.upper)


def shown(kind: SqlType) -> str:
    """The type in Flink's spelling."""
    flink = {"timestamp_ntz": "TIMESTAMP(3)", "timestamp": "TIMESTAMP_LTZ(3)", "struct": "ROW"}
    text = _with_words(kind, lambda word: flink.get(word, word.upper()))
    return re.sub(r"(`(?:``|[^`])*`|\w+):", r"\1 ", text).replace(",", ", ") or "(known to Spark)"


def _with_words(kind: SqlType, change: Callable[[str], str]) -> str:
    """Return the type with `change` applied to each word that is not a field name."""
    return re.sub(
        r"(?:`(?:``|[^`])*`|\w+):|[a-z]\w*",
        lambda found: found[0] if found[0].endswith(":") else change(found[0]),
        kind,
    )
