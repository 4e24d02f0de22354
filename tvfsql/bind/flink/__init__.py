"""Flink's functions: one table, as data, that says how Spark computes each of them.

A function that is not in the table is passed to Spark under its own name, if Spark has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from tvfsql.bind.flink.function import Function
from tvfsql.bind.flink.functions.collections import COLLECTIONS, CONDITIONS
from tvfsql.bind.flink.functions.json import JSON
from tvfsql.bind.flink.functions.numbers import NUMBERS
from tvfsql.bind.flink.functions.texts import TEXTS
from tvfsql.bind.flink.functions.times import TIMES

TABLE = (*TEXTS, *NUMBERS, *TIMES, *COLLECTIONS, *CONDITIONS, *JSON)
BY_NAME: Mapping[str, tuple[Function, ...]] = {
    name: tuple(rows) for name, rows in groupby(sorted(TABLE, key=lambda row: row.name), key=lambda row: row.name)
}


def find(name: str, arguments: int) -> Function | None:
    """Return the function of that name (in upper case) that accepts this number of arguments; None if there is none."""
    for function in BY_NAME.get(name, ()):
        least = len(function.arguments) - function.is_variadic
        if arguments == least or (function.is_variadic and arguments > least):
            return function
    return None
