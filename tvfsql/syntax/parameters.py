"""Parameters of scripts: `DECLARE day DATE DEFAULT DATE '2026-01-01'` declares one, `:day` is its value, and a caller
can give another value as text.

A value is a literal of the declared type, and replaces `:day` before the script is parsed. So it can be wherever a
literal can: in an expression, in an option, or as the size of a window.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise

from lark import Token

from tvfsql.errors import BindError, Span, SqlSyntaxError, TvfSqlError, UnsupportedError, did_you_mean
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax import statements
from tvfsql.syntax.interval import parse_interval, unit_of
from tvfsql.syntax.parser import parse, split_statements
from tvfsql.syntax.tokens import place_of, place_of_all, tokens_of, unquote
from tvfsql.syntax.types.words import declared_type

DECLARE = "DECLARE"
EXAMPLE = "DECLARE day DATE DEFAULT DATE '2026-01-01'"
SIZE = "DECLARE size INTERVAL MINUTE DEFAULT INTERVAL '10' MINUTE"
BITS = {types.TINYINT: 8, types.SMALLINT: 16, types.INT: 32, types.BIGINT: 64}
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)"
NAMES = ("NAME", "QUOTED")
Words = Sequence[Token]
Kind = SqlType | str  # a type, or the unit of an interval


@dataclass(frozen=True)
class Filled:
    """A script with literals in place of its parameters. `places` has, for each literal, its span in `text` and that of
    the parameter in `source`, in order.
    """

    source: str
    text: str
    places: tuple[tuple[Span, Span], ...] = ()

    def original(self, span: Span) -> Span:
        """The place in `source` of a place in `text`."""
        return Span(self._at(span.start, False), self._at(span.end, True))

    def _at(self, position: int, is_end: bool) -> int:
        moved = 0
        for literal, parameter in self.places:
            if position <= literal.start and not (is_end and position > literal.start):
                break
            if position < literal.end or (is_end and position == literal.end):
                return parameter.end if is_end else parameter.start
            moved = parameter.end - literal.end
        return position + moved

    def written(self, start: int, end: int) -> str:
        """What `source` has at a place of `text`."""
        at = self.original(Span(start, end))
        return self.source[at.start : at.end]

    def located(self, error: TvfSqlError, file: str | None) -> TvfSqlError:
        """The error, with its place in `source`."""
        if error.source in (None, self.text):
            if error.span is not None:
                error.span = self.original(error.span)
            error.source, file = None, error.file or file
        return error.within(self.source, file)


@dataclass
class Parameters:
    """The parameters that the scripts of a session have declared, and the values that the caller gives.

    `given`: a value as text, by name. `declared`: the literal, by name in lower case. `examples`: a parameter without
    a value gets one of its type. `only_read`: also one that is not declared, as the script is not bound.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    examples: bool = False
    only_read: bool = False

    def filled(self, sql: str) -> Filled:
        """The script with its values. Its DECLARE statements are carried out.

        Raises SqlSyntaxError and BindError, whose spans are places in `sql`.
        """
        if ":" not in sql and not re.search(rf"\b{DECLARE}\b", sql, re.IGNORECASE):
            return Filled(sql, sql)
        parts, places, copied, length = list[str](), list[tuple[Span, Span]](), 0, 0
        ended, rest = split_statements(tokens_of(sql))
        for words in (*ended, rest):
            if words and words[0].upper() == DECLARE:
                self._declare(words)
                continue
            for name, at in _used(words):
                literal = self._value(name, at)
                parts += [sql[copied : at.start], literal]
                start = length + at.start - copied
                length, copied = start + len(literal), at.end
                places.append((Span(start, length), at))
        return Filled(sql, "".join([*parts, sql[copied:]]), tuple(places))

    def _declare(self, words: Words) -> None:
        name, kind, default = _read(words)
        given = {each.lower(): text for each, text in self.given.items()}
        text, at, hint = given.get(name.lower()), place_of(words[1]), f"--param {name}={_example(kind)}"
        if text is None and not default and (self.examples or self.only_read):
            text = _example(kind)
        if text is None and not default:
            hint += f", or DEFAULT {_default_of(kind)} after the type"
            raise BindError(f"the parameter {name} has no value", span=at, hint=hint)
        if text is None:
            text, at, hint = _default(default, kind), place_of_all(default), f"DEFAULT {_default_of(kind)}"
        try:
            self.declared[name.lower()] = literal_of(kind, text)
        except (ValueError, ArithmeticError) as error:
            problem = str(error) if isinstance(error, _Refused) else f"'{text}' is not a {_shown(kind)}"
            raise BindError(f"the parameter {name}: {problem}", span=at, hint=hint) from None

    def _value(self, name: str, at: Span) -> str:
        value = self.declared.get(name.lower(), "'1'" if self.only_read else None)
        if value is None:
            hint = did_you_mean(name, self.declared, otherwise="declared: ") or f"DECLARE {name} DATE;"
            raise BindError(f"the parameter :{name} is not declared", span=at, hint=hint)
        return value


