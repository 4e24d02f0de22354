"""Words of other dialects of streaming SQL, with what Flink has for them. Most of them parse as something else, so that
an error of a grammar would stand at another place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from lark import Token

from tvfsql.errors import Span, SqlSyntaxError, nearest
from tvfsql.syntax.interval import UNIT_MONTHS
from tvfsql.syntax.tokens import place_of, unquote

MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
LENGTHS = {  # the words of texts like '1 hour' and '30s'
    "ms": 1, "msec": 1, "millisecond": 1, "s": 1000, "sec": 1000, "second": 1000, "m": 60_000, "min": 60_000,
    "minute": 60_000, "h": 3_600_000, "hr": 3_600_000, "hour": 3_600_000, "d": 86_400_000, "day": 86_400_000,
    "w": 604_800_000, "week": 604_800_000,
}  # fmt: skip
PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*,?")
KSQL = {"TUMBLING": ("TUMBLE", ("SIZE",)), "HOPPING": ("HOP", ("BY", "SIZE")), "SESSION": ("SESSION", ())}
AZURE = {
    "TUMBLINGWINDOW": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
    "HOPPINGWINDOW": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)",
    "SLIDINGWINDOW": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' SECOND)",
    "SESSIONWINDOW": "SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
}
EMITTED = {
    ("CHANGES",): "leave it out; EMIT EVERY INTERVAL '10' SECOND also emits windows before they end",
    ("FINAL",): "leave it out: a window is emitted once, when it ends",
    ("STREAM",): "leave it out: the mode of the query says whether it is a stream",
    ("ON", "WATERMARK"): "leave it out: a window is emitted once, when the watermark passes its end",
    ("AFTER", "WATERMARK"): "leave it out: a window is emitted once, when the watermark passes its end",
    ("AFTER", "WINDOW", "CLOSE"): "leave it out: a window is emitted once, when it ends",
}
CONFLUENT = (
    "`$rowtime` in backticks, and a column of that name: "
    "`$rowtime` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR `$rowtime` AS `$rowtime`"
)


def refuse_other_dialects(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError for clauses of ksqlDB, RisingWave and others."""
    words = [token.upper() for token in tokens]
    for i, token in enumerate(tokens):
        if token.type == "OPERATOR" and token == "$":
            _refuse_dollar(tokens, i)
        elif words[i] == "WINDOW" and words[i + 1 : i + 2] and words[i + 1] in KSQL and words[i + 2 : i + 3] == ["("]:
            _refuse_window(tokens, words, i)
        elif words[i] == "EMIT":
            _refuse_emit(tokens, words, i)
        elif words[i] in AZURE and words[i + 1 : i + 2] == ["("]:
            hint = f"FROM TABLE({AZURE[words[i]]}), and GROUP BY window_start, window_end"
            raise SqlSyntaxError(f"{token} is of Azure Stream Analytics", span=place_of(token), hint=hint)
        elif words[i - 1 : i + 1] == ["SELECT", "TOP"] and tokens[i + 1].type == "NUMBER":
            raise SqlSyntaxError("TOP is of SQL Server", span=place_of(token), hint=f"LIMIT {tokens[i + 1]} at the end")


def interval_hint(text: str) -> str | None:
    """The INTERVAL of a text such as `1 hour 30 minutes`; None for others."""
    parts = [*PART.finditer(text)]
    if not parts or "".join(part[0] for part in parts) != text:
        return None
    units = [_unit_of(part[2].lower()) for part in parts]
    if len(parts) == 1 and units[0] in UNIT_MONTHS:
        return f"INTERVAL '{parts[0][1]}' {units[0].upper()}"
    if any(unit not in LENGTHS for unit in units):
        return None
    ms = round(sum(Decimal(part[1]) * LENGTHS[unit] for part, unit in zip(parts, units, strict=True)))
    word = next((word for word in reversed(MS) if ms % MS[word] == 0), "SECOND")
    return f"INTERVAL '{Decimal(ms) / MS[word]:f}' {word}"


