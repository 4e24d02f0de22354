"""The types that the arguments of Flink's functions take, by the names that the table of functions gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvfsql.bind.flink.function import Function
from tvfsql.bind.flink.operators.implicit_casts import is_implicit
from tvfsql.errors import BindError
from tvfsql.plan.values.types import (
    BIGINT,
    INTERVAL_MONTHS,
    INTERVAL_SECONDS,
    UNKNOWN,
    SqlType,
    element_type,
    goes_with,
    has_map,
    is_integer,
    is_number,
    is_orderable,
)

TEXT = frozenset(
    "string substring regex replacement search separator pad json url part key format address characters charset"
    .split()
)  # fmt: skip
NUMERIC = frozenset(
    "numeric number integer base exponent x y seconds times length index position bits precision group".split()
)
MOMENTS = ("date", "time", "timestamp", "timestamp_ntz", "string")
OPEN = ("", "void", "variant")  # what Spark decides
# The families of types that the table of functions names, and their names in messages. Flink 2.3's answers are in
# tests/data/flink_argument_types.json; tests/bind/test_argument_types.py compares them.
FAMILIES = {
    "string": "s", "tinyint": "i", "smallint": "i", "int": "i", "bigint": "l", "float": "d", "double": "d",
    "decimal": "p", "boolean": "b", "date": "dt", "time": "tm", "timestamp_ntz": "ts", "timestamp": "tz",
    "binary": "bi", "array": "a", "map": "m", "struct": "r", INTERVAL_MONTHS.root: "iv", INTERVAL_SECONDS.root: "iv",
}  # fmt: skip
WORDS = {
    "s": "STRING", "i": "INT", "l": "BIGINT", "d": "DOUBLE", "p": "DECIMAL", "b": "BOOLEAN", "dt": "DATE", "tm": "TIME",
    "ts": "TIMESTAMP", "tz": "TIMESTAMP_LTZ", "bi": "BYTES", "a": "ARRAY", "m": "MAP", "r": "ROW",
    "iv": "INTERVAL",
}  # fmt: skip
# functions of arrays that compare elements
COMPARES = frozenset(
    f"ARRAY_{name}" for name in "CONTAINS DISTINCT EXCEPT INTERSECT MAX MIN POSITION REMOVE SORT UNION".split()
)
NO_TEXT = ("bi", "a", "m", "r", "iv")  # families of which LISTAGG makes no text
# Families whose values Spark converts to each other in one way only: what Flink does not take of them is noted.
ALIKE = ({"s", "i", "l", "d", "p"}, {"s", "bi"}, {"s", "dt", "ts", "tz"})
# Families that Spark does not convert, of each argument; "*": any.
UNCONVERTED = {
    "TO_BASE64": ("*",), "PARSE_URL": ("*", "*", "*"), "STR_TO_MAP": ("*", "*", "*"), "REPLACE": ("", "", "bi"),
    "RAND": ("*",), "RAND_INTEGER": ("*",), "FROM_UNIXTIME": ("s",), "TO_DATE": ("bi",), "TO_TIMESTAMP": ("bi",),
    "PARSE_JSON": ("bi",), "TRY_PARSE_JSON": ("bi",),
}  # fmt: skip


def family_of(kind: SqlType) -> str | None:
    """The family of a type; None for types that Spark alone knows."""
    return FAMILIES.get(kind.root)


def in_words(families: str) -> str:
    """The names of families of types: "STRING or BYTES". All four numbers are "number"."""
    names = families.replace("i l d p", "number").split()
    return " or ".join(WORDS.get(each, each) for each in names)


def refuse_arguments(function: Function, kinds: Sequence[SqlType]) -> None:
    """Raise BindError for an argument that Flink rejects, and that Spark rejects or would read in its own way."""
    own = function.families if function.takes is not None else ()
    for at, (name, kind) in enumerate(zip(function.arguments, kinds, strict=False)):
        outer = "number" if is_number(kind) else kind.root
        if outer in OPEN or (at < len(own) and family_of(kind) in own[at]):
            continue
        if name in TEXT and outer not in ("string", "binary"):
            raise _error(function, "STRING", kind, _for_text(function, kind))
        if name in NUMERIC and outer not in ("number", "string"):
            raise _error(function, "number", kind, None)
        if name == "time" and outer not in MOMENTS:
            raise _error(function, "time", kind, _for_time(function, kind))
        if name in ("array", "map") and outer != name:
            raise _error(function, name.upper(), kind, None)
        if name == "collection" and outer not in ("array", "map"):
            raise _error(function, "ARRAY or MAP", kind, None)


def beyond_flink(function: Function, kinds: Sequence[SqlType]) -> Iterator[tuple[int, str]]:
    """Yield the arguments of a type that Flink does not take, and what it takes. Raises BindError where no conversion
    is certain.
    """
    taken = () if function.is_variadic and len(kinds) >= len(function.arguments) else function.families
    for at, (families, kind) in enumerate(zip(taken, kinds, strict=False)):
        family = family_of(kind)
        if not families or family is None or family in families:
            continue
        wanted = " or ".join(WORDS[each] for each in families)
        unconverted = UNCONVERTED.get(function.name, ())
        if at < len(unconverted) and unconverted[at] in ("*", family):
            raise _error(function, wanted, kind, _for_text(function, kind) if "s" in families else None)
        if not any(family in alike and alike & {*families} for alike in ALIKE):
            raise _error(function, wanted, kind, None)
        yield at, wanted
    _refuse_elements(function, kinds)
    yield from _beside_others(function, kinds)


def _refuse_elements(function: Function, kinds: Sequence[SqlType]) -> None:
    """Raise BindError for an array whose elements the function cannot compare, join, or have as keys."""
    element = element_type(kinds[0]) if kinds else UNKNOWN
    if function.name in COMPARES and not is_orderable(element):
        raise _error(function, "ARRAY of values that can be compared", kinds[0], None)
    if function.name == "ARRAY_JOIN" and family_of(element) in ("a", "m", "r"):
        raise _error(function, "ARRAY<STRING>", kinds[0], None)
    if function.name == "MAP_FROM_ARRAYS" and has_map(element):
        raise _error(function, "ARRAY of keys, which are no MAPs", kinds[0], None)
    if function.name == "ARRAY_CONCAT":
        for kind in kinds[1:]:
            if not goes_with(kinds[0], kind):
                raise _error(function, kinds[0].flink, kind, None)


def _beside_others(function: Function, kinds: Sequence[SqlType]) -> Iterator[tuple[int, str]]:
    """The same for arguments whose types depend on that of the first: elements, and second arrays and maps."""
    first = kinds[0].parts if kinds else ()
    for at, (name, kind) in enumerate(zip(function.arguments, kinds, strict=False)):
        family = family_of(kind)
        if family is None:
            continue
        of = {"other": function.arguments[0], "keys": "array", "values": "array"}.get(name)
        if of in ("array", "map") and family != of[0]:
            raise _error(function, of.upper(), kind, None)
        if of == function.arguments[0] and not all(map(_alike, first, kind.parts)):
            raise _error(function, kinds[0].flink, kind, None)
        if name == "element" and first and not is_implicit(kind, first[0]):
            if not (is_integer(kind) and is_integer(first[0])):
                raise _error(function, first[0].flink, kind, None)
            yield at, first[0].flink
    match function.name:
        case "ARRAY_JOIN" if other := next((kind for kind in kinds[1:] if family_of(kind) not in ("s", None)), None):
            raise _error(function, "STRING", other, None)
        case "ARRAY_JOIN" if first and family_of(first[0]) not in ("s", None):
            yield 0, "ARRAY<STRING>"
        case "GREATEST" | "LEAST":
            for kind in kinds:
                if family_of(kind) in ("a", "m", "r"):
                    raise _error(function, "value that can be ordered", kind, None)
        case "TO_TIMESTAMP_LTZ" if len(kinds) == 2 and (family_of(kinds[0]) == "s") != (family_of(kinds[1]) == "s"):
            if None not in map(family_of, kinds):
                of_text = family_of(kinds[0]) == "s"
                hint = "TO_TIMESTAMP_LTZ(s, 'yyyy-MM-dd HH:mm:ss')" if of_text else "TO_TIMESTAMP_LTZ(ms, 3)"
                raise _error(function, "STRING" if of_text else "number", kinds[1], hint)


def _alike(one: SqlType, other: SqlType) -> bool:
    """Whether values of one type become those of the other without a CAST in Flink."""
    return is_implicit(one, other) or is_implicit(other, one)


def _error(function: Function, wanted: str, kind: SqlType, hint: str | None) -> BindError:
    article = "an" if wanted[0] in "AI" else "a"
    given = kind.flink
    return BindError(
        f"{function.name} needs {article} {wanted}, not {'an' if given[0] in 'AI' else 'a'} {given}",
        hint=hint or function.call,
    )


def _for_text(function: Function, kind: SqlType) -> str:
    if function.name == "TO_TIMESTAMP" and is_integer(kind):
        return f"TO_TIMESTAMP_LTZ(x, {3 if kind == BIGINT else 0})"
    return f"{function.name}(CAST(x AS STRING){', ...' if len(function.arguments) > 1 else ''})"


def _for_time(function: Function, kind: SqlType) -> str | None:
    if not is_integer(kind):
        return None
    precision = 3 if kind == BIGINT else 0
    return f"{function.name}(TO_TIMESTAMP_LTZ(x, {precision}){', ...' if len(function.arguments) > 1 else ''})"
