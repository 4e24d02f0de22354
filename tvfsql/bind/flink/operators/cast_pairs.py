"""Which types can be cast to which: the table of Flink 2.3 (tests/data/flink_casts.json), and a few pairs beyond it."""

from __future__ import annotations

from tvfsql.errors import BindError
from tvfsql.plan.values.types import INT, SMALLINT, TINYINT, SqlType, is_integer, is_number

# roots of types; numbers are one
NUMBER, TEXT, MONTHS, SECONDS = "number", "string", "interval year to month", "interval day to second"
CLOCK, INSTANT = "timestamp_ntz", "timestamp"
TIMES = ("date", "time", CLOCK, INSTANT)
TO: dict[str, tuple[str, ...]] = {
    "boolean": ("boolean", NUMBER, TEXT),
    NUMBER: ("boolean", NUMBER, TEXT),
    TEXT: ("boolean", NUMBER, TEXT, "binary", *TIMES),
    "binary": (TEXT, "binary"),
    "date": (TEXT, "date", CLOCK, INSTANT),
    "time": (TEXT, "time", CLOCK, INSTANT),
    CLOCK: (TEXT, *TIMES),
    INSTANT: (TEXT, *TIMES),
    MONTHS: (TEXT, MONTHS),
    SECONDS: (TEXT, SECONDS),
    "array": (TEXT, "array"),
    "map": (TEXT, "map"),
    "struct": (TEXT, "struct"),
}
# Flink rejects these; the result is the number of seconds, of 1970 or of the day.
BEYOND = ((INSTANT, NUMBER), ("time", NUMBER))
OPEN = ("", "void", "variant")  # what Spark decides


def refuse_cast(source: SqlType, target: SqlType, word: str = "CAST", value: str = "x") -> None:
    """Raise BindError if there is no CAST from one type to the other, with what to write instead."""
    one, other = class_of(source), class_of(target)
    if not has_cast(source, target) and (one, other) not in BEYOND:
        raise BindError(
            f"{word} cannot turn {_article(source.flink)} into {_article(target.flink)}",
            hint=_instead(one, other, value, source),
        )
    if one == other and len(source.parts) == len(target.parts):
        for inner, wanted in zip(source.parts, target.parts, strict=True):
            refuse_cast(inner, wanted, word, value)


def has_cast(source: SqlType, target: SqlType) -> bool:
    """Whether Flink has a CAST between types of these classes, or Spark decides."""
    one, other = class_of(source), class_of(target)
    return one in OPEN or other in OPEN or other in TO.get(one, (other,))


def is_beyond(source: SqlType, target: SqlType) -> bool:
    """Whether tvfsql takes a CAST that Flink rejects."""
    return (class_of(source), class_of(target)) in BEYOND


def class_of(kind: SqlType) -> str:
    """The types that are cast alike."""
    return NUMBER if is_number(kind) else kind.root


def _instead(source: str, target: str, value: str, kind: SqlType) -> str | None:
    """What to write instead of the CAST; None if there is nothing."""
    if source == NUMBER and target in (CLOCK, INSTANT):
        return epoch_time(value, kind)
    if source == NUMBER and target == "date":
        return f"TO_DATE(CAST({value} AS STRING), 'yyyyMMdd'), or CAST({epoch_time(value, kind)} AS DATE)"
    if source in (CLOCK, "date") and target == NUMBER:
        return (
            f"UNIX_TIMESTAMP(CAST({value} AS STRING))"
            if source == CLOCK
            else f"TIMESTAMPDIFF(DAY, DATE '1970-01-01', {value})"
        )
    if source == TEXT and target == "array":
        return f"SPLIT({value}, ',')"
    return None


def epoch_time(value: str, kind: SqlType) -> str:
    """How a number becomes a time: milliseconds since 1970, or seconds, which an INT can hold."""
    return f"TO_TIMESTAMP_LTZ({value}, {0 if kind in (INT, SMALLINT, TINYINT) else 3})"


def as_time(value: str, kind: SqlType) -> str | None:
    """How a column of another type becomes a time that windows and watermarks take; None if it does not."""
    match class_of(kind):
        case "number":
            return epoch_time(value, kind) if is_integer(kind) else None
        case "string":
            return f"TO_TIMESTAMP({value})"
        case "date":
            return f"CAST({value} AS TIMESTAMP(3))"
    return None


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AI" else f"a {kind}"
