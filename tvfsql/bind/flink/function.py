"""What a row of the table of Flink's functions says: how a call is written, and how Spark computes the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.types import UNKNOWN, SqlType

# Spark SQL with {0}, {1}, ... for the arguments and {zone} for `table.local-time-zone` as a literal; or a function from
# the `Argument`s to it, which returns None if it depends on a type that is not known.
Template = str | Callable[..., "str | None"]
Result = SqlType | Callable[..., SqlType]


@dataclass(frozen=True)
class Function:
    """A function of Flink's by one number of arguments.

    `call` is the call as documented: name and arguments. `spark` makes it in Spark. `result` is its type where that is
    certain: Spark's name for it, or a function of the arguments' types. `note` says where Spark's answer differs, and
    why that is kept; without one the answers are the same. `runtime` is what the runtime calls
    its function, if that computes it instead of Spark.
    """

    call: str
    spark: Template
    result: Result = UNKNOWN
    note: str = ""
    runtime: str = ""

    @cached_property
    def name(self) -> str:
        return self.call.partition("(")[0]

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        inside = self.call.partition("(")[2].rpartition(")")[0]
        return tuple(filter(None, re.split(r",\s*", inside)))

    @property
    def is_variadic(self) -> bool:
        """Whether the last argument may be repeated."""
        return bool(self.arguments) and self.arguments[-1] == "..."

    def template(self, types: Iterable[SqlType]) -> str | None:
        """The call in Spark SQL, for arguments of these types; None if a type that it depends on is not known."""
        return self.spark if isinstance(self.spark, str) else self.spark(*types)

    def type(self, types: Iterable[SqlType]) -> SqlType:
        """The type of the result."""
        return self.result if isinstance(self.result, str) else self.result(*types)


def of_runtime(call: str, result: SqlType, note: str = "") -> Function:
    """A function that the runtime has under the same name, in small letters."""
    return Function(call, "", result, note, call.partition("(")[0].lower())


class Argument(str):
    """The type of an argument, with what it is if it is a literal: its text, as SQL means it."""

    literal: str | None

    def __new__(cls, kind: SqlType, literal: str | None = None) -> Argument:
        made = super().__new__(cls, kind)
        made.literal = literal
        return made


def literal_of(argument: SqlType) -> str | None:
    """The text of an argument that is a literal."""
    return getattr(argument, "literal", None)


def same(call: str, result: Result = UNKNOWN, note: str = "", *, spark: str = "") -> Function:
    """A function that Spark has, under the name `spark` or under the same name, with the same arguments."""
    function = Function(call, "", result, note)

    def template(*arguments: SqlType) -> str:
        return f"{spark or function.name}({holes(0, len(arguments))})"

    return Function(call, template if function.is_variadic else template(*function.arguments), result, note)


def holes(first: int, end: int) -> str:
    """The arguments from one to before another one, between commas."""
    return ", ".join(f"{{{i}}}" for i in range(first, end))