def only_read(sql: str, file: str | None = None) -> tuple[tuple[statements.Statement, ...], Filled]:
    """The statements of a script that will not be bound, whose parameters have any value. Their spans are places in the
    filled text. Raises SqlSyntaxError and BindError with the place in `sql`; `file` is the name that they show.
    """
    filled = Filled(sql, sql)
    try:
        filled = Parameters(only_read=True).filled(sql)
        return parse(filled.text), filled
    except TvfSqlError as error:
        raise filled.located(error, file) from error.__cause__


def names_declared(sql: str) -> list[str]:
    """The names that the DECLARE statements of a script declare; none if it has characters that form no word."""
    try:
        ended, rest = split_statements(tokens_of(sql))
    except TvfSqlError:  # reported when the script is parsed
        return []
    return [unquote(words[1]) for words in (*ended, rest) if len(words) > 1 and words[0].upper() == DECLARE]


def texts_of(values: Mapping[str, object], sql: str) -> dict[str, str]:
    """The values that a caller in Python gives to the parameters of a script, as texts: strings, numbers, booleans,
    dates and times. Raises BindError for another kind of value, and for a name that the script does not declare.
    """
    refuse_unknown(values, names_declared(sql))
    return {name: _text(name, value) for name, value in values.items()}


def refuse_unknown(given: Iterable[str], declared: Iterable[str]) -> None:
    """Raise BindError for a name of a given value that no script declares."""
    known = {name.lower(): name for name in declared}
    for name in given:
        if name.lower() not in known:
            hint = did_you_mean(name, known.values(), otherwise="declared: ") or f"DECLARE {name} STRING;"
            raise BindError(f"no script declares a parameter {name}", hint=hint)


