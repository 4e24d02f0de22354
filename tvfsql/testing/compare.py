"""Rows compared: those that a step gave with those that were expected, in any order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvfsql.runtime.host.row_formats import cells

CLOSE = 1e-9  # of FLOAT and DOUBLE, whose sums depend on the order of rows


@dataclass(frozen=True)
class Given:
    """What an output gave in a step: columns, their types, rows."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[Sequence[Any], ...]

    def only(self, columns: Sequence[str]) -> Given:
        """Some of the columns, in that order."""
        at = [self.columns.index(name) for name in columns]
        rows = tuple(tuple(row[i] for i in at) for row in self.rows)
        return Given(tuple(columns), tuple(self.types[i] for i in at), rows)


def differences(expected: Given, found: Given) -> list[str]:
    """Lines of a diff: rows that are missing (-), and those that nobody expected (+); none if all are equal."""
    left = [*found.rows]
    missing = []
    for row in expected.rows:
        at = next((i for i, other in enumerate(left) if same(tuple(row), tuple(other))), None)
        if at is None:
            missing.append(row)
        else:
            del left[at]
    return [*_lines("-", expected, missing), *_lines("+", found, left)]


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal; numbers with a point if they nearly are."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=CLOSE, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def _lines(sign: str, given: Given, rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for texts in cells(given.types, rows):
        parts = (f"{name}: {'null' if text is None else text}" for name, text in zip(given.columns, texts, strict=True))
        yield f"{sign} {{{', '.join(parts)}}}"