def _unit_of(word: str) -> str:
    """The key of LENGTHS or UNIT_MONTHS that a word means, also if it is misspelled; the word itself if none is."""
    if word in LENGTHS:
        return word
    return nearest(word.removesuffix("s"), [unit for unit in (*LENGTHS, *UNIT_MONTHS) if len(unit) > 2], 0.75) or word


def misplaced(tokens: Sequence[Token], at: int) -> tuple[Span, str, str] | None:
    """What is wrong in a window call whose grammar stops at a token: place, message and hint. None if that is not
    known.
    """
    before = [each.upper() for each in tokens[max(0, at - 3) : at]]
    token, last = tokens[at], tokens[at - 1]
    if before[-1:] == ["INTERVAL"] and token.type == "NUMBER":
        unit = tokens[at + 1].upper() if at + 1 < len(tokens) and tokens[at + 1].type == "NAME" else "MINUTE"
        return place_of(token), "the number of an INTERVAL stands in quotes", f"INTERVAL '{token}' {unit}"
    if before[-2:-1] == ["INTERVAL"] and last.type == "STRING":
        hint = interval_hint(unquote(last)) or f"INTERVAL {last} MINUTE"
        return place_of(last), "the unit of an INTERVAL must follow the quotes", hint
    if token.type == "DOT" and before[-3:-1] == ["DESCRIPTOR", "("] and at + 1 < len(tokens):
        place = Span(place_of(last).start, place_of(tokens[at + 1]).end)
        return place, "DESCRIPTOR takes the name of a column alone", f"DESCRIPTOR({tokens[at + 1]})"
    return None


def _refuse_dollar(tokens: Sequence[Token], i: int) -> None:
    place = place_of(tokens[i])
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    if after is not None and after.type == "NAME" and place_of(after).start == place.end:
        name = f"${after}"
        hint = CONFLUENT if name.lower() == "$rowtime" else f"`{name}`"
        place = Span(place.start, place_of(after).end)
        raise SqlSyntaxError("a name that begins with $ stands in backticks", span=place, hint=hint)


def _refuse_window(tokens: Sequence[Token], words: Sequence[str], i: int) -> None:
    function, before = KSQL[words[i + 1]]
    end = next((k for k in range(i + 2, len(words)) if words[k] == ")"), len(words) - 1)
    inside = range(i + 3, end)
    lengths = [_length(tokens, next((k + 1 for k in inside if words[k] == word), end)) for word in before]
    lengths = lengths or [_length(tokens, i + 3)]
    table = next((tokens[k + 1] for k in range(i - 1, -1, -1) if words[k] == "FROM"), "t")
    call = f"{function}(TABLE {table}, DESCRIPTOR(ts), {', '.join(lengths)})"
    place = Span(place_of(tokens[i]).start, place_of(tokens[end]).end)
    raise SqlSyntaxError(
        f"WINDOW {words[i + 1]} (...) is of ksqlDB", span=place,
        hint=f"FROM TABLE({call}), and GROUP BY window_start, window_end",
    )  # fmt: skip


def _length(tokens: Sequence[Token], at: int) -> str:
    """The interval that a number and a word at `at` are."""
    number, unit = (str(each) for each in (*tokens[at : at + 2], "10", "MINUTE")[:2])
    return interval_hint(f"{number} {unit}") or "INTERVAL '10' MINUTE"


def _refuse_emit(tokens: Sequence[Token], words: Sequence[str], i: int) -> None:
    for after, hint in EMITTED.items():
        end = i + 1 + len(after)
        if tuple(words[i + 1 : end]) == after and words[end : end + 1] in ([], [")"], ["LIMIT"], [";"], ["WITH"]):
            place = Span(place_of(tokens[i]).start, place_of(tokens[end - 1]).end)
            raise SqlSyntaxError(f"EMIT {' '.join(after)} is of another dialect", span=place, hint=hint)