def _text(name: str, value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() | int() | float() | Decimal():
            return str(value)
        case date() | time():
            return value.isoformat()
    kind = type(value).__name__
    raise BindError(f"the parameter {name} cannot be a {kind}", hint="a string, a number, a date or a time")


def literal_of(kind: Kind, text: str) -> str:
    """A value of that type as a literal of SQL. Raises ValueError or ArithmeticError for text that is not one."""
    if isinstance(kind, str):
        return _interval(kind, text)
    match kind:
        case types.BOOLEAN if text.lower() in ("true", "false"):
            return text.upper()
        case _ if kind in BITS:
            if re.fullmatch(r"[+-]?\d+", text, re.ASCII) is None:
                raise ValueError
            number = int(text)
            if not -(2 ** (BITS[kind] - 1)) <= number < 2 ** (BITS[kind] - 1):
                raise _Refused(f"{number} is beyond the range of {kind.flink}")
            return (
                f"CAST({number} AS {kind.flink})" if kind != types.INT else f"({number})" if number < 0 else str(number)
            )
        case types.FLOAT | types.DOUBLE:
            if "_" in text or not math.isfinite(float(text)):
                raise ValueError
            return f"CAST('{float(text)!r}' AS {kind.flink})"
        case types.Decimal(precision=precision, scale=scale):
            if re.fullmatch(NUMBER, text, re.ASCII) is None:
                raise ValueError
            amount = Decimal(text)
            if amount != round(amount, scale) or abs(amount) >= Decimal(10) ** (precision - scale):
                raise _Refused(f"{text} does not fit into {kind.flink}")
            return f"CAST({amount:f} AS {kind.flink})"
        case types.VarChar(length=length):
            if len(text) > length:
                raise _Refused(f"the text is longer than {kind.flink}")
            quoted = "'" + text.replace("'", "''") + "'"
            return quoted if length == types.UNBOUNDED else f"CAST({quoted} AS {kind.flink})"
        case types.DATE:
            return f"DATE '{date.fromisoformat(text)}'"
        case types.Time(digits=digits):
            return f"TIME '{_clock(time.fromisoformat(text), digits)}'"
        case types.Timestamp(digits=digits) | types.TimestampLtz(digits=digits):
            return _timestamp(kind, datetime.fromisoformat(text), digits)
    raise ValueError


def _timestamp(kind: SqlType, when: datetime, digits: int) -> str:
    """A TIMESTAMP has no zone; a TIMESTAMP_LTZ may, and is that instant."""
    if when.tzinfo is not None and isinstance(kind, types.Timestamp):
        raise _Refused(f"a {kind.flink} has no zone")
    shown = f"{when.date()} {_clock(when.replace(tzinfo=None).time(), digits)}"
    if when.tzinfo is None:
        return f"{'TIMESTAMP' if isinstance(kind, types.Timestamp) else 'TIMESTAMP_LTZ'} '{shown}'"
    micros = (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if micros % 1000:
        raise _Refused("an instant with a zone has at most 3 fractional digits")
    return f"TO_TIMESTAMP_LTZ({micros // 1000}, 3)"


def _clock(clock: time, digits: int) -> str:
    fraction = f"{clock.microsecond:06}".rstrip("0")
    if len(fraction) > digits:
        raise _Refused(f"{clock} has more than {digits} fractional digits")
    return f"{clock:%H:%M:%S}" + (f".{fraction}" if fraction else "")


def _interval(unit: str, text: str) -> str:
    """`10` in the declared unit, or with a unit of its own: `2 HOURS`."""
    found = re.fullmatch(r"\s*(\S+?)\s*([A-Za-z]+)?\s*", text)
    own = unit_of(found[2]) if found and found[2] else unit
    if found is None or own is None:
        raise ValueError
    try:
        parse_interval(found[1], own)
    except ValueError as error:
        raise _Refused(str(error)) from None
    return f"INTERVAL '{found[1]}' {own.upper()}"


class _Refused(ValueError):
    """A value that cannot be one of the declared type, with the reason."""


def _read(words: Words) -> tuple[str, Kind, Words]:
    """The name and the type of a DECLARE statement, and the words of its default. Raises SqlSyntaxError."""
    at = next((i for i, word in enumerate(words) if word.upper() == "DEFAULT"), len(words))
    kind, default = words[2:at], words[at + 1 :]
    problem = ""
    if len(words) < 2 or words[1].type not in NAMES:
        problem, place = "DECLARE needs the name of a parameter", words[-1]
    elif not kind:
        problem, place = "a parameter needs a type", words[1]
    elif at < len(words) and not default:
        problem, place = "a value is missing after DEFAULT", words[-1]
    if problem:
        raise SqlSyntaxError(problem, span=place_of(place), hint=EXAMPLE)
    return unquote(words[1]), _kind(kind), default


def _kind(words: Words) -> Kind:
    span = place_of_all(words)
    if words[0].upper() == "INTERVAL":
        unit = unit_of(words[1]) if len(words) == 2 else None
        if unit is None:
            raise SqlSyntaxError("an INTERVAL parameter needs one unit", span=span, hint=SIZE)
        return unit
    kind = declared_type(words, span)
    if not kind.nullable:
        raise SqlSyntaxError("a parameter always has a value", span=span, hint="leave out NOT NULL")
    if kind.parts or kind in (types.VARIANT, types.NULL) or isinstance(kind, types.VarBinary):
        raise UnsupportedError(f"a parameter cannot be {kind.flink}", span=span, hint=EXAMPLE)
    return kind


def _default(words: Words, kind: Kind) -> str:
    """The text of the literal after DEFAULT. Raises SqlSyntaxError if it is not a literal of the type."""
    shapes = [word.type for word in words]
    first = words[0].upper()
    if isinstance(kind, str):
        if first == "INTERVAL" and shapes[1:] == ["STRING", "NAME"]:
            return f"{unquote(words[1])} {words[2]}"
    elif shapes == ["STRING"] and isinstance(kind, types.VarChar):
        return unquote(words[0])
    elif shapes == ["NAME"] and kind == types.BOOLEAN:
        return str(words[0])
    elif shapes in (["NUMBER"], ["SIGN", "NUMBER"]) and (
        kind in BITS or types.is_float(kind) or isinstance(kind, types.Decimal)
    ):
        return "".join(words)
    elif shapes[1:] == ["STRING"] and first == kind.flink.partition("(")[0]:
        return unquote(words[1])
    shown = f"INTERVAL {kind.upper()}" if isinstance(kind, str) else kind.flink
    problem, hint = f"the default must be a literal of type {shown}", f"DEFAULT {_default_of(kind)}"
    raise SqlSyntaxError(problem, span=place_of_all(words), hint=hint)


def _shown(kind: Kind) -> str:
    return f"number of units, such as 10 {kind.upper()}" if isinstance(kind, str) else kind.flink


def _example(kind: Kind) -> str:
    """A value of that type, as text."""
    if isinstance(kind, str):
        return "10"
    match kind:
        case types.VarChar():
            return "text"
        case types.Time():
            return "08:05:00"
        case types.Timestamp() | types.TimestampLtz():
            return "2026-01-31T08:05:00"
    return {types.BOOLEAN: "true", types.DATE: "2026-01-31"}.get(kind, "1")


def _default_of(kind: Kind) -> str:
    """A literal of that type."""
    value = _example(kind)
    if isinstance(kind, str):
        return f"INTERVAL '{value}' {kind.upper()}"
    if isinstance(kind, types.VarChar):
        return f"'{value}'"
    timed = kind == types.DATE or isinstance(kind, types.Time | types.Timestamp | types.TimestampLtz)
    return f"{kind.flink.partition('(')[0]} '{value}'".replace("T0", " 0") if timed else value.upper()


def _used(words: Words) -> Iterator[tuple[str, Span]]:
    """The names of the parameters among words, and their places. The colons of ROW<a:INT> and a::INT begin none."""
    end = -1
    for colon, name in pairwise(words):
        start = place_of(colon).start
        if colon == ":" and name.type == "NAME" and place_of(name).start == start + 1 and end != start:
            yield str(name), Span(start, place_of(name).end)
        end = place_of(colon).end if colon.type in (*NAMES, "CLOSE") or colon in (":", "]", ">") else -1
