"""Times as Java reads them: patterns that consist of numbers only, lenient dates, and names of zones."""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StringType, TimestampNTZType

from tvfsql.plan.values.zone_names import known_zone
from tvfsql.runtime.functions.of_rows import arrow_function, over_arrays
from tvfsql.runtime.functions.time_patterns import Piece, pieces

# Texts to times as Java's SimpleDateFormat reads them: text after the pattern is ignored, and the 40th of a month is a
# day of the next month.


MICROS = {"H": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "S": 1_000}
FIRST = {"y": 1970, "M": 1, "d": 1}


def _regex(parts: tuple[Piece, ...]) -> str:
    """A regular expression for a pattern. A number takes all digits that follow, or if another number comes next, as
    many characters as it has letters."""
    made = "^"
    for i, piece in enumerate(parts):
        count = len(piece.text)
        if not piece.is_field:
            made += re.escape(piece.text)
        elif i + 1 < len(parts) and parts[i + 1].is_field:
            made += (
                f"(?P<{piece.letter}>-[0-9]{{{count - 1}}}|[0-9]{{{count}}})"
                if count > 1
                else f"(?P<{piece.letter}>[0-9])"
            )
        else:
            made += f"[ \\t]*(?P<{piece.letter}>-?[0-9]{{1,9}})"
    return made


def _read(texts: pa.Array, patterns: pa.Array) -> pa.Array:
    """The wall-clock time at the start of each text; NULL if there is none."""
    parts = pieces(patterns[0].as_py()) if len(patterns) else None
    if parts is None:
        return pa.nulls(len(texts), pa.timestamp("us"))
    found = pc.extract_regex(texts.cast(pa.string()), _regex(parts))
    missing = pc.is_null(found).to_numpy(zero_copy_only=False)

    def number(letter: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        if not any(piece.letter == letter for piece in parts):
            return np.full(len(texts), FIRST.get(letter, 0), np.int64)
        digits = pc.fill_null(pc.struct_field(found, letter), "1").to_numpy(zero_copy_only=False)
        return np.array([int(each) for each in digits], np.int64)

    years = number("y")
    if any(piece.text in ("y", "yy") for piece in parts):
        latest = date.today().year + 20
        of_century = np.where(2000 + years > latest, 1900 + years, 2000 + years)
        years = np.where((years >= 0) & (years < 100), of_century, years)
    months = (years - 1970) * 12 + number("M") - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]") + (number("d") - 1).astype("timedelta64[D]")
    micros = sum((number(letter) * width for letter, width in MICROS.items()), np.zeros(len(texts), np.int64))
    return pa.array(days.astype("datetime64[us]") + micros.astype("timedelta64[us]"), pa.timestamp("us"), mask=missing)


lenient_time = arrow_function(_read, TimestampNTZType())


# Names of time zones as Java's TimeZone reads them: an unknown one is GMT.


java_zone = over_arrays(known_zone, pa.string(), StringType())
