"""HASH_CODE of a text: the absolute value of Java's hashCode."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import IntegerType

from tvfsql.runtime.functions.of_rows import over_arrays


def _code(text: str | None) -> int | None:
    if text is None:
        return None
    code = 0
    units = text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        code = (31 * code + (units[at] << 8) + units[at + 1]) & 0xFFFFFFFF
    signed = code - 2**32 if code >= 2**31 else code
    return abs(signed) if signed > -(2**31) else signed


text_hash_code = over_arrays(_code, pa.int32(), IntegerType())
