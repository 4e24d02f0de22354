"""INET_ATON and INET_NTOA: IPv4 addresses as numbers."""

from __future__ import annotations

import re

import pyarrow as pa
from pyspark.sql.types import LongType, StringType

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
