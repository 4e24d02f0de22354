"""Flink's text functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from re import _parser as parser
from typing import Any

from tvfsql.bind.flink.function import Function, holes, of_runtime, same
from tvfsql.bind.flink.functions.printf import printed
from tvfsql.bind.flink.operators.common_type import common_type
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

LITERAL = "CONCAT('\\\\Q', {1}, '\\\\E')"  # a separator as a regular expression that matches just it
PARTS = f"SPLIT({{0}}, {LITERAL}, -1)"
# Flink sees a character beyond U+FFFF as two units, neither of which is a character by itself
IN_UNITS = "REGEXP_REPLACE({0}, '[^\\\\u0000-\\\\uFFFF]', '??')"
BY_UNITS = f"WHEN {{1}} = '' THEN SPLIT({IN_UNITS}, '')"
SPLIT = f"CASE WHEN {{1}} IS NULL THEN NULL WHEN {{0}} = '' THEN ARRAY() {BY_UNITS} ELSE {PARTS} END"
GROUP = "TRY_ELEMENT_AT(REGEXP_EXTRACT_ALL({0}, {1}, %s), 1)"  # NULL if nothing matches
# before, between and after all characters
BETWEEN = f"ARRAY_JOIN(CONCAT(ARRAY(''), SPLIT({IN_UNITS}, ''), ARRAY('')), {{2}})"
DECIMAL = "^\\\\s*[+-]?(NaN|Infinity|([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)\\\\s*$"  # Java's Double
FIRST_BYTE = "CAST(CONV(LEFT(HEX({0}), 2), 16, 10) AS INT)"
UNITS = "'UTF-16BE'"  # two bytes per unit, as Flink counts here
URL = "^[ ]*(?i)(https?|ftp|file|jar|mailto):"
INVALID = "fails for an invalid regular expression in a column"
NO_GROUP = f"{INVALID}, and for a group that does not exist"
WORDS = (
    "ARRAY_JOIN(TRANSFORM(REGEXP_EXTRACT_ALL({0}, '([A-Za-z0-9]+|[^A-Za-z0-9]+)', 1), "
    "word -> IF(word RLIKE '^[A-Za-z0-9]', CONCAT(UPPER(LEFT(word, 1)), LOWER(SUBSTRING(word, 2))), word)), '')"
)
TWICE = "fails if a key occurs twice"
NO_URL = "fails for a URL with characters that must be escaped"
NO_PAIRS = "CAST(MAP() AS MAP<STRING, STRING>)"


def _part_of_url(_: SqlType, part: SqlType) -> str:
    """PARSE_URL(url, part). Spark finds no host, and no user, in an authority that is not a valid one: http://a_b.de."""
    authority = "PARSE_URL({0}, 'AUTHORITY')"
    patterns = {"HOST": r"^(?:[^@]*@)?(\\[.*\\]|[^:@]*)(?::[0-9]*)?$", "USERINFO": "^([^@]*)@[^@]*$"}
    own = {
        name: f"COALESCE(PARSE_URL({{0}}, '{name}'), NULLIF(REGEXP_EXTRACT({authority}, '{pattern}', 1), ''))"
        for name, pattern in patterns.items()
    }
    other = "PARSE_URL({0}, {1})"
    if part.literal is not None:
        found = own.get(str(part.literal), other)
    else:
        cases = " ".join(f"WHEN '{name}' THEN {text}" for name, text in own.items())
        found = f"CASE {{1}} {cases} ELSE {other} END"
    return f"IF({{0}} RLIKE '{URL}', {found}, NULL)"


def _padded(name: str) -> str:
    """LPAD and RPAD to a length in UTF-16 units."""
    padded = f"DECODE({name}(ENCODE({{0}}, {UNITS}), 2 * {{1}}, ENCODE({{2}}, {UNITS})), {UNITS})"
    return f"IF({{2}} = '' OR {{1}} < 0, NULL, {padded})"


