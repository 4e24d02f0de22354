"""Figures as numbers, from the texts on Spark's SQL page: rows, milliseconds, bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNITS = {
    "ms": 1.0,
    "s": 1_000.0,
    "m": 60_000.0,
    "h": 3_600_000.0,
    **{f"{prefix}B": 1024.0**power for power, prefix in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))},
}
NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)(?: ([A-Za-z]+))?")


@dataclass(frozen=True)
class Figure:
    """A figure over all tasks. `middle` and `most` are the figures of the median and of the largest task; None: one
    task."""

    total: float
    middle: float | None = None
    most: float | None = None

    @property
    def skew(self) -> float | None:
        """The ratio of the largest task to the median; None for a single task, or if the median is 0."""
        return None if not self.middle or self.most is None else self.most / self.middle

    def plus(self, other: Figure) -> Figure:
        """The sum of two micro-batches, with the tasks of the one with more skew."""
        wider = max((self, other), key=lambda each: each.skew or 0.0)
        return Figure(self.total + other.total, wider.middle, wider.most)


def read_figure(text: str) -> Figure | None:
    """A figure from `46,462`, `4.9 s`, `1814.9 KiB`, or a total with minimum, median and maximum. None for other texts.

    The texts have at most four digits, so bytes and times are rounded; rows are exact.
    """
    _, of_tasks, values = text.rpartition("\n")
    numbers = [_number(*found) for found in NUMBER.findall(re.sub(r"\(stage [^)]*\)", "", values))]
    if not numbers or any(number is None for number in numbers):
        return None
    known = [number for number in numbers if number is not None]
    if not of_tasks:
        return Figure(known[0])
    if len(known) == 4:
        return Figure(known[0], known[2], known[3])
    return Figure(known[1], known[1], known[2]) if len(known) == 3 else None


def _number(digits: str, unit: str) -> float | None:
    value = float(digits.replace(",", ""))
    return value * UNITS[unit] if unit in UNITS else None if unit else value
