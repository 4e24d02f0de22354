"""Instants and wall-clock times as Spark SQL. An instant is a TIMESTAMP_LTZ, Spark's timestamp. Its wall-clock time is
that of `table.local-time-zone`, whatever the zone of Spark's session is.
"""

from __future__ import annotations

from collections.abc import Callable

from tvfsql.plan.values.types import TIMESTAMP, TIMESTAMP_LTZ, UNKNOWN, SqlType

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
INSTANT, CLOCK = TIMESTAMP_LTZ, TIMESTAMP


def wall_clock(instant: str) -> str:
    """The wall-clock time (timestamp_ntz) of an instant. Arithmetic on the epoch avoids Spark's session zone."""
    return f"TIMESTAMPADD(MICROSECOND, UNIX_MICROS(FROM_UTC_TIMESTAMP({instant}, {{zone}})), {EPOCH})"


def instant_at(clock: str) -> str:
    """The instant at which clocks show that time. A skipped time maps to after the gap; of a repeated time it is the
    first.
    """
    return f"TO_UTC_TIMESTAMP(TIMESTAMP_MICROS(TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {clock})), {{zone}})"


def in_utc(instant: str) -> str:
    """The wall-clock time of an instant in UTC."""
    return f"TIMESTAMPADD(MICROSECOND, UNIX_MICROS({instant}), {EPOCH})"


def of_utc(clock: str) -> str:
    """The instant at which clocks in UTC show that time. Spark counts days and months of instants in its session's
    zone, and Flink in UTC.
    """
    return f"TIMESTAMP_MICROS(TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {clock}))"


def to_millis(time: str) -> str:
    """A time without the digits that a TIMESTAMP(3) cannot hold."""
    return f"TIME_BUCKET(INTERVAL '0.001' SECOND, {time})"


def later(clock: str) -> str:
    """The instant at which clocks show that time; of a repeated time the second one."""
    after = f"{instant_at(clock)} + INTERVAL '1' HOUR"
    return f"IF({wall_clock(after)} = {clock}, {after}, {instant_at(clock)})"


def on_clock(template: str, *, back: bool = False) -> Callable[..., str | None]:
    """A function of the wall-clock time: `template` takes {0} as timestamp_ntz. With `back`, an instant gives an
    instant.
    """

    def of(kind: SqlType, *_: SqlType) -> str | None:
        if kind == INSTANT:
            clock = wall_clock("{0}")
            made = template.replace("{0}", clock)
            # by the instant's own offset from UTC
            return f"TIMESTAMPADD(MICROSECOND, TIMESTAMPDIFF(MICROSECOND, {clock}, {made}), {{0}})" if back else made
        if back and kind == UNKNOWN:
            return None
        return template.replace("{0}", "CAST({0} AS TIMESTAMP_NTZ)" if kind != CLOCK else "{0}")

    return of
