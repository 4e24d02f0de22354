"""PRINTF: Java's formats, over the values that Flink passes to them."""

from __future__ import annotations

import re

from tvfsql.bind.flink.time.wall_clock import INSTANT, in_utc
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

CONVERSION = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(\.\d+)?([a-zA-Z%])")
OF_ANY, OF_INTEGERS, OF_FLOATS, OF_NOTHING = "bBsS", "doxX", "eEfgGaA", "n%"
WITHOUT_SECONDS = "(:00)?[.]000000$|000$"


def printed(*kinds: SqlType) -> str:
    """PRINTF. A format that does not fit its arguments gives NULL; one in a column fails."""
    arguments = [_value(i, kind) for i, kind in enumerate(kinds) if i]
    call = f"PRINTF({', '.join(['{0}', *arguments])})"
    pattern = kinds[0].literal
    if pattern is None:
        return call
    wrong = _misfits(pattern, kinds[1:])
    if wrong is None:
        return "CAST(NULL AS STRING)"
    # every conversion prints NULL
    return f"IF({' AND '.join(f'{{{i}}} IS NULL' for i in wrong)}, {call}, NULL)" if wrong else call


def _misfits(pattern: str, kinds: tuple[SqlType, ...]) -> list[int] | None:
    """The arguments, from 1, whose types their conversions do not take. None if no value fits the format."""
    wrong: list[int] = []
    following = 0
    if "%" in CONVERSION.sub("", pattern):
        return None
    for place, flags, _, precision, letter in CONVERSION.findall(pattern):
        if letter in OF_NOTHING:
            continue
        if letter not in OF_ANY + OF_INTEGERS + OF_FLOATS + "cC":
            if letter in "hHtT":
                raise UnsupportedError(f"PRINTF cannot take %{letter}", hint="PRINTF('%s', x)")
            return None
        if "<" in flags:
            raise UnsupportedError("PRINTF cannot take %<", hint="PRINTF('%1$s %1$s', x)")
        following += not place
        at = int(place) if place else following
        if not 1 <= at <= len(kinds) or (precision and letter in OF_INTEGERS + "cC"):
            return None
        if not _fits(letter, kinds[at - 1]) and at not in wrong:
            wrong.append(at)
    return wrong


def _fits(letter: str, kind: SqlType) -> bool:
    if letter in OF_INTEGERS:
        return (
            types.is_integer(kind)
            or kind in (types.DATE, types.UNKNOWN)
            or isinstance(kind, types.Interval | types.Time)
        )
    if letter in OF_FLOATS:
        return types.is_float(kind) or kind == types.UNKNOWN
    if letter in "cC":
        return (types.is_integer(kind) and kind != types.BIGINT) or kind in (types.DATE, types.UNKNOWN)
    return True


def _value(i: int, kind: SqlType) -> str:
    """What Flink passes to Java: times as text in ISO 8601, instants in UTC; dates as days, TIME as milliseconds."""
    hole = f"{{{i}}}"
    if kind in (types.STRING, types.BOOLEAN, types.UNKNOWN) or types.is_integer(kind) or types.is_float(kind):
        return hole
    if types.is_decimal(kind):
        return f"CAST({hole} AS STRING)"
    if kind == types.DATE:
        return f"UNIX_DATE({hole})"
    if isinstance(kind, types.Time):
        return f"CAST(TIME_DIFF('MILLISECOND', TIME '00:00:00', {hole}) AS INT)"
    if types.is_time(kind):
        clock = in_utc(hole) if kind == INSTANT else hole
        return f"REGEXP_REPLACE(DATE_FORMAT({clock}, 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS'), '{WITHOUT_SECONDS}', '')"
    raise UnsupportedError(f"PRINTF cannot take {kind.flink}", hint="PRINTF('%s', CAST(x AS STRING))")
