"""The types that the arguments of Flink's functions take, by the names that the table of functions gives them."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.bind.flink.function import Function
from tvfsql.errors import BindError
from tvfsql.plan.values.types import SqlType, is_integer, is_number, shown

TEXT = frozenset(
    "string substring regex replacement search separator pad json url part key format address characters charset"
    .split()
)  # fmt: skip
NUMERIC = frozenset(
    "numeric number integer base exponent x y seconds times length index position bits precision group".split()
)
MOMENTS = ("date", "time", "timestamp", "timestamp_ntz", "string")
OPEN = ("", "void", "variant")  # what Spark decides


def refuse_arguments(function: Function, kinds: Sequence[SqlType]) -> None:
    """Raise BindError for an argument that Flink rejects, and that Spark rejects or would read in its own way."""
    for name, kind in zip(function.arguments, kinds, strict=False):
        outer = "number" if is_number(kind) else kind.partition("<")[0].partition("(")[0]
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


def _error(function: Function, wanted: str, kind: SqlType, hint: str | None) -> BindError:
    article = "an" if wanted[0] in "AI" else "a"
    given = shown(kind)
    return BindError(
        f"{function.name} needs {article} {wanted}, not {'an' if given[0] in 'AI' else 'a'} {given}",
        hint=hint or function.call,
    )


def _for_text(function: Function, kind: SqlType) -> str:
    if function.name == "TO_TIMESTAMP" and is_integer(kind):
        return f"TO_TIMESTAMP_LTZ(x, {3 if kind == 'bigint' else 0})"
    return f"{function.name}(CAST(x AS STRING){', ...' if len(function.arguments) > 1 else ''})"


def _for_time(function: Function, kind: SqlType) -> str | None:
    if not is_integer(kind):
        return None
    precision = 3 if kind == "bigint" else 0
    return f"{function.name}(TO_TIMESTAMP_LTZ(x, {precision}){', ...' if len(function.arguments) > 1 else ''})"
