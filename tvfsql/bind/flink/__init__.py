"""Flink's functions: one table, as data, that says how Spark computes each of them.

A function that is not in the table is passed to Spark under its own name, if Spark has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, groupby

from tvfsql.bind.flink.function import Function
from tvfsql.bind.flink.functions.collections import COLLECTIONS, CONDITIONS
from tvfsql.bind.flink.functions.json import JSON
from tvfsql.bind.flink.functions.numbers import NUMBERS
from tvfsql.bind.flink.functions.texts import TEXTS
from tvfsql.bind.flink.functions.times import TIMES

# The pages of docs/functions.md. Everything that lists or finds functions asks `functions` and `by_name`.
TOPICS = {
    "Text": TEXTS,
    "Numbers": NUMBERS,
    "Times and dates": TIMES,
    "Collections": COLLECTIONS,
    "Conditions and types": CONDITIONS,
    "JSON": JSON,
}


def functions() -> Iterator[Function]:
    """All functions, by topic."""
    return chain.from_iterable(TOPICS.values())


@cache
def by_name() -> Mapping[str, tuple[Function, ...]]:
    """The functions by name, in upper case: one for each number of arguments."""
    rows = groupby(sorted(functions(), key=lambda row: row.name), key=lambda row: row.name)
    return {name: tuple(of_name) for name, of_name in rows}


def find(name: str, arguments: int) -> Function | None:
    """Return the function of that name (in upper case) that accepts this number of arguments; None if there is none."""
    for function in by_name().get(name, ()):
        least = len(function.arguments) - function.is_variadic
        if arguments == least or (function.is_variadic and arguments > least):
            return function
    return None
