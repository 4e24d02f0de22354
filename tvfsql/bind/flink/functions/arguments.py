"""The types that the arguments of Flink's functions take, by the names that the table of functions gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvfsql.bind.flink.function import Function
from tvfsql.bind.flink.functions.taken_types import TAKEN
from tvfsql.errors import BindError
from tvfsql.plan.values.types import BIGINT, SqlType, is_integer, is_number

TEXT = frozenset(
    "string substring regex replacement search separator pad json url part key format address characters charset"
    .split()
)  # fmt: skip
NUMERIC = frozenset(
    "numeric number integer base exponent x y seconds times length index position bits precision group".split()
)
MOMENTS = ("date", "time", "timestamp", "timestamp_ntz", "string")
OPEN = ("", "void", "variant")  # what Spark decides
# The families of types in taken_types.py, and their names in messages.
FAMILIES = {
    "string": "s", "tinyint": "i", "smallint": "i", "int": "i", "bigint": "l", "float": "d", "double": "d",
    "decimal": "p", "boolean": "b", "date": "dt", "time": "tm", "timestamp_ntz": "ts", "timestamp": "tz",
    "binary": "bi", "array": "a", "map": "m", "struct": "r",
}  # fmt: skip
WORDS = {
    "s": "STRING", "i": "INT", "l": "BIGINT", "d": "DOUBLE", "p": "DECIMAL", "b": "BOOLEAN", "dt": "DATE", "tm": "TIME",
    "ts": "TIMESTAMP", "tz": "TIMESTAMP_LTZ", "bi": "BYTES", "a": "ARRAY", "m": "MAP", "r": "ROW",
}  # fmt: skip
# Families whose values Spark converts to each other in one way only: what Flink does not take of them is noted.
ALIKE = ({"s", "i", "l", "d", "p"}, {"s", "bi"}, {"s", "dt", "ts", "tz"})


def refuse_arguments(function: Function, kinds: Sequence[SqlType]) -> None:
    """Raise BindError for an argument that Flink rejects, and that Spark rejects or would read in its own way."""
    for name, kind in zip(function.arguments, kinds, strict=False):
        outer = "number" if is_number(kind) else kind.root
        if outer in OPEN:
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
    taken = TAKEN.get(f"{function.name}/{len(kinds)}", ())
    for at, (of, kind) in enumerate(zip(taken, kinds, strict=False)):
        family = FAMILIES.get(kind.root)
        families = {*of.split()}
        if not families or family is None or family in families:
            continue
        wanted = " or ".join(WORDS[each] for each in of.split())
        if not any(family in alike and alike & families for alike in ALIKE):
            raise _error(function, wanted, kind, None)
        yield at, wanted


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
