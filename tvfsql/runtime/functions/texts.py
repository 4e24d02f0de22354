"""Functions of strings: IPv4 addresses as numbers, and hash codes."""

from __future__ import annotations

import re

import pyarrow as pa
from pyspark.sql.types import IntegerType, LongType, StringType

from tvfsql.runtime.functions.of_rows import over_arrays


def _number(address: str | None) -> int | None:
    """The number of an address with one to four parts. The last part fills the remaining bytes."""
    if address is None or not re.fullmatch(r"\d+(\.\d+){0,3}", address, re.ASCII):
        return None
    *bytes_, last = map(int, address.split("."))
    if any(part > 255 for part in bytes_) or last >= 256 ** (4 - len(bytes_)):
        return None
    return sum(part << 8 * (3 - i) for i, part in enumerate(bytes_)) + last


def _address(number: int | None) -> str | None:
    if number is None or not 0 <= number < 2**32:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


inet_aton = over_arrays(_number, pa.int64(), LongType())
inet_ntoa = over_arrays(_address, pa.string(), StringType())


# HASH_CODE of a text: the absolute value of Java's hashCode.


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
