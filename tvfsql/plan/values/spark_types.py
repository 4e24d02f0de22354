"""Reads the types that Spark writes as text, such as those of `DataFrame.dtypes`."""

from __future__ import annotations

import re

from tvfsql.plan.values.names import bare
from tvfsql.plan.values.types import (
    BYTES,
    FLOATS,
    INTEGERS,
    INTERVAL_MONTHS,
    INTERVAL_SECONDS,
    STRING,
    TIMES,
    TIMESTAMP_LTZ,
    UNKNOWN,
    Array,
    Char,
    Decimal,
    Map,
    Row,
    Simple,
    SqlType,
    Time,
    VarChar,
)

_PLAIN = {kind.spark: kind for kind in (*INTEGERS, *FLOATS, *TIMES, STRING, BYTES, INTERVAL_MONTHS, INTERVAL_SECONDS)}
_PLAIN |= {"": UNKNOWN, "timestamp_ltz": TIMESTAMP_LTZ}


def of_spark(text: str) -> SqlType:
    """The type that a text of Spark's stands for; UNKNOWN for none."""
    found = re.fullmatch(r"([\w ]*)(?:\((.*)\)|<(.*)>)?", text.strip(), re.DOTALL)
    if found is None:
        return Simple(text.strip().lower())
    root, numbers, inner = found[1].strip().lower(), map(int, re.findall(r"\d+", found[2] or "")), found[3] or ""
    match root:
        case "decimal":
            return Decimal(*numbers)
        case "time":
            return Time(*numbers)
        case "char":
            return Char(*numbers)
        case "varchar":
            return VarChar(*numbers)
        case "array":
            return Array(of_spark(inner))
        case "map":
            return Map(*map(of_spark, _split(inner, ",")))
        case "struct":
            named = (_split(part, ":", 1) for part in _split(inner, ",") if part)
            return Row(tuple((bare(name.strip()), of_spark(kind)) for name, kind in named))
    return _PLAIN.get(root) or Simple(root)


def _split(text: str, sign: str, most: int = -1) -> list[str]:
    """Split a text where the sign is outside all brackets and names in backticks."""
    parts, depth = [""], 0
    for word in re.findall(r"`(?:``|[^`])*`|.", text, re.DOTALL):
        depth += (word in "<(") - (word in ">)")
        if word == sign and depth == 0 and len(parts) != most + 1:
            parts.append("")
        else:
            parts[-1] += word
    return parts
