"""A row of the table of Flink's functions: how a call is written, and how Spark computes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from tvfsql.errors import BindError
from tvfsql.plan.values.types import NULL, STRING, UNKNOWN, SqlType

# Spark SQL with {0}, {1}, ... for the arguments and {zone} for `table.local-time-zone` as a literal; or a function that
# makes it from the types of the arguments, and returns None if it depends on an unknown type.
Template = str | Callable[..., "str | None"]
Result = SqlType | Callable[..., SqlType]
# The families of types (`functions/arguments.py`) that Flink takes for an argument of that name.
ARGUMENTS = {
    name: families
    for families, names in {
        "s": "address between characters charset end format from json key pad part regex replacement search separator "
        "start string substring to url within zone",
        "i": "bound seed",
        "i l": "bits group index integer length position seconds times",
        "i l d": "x y",
        "i l d p": "base exponent numeric",
        "a": "array",
        "b": "ascending nulls_first",
        "bi": "binary",
        "dt ts tz": "time",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True)
class Function:
    """A Flink function with one number of arguments.

    `call` is the call as documented: name and arguments. `spark` computes it in Spark. `result` is its type, if
    certain: a type in Spark's spelling, or a function of the argument types. `note` says where Spark's result differs,
    and why it is kept; without a note the results are the same. `runtime` is the runtime's name for its implementation,
    if the runtime computes the function instead of Spark. `takes` has the families of types of its arguments, separated
    by commas, if they are not those of the arguments' names; "" of one argument: that depends on the other arguments.
    """

    call: str
    spark: Template
    result: Result = UNKNOWN
    note: str = ""
    runtime: str = ""
    takes: str | None = None

    @cached_property
    def name(self) -> str:
        return self.call.partition("(")[0]

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        inside = self.call.partition("(")[2].rpartition(")")[0]
        return tuple(filter(None, re.split(r",\s*", inside)))

    @cached_property
    def families(self) -> tuple[tuple[str, ...], ...]:
        """The families of types that each argument takes; () for one of which nothing is known."""
        if self.takes is not None:
            return tuple(tuple(each.split()) for each in self.takes.split(","))
        return tuple(tuple(ARGUMENTS.get(name, "").split()) for name in self.arguments)

    @property
    def is_variadic(self) -> bool:
        """Whether the last argument can be repeated."""
        return bool(self.arguments) and self.arguments[-1] == "..."

    def template(self, types: Iterable[SqlType]) -> str | None:
        """Return the call in Spark SQL for arguments of these types; None if it depends on an unknown type."""
        return self.spark if isinstance(self.spark, str) else self.spark(*types)

    def type(self, types: Iterable[SqlType]) -> SqlType:
        """The type of the result."""
        return self.result if isinstance(self.result, SqlType) else self.result(*types)


def of_runtime(call: str, result: SqlType, note: str = "", takes: str | None = None) -> Function:
    """A function that the runtime implements under the same name in lower case."""
    return Function(call, "", result, note, call.partition("(")[0].lower(), takes)


def same(call: str, result: Result = UNKNOWN, note: str = "", *, spark: str = "", takes: str | None = None) -> Function:
    """A function that Spark has under the name `spark`, or under the same name, with the same arguments."""
    function = Function(call, "", result, note)

    def template(*arguments: SqlType) -> str:
        return f"{spark or function.name}({holes(0, len(arguments))})"

    spoken = template if function.is_variadic else template(*[UNKNOWN] * len(function.arguments))
    return Function(call, spoken, result, note, takes=takes)


def require_text(where: str, kind: SqlType) -> None:
    """Raise BindError if an argument of that type is not a text, where Spark would make one of any value."""
    if kind not in (STRING, UNKNOWN, NULL):
        raise BindError(f"{where} needs a STRING, not {kind.flink}", hint="CAST(x AS STRING)")


def holes(first: int, end: int) -> str:
    """The placeholders of the arguments from `first` up to but not including `end`, separated by commas."""
    return ", ".join(f"{{{i}}}" for i in range(first, end))
