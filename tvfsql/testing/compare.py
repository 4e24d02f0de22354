"""Compares the rows that a step emitted with the expected ones, in any order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvfsql.runtime.host.row_formats import cells

CLOSE = 1e-9  # relative tolerance for FLOAT and DOUBLE, whose sums depend on the order of rows


@dataclass(frozen=True)
class Given:
    """The rows that an output emitted in a step, with their columns and types."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[Sequence[Any], ...]

    def only(self, columns: Sequence[str]) -> Given:
        """Return these columns, in this order."""
        at = [self.columns.index(name) for name in columns]
        rows = tuple(tuple(row[i] for i in at) for row in self.rows)
        return Given(tuple(columns), tuple(self.types[i] for i in at), rows)


def differences(expected: Given, found: Given) -> list[str]:
    """The lines of a diff: missing rows (-) and unexpected rows (+); empty if all rows are equal."""
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
    """Whether two values are equal; floating-point numbers may differ slightly."""
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