def concatenated(left: SqlType, right: SqlType) -> SqlType:
    """The type of two strings in a row: CHAR if both are."""
    if not isinstance(left, types.VarChar) or not isinstance(right, types.VarChar):
        return types.STRING
    kind = types.Char if isinstance(left, types.Char) and isinstance(right, types.Char) else types.VarChar
    return kind(min(left.length + right.length, types.UNBOUNDED), nullable=left.nullable or right.nullable)


def _like(kind: SqlType, *_: SqlType) -> SqlType:
    """The type of as many characters as in the argument."""
    return replace(kind, literal=None) if isinstance(kind, types.VarChar) else types.STRING


def no_longer(kind: SqlType, *_: SqlType) -> SqlType:
    """The type of at most as many characters as in the argument."""
    return types.VarChar(kind.length) if isinstance(kind, types.VarChar) else types.STRING


def part_type(kind: SqlType, *_: SqlType) -> SqlType:
    """The type of a part of a text. A part of bytes, which Flink refuses, is bytes."""
    return types.BYTES if isinstance(kind, types.VarBinary) else no_longer(kind)


def _reversed(kind: SqlType) -> SqlType:
    return types.BYTES if isinstance(kind, types.VarBinary) else types.STRING


def _in_case(name: str) -> Callable[[SqlType], str]:
    """UPPER and LOWER. The result of a literal keeps its length, as in Flink."""

    def template(text: SqlType) -> str:
        literal = text.literal
        grows = literal is not None and len(getattr(literal, name.lower())()) > len(literal)
        return f"LEFT({name}({{0}}), {len(literal or '')})" if grows else f"{name}({{0}})"

    return template


def _matches(text: SqlType, regex: SqlType) -> str:
    """REGEXP: an empty regular expression matches nothing."""
    literal = regex.literal
    return "({0} RLIKE {1})" if literal else "IF({1} = '', {0} <> {0}, {0} RLIKE {1})"


def unmatched(name: str, kinds: Sequence[SqlType]) -> str | None:
    """Return the result of a call whose regular expression or group does not exist; None if they may exist."""
    regex = kinds[1].literal
    group = None
    if name.startswith("REGEXP_EXTRACT"):
        group = kinds[2].literal if len(kinds) == 3 else "1" if name == "REGEXP_EXTRACT_ALL" else None
    if not is_invalid(regex) and has_group(regex, group):
        return None
    result = {"REGEXP_EXTRACT_ALL": "ARRAY<STRING>", "REGEXP_COUNT": "INT", "REGEXP_INSTR": "INT"}.get(name, "STRING")
    return "({0} <> {0})" if name == "REGEXP" else f"CAST(NULL AS {result})"


def _extracted(text: SqlType, regex: SqlType, group: SqlType) -> str:
    """REGEXP_EXTRACT: NULL if nothing matches, and also for a group that is not in the match, where Spark has ''."""
    pattern, number = regex.literal, group.literal
    found = GROUP % "{2}"
    if pattern is None or not (number or "").isdecimal():
        return found
    group_of = Group.of(pattern, int(number or 0))
    if group_of is None or not group_of.optional:
        return found
    if group_of.may_be_empty:
        raise UnsupportedError(
            f"group {number} of this regular expression may be empty or missing, and Spark cannot tell which",
            hint="a group that every match has, and that is at least one character long",
        )
    return f"NULLIF({found}, '')"


def _index_of(kind: SqlType) -> str:
    """The separator of SPLIT_INDEX, which can also be the code of a character."""
    return PARTS.replace("{1}", "CHR({1})") if types.is_integer(kind) else PARTS


def _split_index(text: SqlType, separator: SqlType, index: SqlType) -> str:
    literal, at = separator.literal, index.literal
    parts = f"IF({{0}} = '', ARRAY(), {_index_of(separator)})"
    if literal is None or literal == "":  # without a separator: white space
        parts = f"CASE WHEN {{0}} = '' THEN ARRAY() WHEN {{1}} = '' THEN SPLIT({{0}}, '\\\\s', -1) ELSE {PARTS} END"
        parts = f"IF({{0}} = '', ARRAY(), {_index_of(separator)})" if types.is_integer(separator) else parts
    found = f"GET({parts}, {{2}})"
    return found if (at or "").isdecimal() else f"IF({{2}} < 0, NULL, {found})"


