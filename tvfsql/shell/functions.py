"""The functions that a query can call, with their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tvfsql.bind import flink
from tvfsql.bind.spark_text.functions import functions
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.plan.values.types import SqlType
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.syntax.parser import USAGE

RANKS = ("ROW_NUMBER()", "RANK()", "DENSE_RANK()")


@dataclass(frozen=True, order=True)
class Call:
    """A call as it is written, and the type of its result; None if the type depends on the arguments."""

    text: str
    result: str | None = None

    @property
    def name(self) -> str:
        return self.text.partition("(")[0]


def calls(users: Iterable[UserFunction] = ()) -> Iterator[Call]:
    """All functions by name: those of the user, window functions, aggregates, Flink's functions, and Spark's."""
    yield from sorted(Call(f"{each.name}(...)", each.result.flink) for each in users)
    yield from _built_in()


@cache
def _built_in() -> tuple[Call, ...]:
    known = {Call(usage.partition("): ")[0].rstrip(")") + ")") for usage in USAGE.values()}
    known |= {Call(f"{name}(x)") for name in AGGREGATES if name.isidentifier()}
    known |= {
        Call(each.call, each.result.flink if isinstance(each.result, SqlType) else None) for each in flink.functions()
    }
    known |= {Call(text) for text in RANKS}
    names = {each.name for each in known}
    known |= {Call(f"{name.upper()}(...)") for name in functions() if name.upper() not in names}
    return tuple(sorted(known, key=lambda call: (call.name, call.text)))
