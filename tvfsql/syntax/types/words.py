"""Types as Flink spells them, read from their words: columns of CREATE TABLE, results of functions, targets of CAST.

Spark's names of the same types are read too: STRUCT<a: INT>, LONG, TIMESTAMP_NTZ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lark import Token

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError, nearest
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax.tokens import place_of_all, tokens_of, unquote

PLAIN = {
    "BOOLEAN": types.BOOLEAN, "TINYINT": types.TINYINT, "SMALLINT": types.SMALLINT, "INT": types.INT,
    "INTEGER": types.INT, "BIGINT": types.BIGINT, "FLOAT": types.FLOAT, "DOUBLE": types.DOUBLE,
    "DOUBLE PRECISION": types.DOUBLE, "STRING": types.STRING, "BYTES": types.BYTES, "DATE": types.DATE,
    "VARIANT": types.VARIANT, "BYTE": types.TINYINT, "SHORT": types.SMALLINT, "LONG": types.BIGINT, "REAL": types.FLOAT,
}  # fmt: skip
WITH_LENGTH: dict[str, type[types.VarChar | types.VarBinary]] = {
    "CHAR": types.Char, "CHARACTER": types.Char, "VARCHAR": types.VarChar, "CHAR VARYING": types.VarChar,
    "CHARACTER VARYING": types.VarChar,
    "BINARY": types.Binary, "VARBINARY": types.VarBinary, "BINARY VARYING": types.VarBinary,
}  # fmt: skip
DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
TIMES = ("TIME", "TIME WITHOUT TIME ZONE")
TIMESTAMPS: dict[str, type[types.Timestamp | types.TimestampLtz]] = {
    "TIMESTAMP": types.Timestamp, "TIMESTAMP WITHOUT TIME ZONE": types.Timestamp, "TIMESTAMP_NTZ": types.Timestamp,
    "TIMESTAMP_LTZ": types.TimestampLtz, "TIMESTAMP WITH LOCAL TIME ZONE": types.TimestampLtz,
}  # fmt: skip
ROWS = ("ROW", "STRUCT")
NAMES = (*PLAIN, *WITH_LENGTH, *DECIMALS, *TIMES, *TIMESTAMPS, *ROWS, "ARRAY", "MAP", "MULTISET")
EXAMPLES = {
    "ARRAY": "ARRAY<INT>",
    "MAP": "MAP<STRING, INT>",
    "MULTISET": "MULTISET<INT>",
    "ROW": "ROW<a INT, b STRING>",
}
OPEN, CLOSE = ("(", "<"), (")", ">")

Words = Sequence[Token]


def parse_type(text: str) -> SqlType:
    """The type in a text. Raises SqlSyntaxError and UnsupportedError, whose spans are places in `text`."""
    return declared_type(tokens_of(text), Span(0, len(text)))


def declared_type(words: Words, span: Span) -> SqlType:
    """The same of the words of a type, whose place is `span`."""
    upper = [word.upper() for word in words]
    if upper[-2:] == ["NOT", "NULL"]:
        return replace(declared_type(words[:-2], span), nullable=False)
    if upper[-1:] == ["NULL"] and len(words) > 1:
        return declared_type(words[:-1], span)
    if len(words) > 1 and upper[-1] in ("ARRAY", "MULTISET"):  # INT ARRAY
        return _collection(upper[-1], declared_type(words[:-1], span))
    if not words or words[0].type != "NAME":
        raise SqlSyntaxError("a type is missing" if not words else f"unknown type {words[0]}", span=span)
    at = next((i for i, word in enumerate(words) if word in OPEN), len(words))
    if words[at : at + 1] == ["<"] or upper[0] in ROWS:
        return _nested(words, span)
    end = next((i for i, word in enumerate(words) if word in CLOSE), at)
    inside = words[at + 1 : end]
    name = " ".join([*words[:at], *words[end + 1 :]])
    return _plain(name, [each for each in inside if each != ","], span)


def _nested(words: Words, span: Span) -> SqlType:
    """ARRAY<T>, MULTISET<T>, MAP<K, V> or ROW<name T, ...>."""
    name = "ROW" if (given := words[0].upper()) in ROWS else given
    if name not in EXAMPLES:
        raise SqlSyntaxError(f"unknown type {words[0]}<...>", span=span, hint=nearest_type(words[0]))
    if len(words) < 3 or words[1] not in OPEN or words[-1] != CLOSE[OPEN.index(words[1])]:
        raise SqlSyntaxError(f"type {words[0]} is not complete", span=span, hint=EXAMPLES[name])
    parts = list(_parts(words[2:-1]))
    if name == "ROW":
        return types.Row(tuple(_field(part, span) for part in parts))
    inner = [declared_type(part, place_of_all(part, span)) for part in parts]
    if len(inner) != (2 if name == "MAP" else 1):
        takes = "a type of keys and one of values" if name == "MAP" else "one type"
        raise SqlSyntaxError(f"{name} takes {takes}", span=span, hint=EXAMPLES[name])
    return types.Map(*inner) if name == "MAP" else _collection(name, *inner)


def _collection(name: str, element: SqlType) -> SqlType:
    return types.Multiset(element, replace(types.INT, nullable=False)) if name == "MULTISET" else types.Array(element)


def _field(words: Words, span: Span) -> tuple[str, SqlType]:
    """A field of a ROW: its name and its type, and perhaps a comment."""
    at = place_of_all(words, span)
    if len(words) > 2 and words[-2].upper() == "COMMENT" and words[-1].type == "STRING":
        words = words[:-2]
    kind = words[2:] if words[1:2] == [":"] else words[1:]
    if not kind or words[0].type not in ("NAME", "QUOTED"):
        raise SqlSyntaxError("a field of a ROW has a name and a type", span=at, hint=EXAMPLES["ROW"])
    return unquote(words[0]), declared_type(kind, place_of_all(kind, span))


def _plain(written: str, given: Sequence[str], span: Span) -> SqlType:
    """A type without others inside it, from its name and the numbers in parentheses."""
    name = written.upper()
    if name in PLAIN:
        _refuse_numbers(name, given, 0, span)
        return PLAIN[name]
    if name in WITH_LENGTH:
        _refuse_numbers(name, given, 1, span)
        if given and not (given[0].isdecimal() and 0 < int(given[0]) <= types.UNBOUNDED):
            raise SqlSyntaxError(f"a length of {name} is a number from 1", span=span, hint=f"{name}(20)")
        made = WITH_LENGTH[name]
        return made(int(given[0]) if given else 1 if issubclass(made, types.Char | types.Binary) else types.UNBOUNDED)
    if name in DECIMALS:
        return types.Decimal(*_precision(given, span))
    if name in TIMES:
        digits = _digits("TIME", given, 0, span)
        if digits > types.MICROS:
            raise UnsupportedError("TIME has at most 6 fractional digits", span=span, hint="TIME(3)")
        return types.Time(digits)
    if name in TIMESTAMPS:
        return TIMESTAMPS[name](_digits("TIMESTAMP", given, types.MICROS, span))
    if name == "TIMESTAMP WITH TIME ZONE":
        raise UnsupportedError(f"type {name} is not supported", span=span, hint="TIMESTAMP_LTZ(3)")
    if name.startswith("INTERVAL"):
        raise UnsupportedError(f"type {name} is not supported", span=span, hint="STRING, or TIMESTAMP(3)")
    if name in EXAMPLES:
        raise SqlSyntaxError(f"type {name} is not complete", span=span, hint=EXAMPLES[name])
    known = max((each for each in NAMES if name.startswith(f"{each} ")), key=len, default=None)
    if known:
        raise SqlSyntaxError(f"unexpected {name[len(known) + 1 :].split()[0]} after the type", span=span)
    raise SqlSyntaxError(f"unknown type {written}", span=span, hint=nearest_type(name))


def _refuse_numbers(name: str, given: Sequence[str], most: int, span: Span) -> None:
    if len(given) > most:
        takes = "one length" if most else "no length"
        raise SqlSyntaxError(f"{name} takes {takes}", span=span, hint=f"{name}(20)" if most else name)


def _digits(name: str, given: Sequence[str], default: int, span: Span) -> int:
    """The fractional digits of a time."""
    if len(given) > 1 or (given and given[0] not in tuple("0123456789")):
        raise SqlSyntaxError(f"{name} has 0 to 9 fractional digits", span=span, hint=f"{name}(3)")
    return int(given[0]) if given else default


def _precision(given: Sequence[str], span: Span) -> list[int]:
    """Precision and scale of a DECIMAL."""
    numbers = [*given, *("10", "0")[len(given) :]]
    right = len(numbers) == 2 and all(map(str.isdecimal, numbers)) and int(numbers[0]) > 0
    if not right or not int(numbers[1]) <= int(numbers[0]) <= 38:
        raise SqlSyntaxError(
            "DECIMAL takes a precision from 1 to 38 and a scale up to the precision",
            span=span,
            hint="DECIMAL(10, 2)",
        )
    return [*map(int, numbers)]


def _parts(words: Words) -> Iterator[Words]:
    """The parts between commas outside of parentheses and angle brackets."""
    depth, start = 0, 0
    for i, word in enumerate(words):
        depth += (word in OPEN) - (word in CLOSE)
        if word == "," and depth == 0:
            yield words[start:i]
            start = i + 1
    yield words[start:]


def nearest_type(text: str) -> str | None:
    """A hint with the type whose name is closest; None if none is close."""
    close = nearest(text.partition("(")[0], NAMES)
    return f"did you mean {close}?" if close else None