def _decoded(_: SqlType, charset: SqlType) -> str:
    """DECODE: bytes that are not UTF-8 become replacement characters."""
    is_utf_8 = (charset.literal or "").upper() in ("UTF-8", "UTF8")
    return "MAKE_VALID_UTF8(CAST({0} AS STRING))" if is_utf_8 else "DECODE({0}, {1})"


def _encoded(text: SqlType, charset: SqlType) -> str:
    """ENCODE: a character that the charset lacks becomes a question mark."""
    last = {"US-ASCII": "007F", "ISO-8859-1": "00FF"}.get((charset.literal or "").upper())
    known = f"REGEXP_REPLACE({{0}}, '[^\\\\u0000-\\\\u{last}]', '?')" if last else "{0}"
    return f"ENCODE({known}, {{1}})"


def _is_text(regex: str, always: Callable[[SqlType], bool]) -> Callable[[SqlType], str]:
    """IS_DIGIT and IS_DECIMAL. `always` says for which types they are true, also for NULL."""

    def template(kind: SqlType) -> str:
        if always(kind):
            return "({0} IS NULL OR TRUE)"
        return "({0} IS NULL AND FALSE)" if types.is_number(kind) else f"COALESCE({{0}} RLIKE '{regex}', FALSE)"

    return template


def _replaced(text: SqlType, search: SqlType, _: SqlType) -> str:
    """REPLACE. An empty search text matches before, between and after all characters."""
    if search.literal:
        return "REPLACE({0}, {1}, {2})"
    between = f"IF({{0}} = '' OR {{2}} = '', CONCAT({{0}}, {{2}}), {BETWEEN})"
    return f"IF({{1}} = '', {between}, REPLACE({{0}}, {{1}}, {{2}}))"


def _pairs(*kinds: SqlType) -> str:
    """STR_TO_MAP: an empty text has no pairs."""
    between, within = ("{1}", "{2}") if len(kinds) == 3 else ("','", "'='")
    for kind in kinds[1:]:
        if kind.literal == "":
            raise UnsupportedError("the separators of STR_TO_MAP cannot be empty", hint="STR_TO_MAP(s, ',', '=')")
    return f"IF({{0}} = '', {NO_PAIRS}, STR_TO_MAP({{0}}, {between}, {within}))"


def overlaid(length: str) -> str:
    """OVERLAY({0} PLACING {1} FROM {2} FOR length): a start outside the text changes nothing, and a length that is not
    positive reaches to the end of the text.
    """
    inside = f"OVERLAY({{0}} PLACING {{1}} FROM {{2}} FOR {length})"
    rest = f"IF({length} <= 0, CONCAT(LEFT({{0}}, {{2}} - 1), {{1}}), {inside})"
    return f"IF({{2}} <= 0 OR {{2}} > CHAR_LENGTH({{0}}), {{0}}, {rest})"


def part_of(start: SqlType, length: SqlType | None) -> str | None:
    """SUBSTRING: empty if it starts before the first character; NULL if its length is negative. None if Spark's result
    is the same.
    """
    at, of = start.literal, length.literal if length is not None else "0"
    taken = "SUBSTRING({0}, {1})" if length is None else "SUBSTRING({0}, {1}, {2})"
    from_start, is_length = (at or "").isdecimal(), (of or "").isdecimal()
    if from_start and is_length:
        return None
    if not from_start:
        taken = f"IF({{1}} + CHAR_LENGTH({{0}}) < 0, '', {taken})"
    return taken if is_length else f"IF({{2}} >= 0, {taken}, NULL)"


