"""Labels of key groups that Spark distributes evenly, and the number of tasks that they are for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

MASK = 0xFFFFFFFF

_used: ContextVar[list[int] | None] = ContextVar("used", default=None)


@contextmanager
def key_groups_used() -> Iterator[list[int]]:
    """Yields a list: the number of key groups of each operator that is built inside this block."""
    found: list[int] = []
    before = _used.set(found)
    try:
        yield found
    finally:
        _used.reset(before)


def key_group_labels(groups: int) -> tuple[int, ...]:
    """Labels for `groups` key groups, one for each remainder of Spark's hash modulo `groups`.

    Spark puts the group with label x into partition hash(x) modulo the number of partitions. With the labels 0, 1, 2,
    ... two of four groups may share one of four partitions. With these labels, if the number of groups is a multiple of
    the number of partitions, all partitions get the same number of groups.
    """
    found: dict[int, int] = {}
    for label in count():
        found.setdefault(spark_hash(label) % groups, label)
        if len(found) == groups:
            if (used := _used.get()) is not None:
                used.append(groups)
            return tuple(found[remainder] for remainder in range(groups))
    raise AssertionError


def spark_hash(number: int) -> int:
    """Spark's hash of an INT: MurmurHash3 (Appleby, 2011) of its four bytes with seed 42, as a signed number."""
    mixed = _rotate(number * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
    value = (_rotate(42 ^ mixed, 13) * 5 + 0xE6546B64) & MASK
    value ^= 4
    value = (value ^ value >> 16) * 0x85EBCA6B & MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & MASK
    value ^= value >> 16
    return value - (1 << 32) if value >> 31 else value


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> (32 - by)) & MASK