TEXTS = (
    same("CHAR_LENGTH(string)", types.INT),
    same("CHARACTER_LENGTH(string)", types.INT),
    Function("UPPER(string)", _in_case("UPPER"), _like),
    Function("LOWER(string)", _in_case("LOWER"), _like),
    same("BTRIM(string)", types.STRING),
    Function("BTRIM(string, characters)", "BTRIM({0}, {1})", types.STRING),
    same("LTRIM(string)", no_longer),
    Function("LTRIM(string, characters)", "TRIM(LEADING {1} FROM {0})", no_longer),
    same("RTRIM(string)", no_longer),
    Function("RTRIM(string, characters)", "TRIM(TRAILING {1} FROM {0})", no_longer),
    same("REPEAT(string, times)", types.STRING),
    Function("REGEXP(string, regex)", _matches, types.BOOLEAN, INVALID),
    same("REGEXP_COUNT(string, regex)", types.INT, INVALID),
    Function("REGEXP_EXTRACT(string, regex)", GROUP % "0", types.STRING, INVALID),
    Function("REGEXP_EXTRACT(string, regex, group)", _extracted, types.STRING, NO_GROUP),
    same("REGEXP_EXTRACT_ALL(string, regex)", types.Array(types.STRING), INVALID),
    same("REGEXP_EXTRACT_ALL(string, regex, group)", types.Array(types.STRING), NO_GROUP),
    same("REGEXP_INSTR(string, regex)", types.INT, INVALID),
    Function(
        "REGEXP_REPLACE(string, regex, replacement)",
        # Flink takes the replacement literally: $1 is not a group
        "REGEXP_REPLACE({0}, {1}, REPLACE(REPLACE({2}, '\\\\', '\\\\\\\\'), '$', '\\\\$'))",
        types.STRING,
        INVALID,
    ),
    Function("REGEXP_SUBSTR(string, regex)", GROUP % "0", types.STRING, INVALID),
    same("TRANSLATE(string, from, to)", types.STRING),
    same("TRANSLATE3(string, from, to)", types.STRING, spark="TRANSLATE"),
    Function("INITCAP(string)", WORDS, _like),
    Function("LPAD(string, length, pad)", _padded("LPAD"), types.STRING),
    Function("RPAD(string, length, pad)", _padded("RPAD"), types.STRING),
    Function("FROM_BASE64(string)", "MAKE_VALID_UTF8(CAST(UNBASE64({0}) AS STRING))", types.STRING, takes="s bi"),
    Function("TO_BASE64(value)", "TRANSLATE(BASE64({0}), '\\r\\n', '')", types.STRING, takes="s bi"),
    Function("ASCII(string)", f"IF({{0}} = '', 0, {FIRST_BYTE} - IF({FIRST_BYTE} > 127, 256, 0))", types.INT),
    same("CHR(integer)", types.STRING),
    Function("DECODE(binary, charset)", _decoded, types.STRING),
    Function("ENCODE(string, charset)", _encoded, types.BYTES),
    same("INSTR(string, substring)", types.INT),
    same("LEFT(string, length)", part_type),
    same("RIGHT(string, length)", no_longer),
    same("LOCATE(substring, string)", types.INT),
    Function(
        "LOCATE(substring, string, position)", "IF({2} IS NULL, NULL, LOCATE({0}, {1}, IF({2} < 1, 1, {2})))", types.INT
    ),
    same("URL_ENCODE(string)", types.STRING),
    Function("URL_DECODE(string)", "TRY_URL_DECODE({0})", types.STRING),
    Function("PARSE_URL(url, part)", _part_of_url, types.STRING, NO_URL),
    Function(
        "PARSE_URL(url, part, key)",
        f"IF({{0}} RLIKE '{URL}', PARSE_URL({{0}}, {{1}}, {{2}}), NULL)",
        types.STRING,
        NO_URL,
    ),
    Function("PRINTF(format, ...)", printed, types.STRING, "fails if a format in a column does not fit its arguments"),
    Function("REPLACE(string, search, replacement)", _replaced, types.STRING),
    same("REVERSE(string)", _reversed),
    Function("SPLIT(string, separator)", SPLIT, types.Array(types.STRING)),
    Function("SPLIT_INDEX(string, separator, index)", _split_index, types.STRING, takes="s, s i l, i l"),
    Function("STR_TO_MAP(string)", _pairs, types.Map(types.STRING, types.STRING), TWICE),
    Function("STR_TO_MAP(string, between, within)", _pairs, types.Map(types.STRING, types.STRING), TWICE),
    same("STARTSWITH(string, start)", types.BOOLEAN),
    same("ENDSWITH(string, end)", types.BOOLEAN),
    Function(
        "ELT(index, ...)",
        lambda *kinds: f"GET(ARRAY({holes(1, len(kinds))}), {{0}} - 1)",
        lambda _, *kinds: replace(common_type(kinds), nullable=True),
        takes="",
    ),
    Function("IS_DIGIT(value)", _is_text("^\\\\p{Nd}+\\\\z", types.is_integer), types.BOOLEAN, takes="s i l d p"),
    Function("IS_ALPHA(value)", "COALESCE({0} RLIKE '^\\\\p{L}+\\\\z', FALSE)", types.BOOLEAN, takes="s i l d p"),
    Function("IS_DECIMAL(value)", _is_text(DECIMAL, types.is_number), types.BOOLEAN, takes="s i l d p"),
    of_runtime("INET_ATON(address)", types.BIGINT),
    of_runtime("INET_NTOA(number)", types.STRING, takes="i l"),
    same("MD5(string)", types.Char(32), takes="s bi"),
    same("SHA1(string)", types.Char(40), takes="s bi"),
    *(
        Function(f"SHA{bits}(string)", f"SHA2({{0}}, {bits})", types.Char(bits // 4), takes="s bi")
        for bits in (224, 256, 384, 512)
    ),
    same("SHA2(string, bits)", types.VarChar(128), takes="s bi, i l"),
)


# Groups of regular expressions. For a group that does not take part in the match Spark returns '' and Flink NULL.


@dataclass(frozen=True)
class Group:
    """Whether the pattern can match without the group, and whether the group can match the empty text."""

    optional: bool
    may_be_empty: bool

    @staticmethod
    def of(regex: str, number: int) -> Group | None:
        """Return the group of that number; 0 is the whole match. None if Python cannot parse the expression."""
        try:
            tree = parser.parse(regex)
        except (re.error, OverflowError):
            return None
        if number == 0:
            return Group(optional=False, may_be_empty=False)
        widths = [part.getwidth()[0] for group, part in _groups(tree) if group == number]
        return Group(not _in_every_match(tree, number), 0 in widths)


def _in_every_match(tree: Any, number: int) -> bool:
    for kind, value in tree:
        match str(kind):
            case "SUBPATTERN" if value[0] == number or _in_every_match(value[-1], number):
                return True
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if value[0] and _in_every_match(value[2], number):
                return True
            case "ATOMIC_GROUP" if _in_every_match(value, number):
                return True
    return False


def _groups(tree: Any) -> Iterator[tuple[int, Any]]:
    """Yield all groups inside, with their numbers."""
    for kind, value in tree:
        if str(kind) == "SUBPATTERN":
            yield value[0], value[-1]
        for part in value if isinstance(value, tuple | list) else (value,):
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, parser.SubPattern):
                    yield from _groups(inner)


def is_invalid(regex: str | None) -> bool:
    """Whether the regular expression is certainly invalid in Java too: its parentheses do not match."""
    if regex is None or "\\Q" in regex:
        return False
    try:
        parser.parse(regex)
    except re.error as error:
        return error.msg.startswith(("missing ), unterminated subpattern", "unbalanced parenthesis"))
    except (OverflowError, RecursionError):
        return False
    return False


def has_group(regex: str | None, number: str | None) -> bool:
    """Whether the group may exist; always True for an expression or a number that is not a literal."""
    if number is not None and number.startswith("-"):
        return False
    if regex is None or not (number or "").isdecimal():
        return True
    try:
        return bool(int(number or 0) < parser.parse(regex).state.groups)
    except (re.error, OverflowError, RecursionError):
        return True
