"""Labels of key groups that Spark distributes evenly, and their number for the stream that is built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count

from tvfsql.plan.stream import KEY_GROUPS

MASK = 0xFFFFFFFF


@dataclass
class KeyGroups:
    """The key groups of a stream while it is built. `number` is for operators whose query names none; `used` gets the
    number of each operator, `asked` those that the query names."""

    number: int
    used: list[int] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)


_of_stream: ContextVar[KeyGroups | None] = ContextVar("of_stream", default=None)


@contextmanager
def key_groups(number: int) -> Iterator[KeyGroups]:
    """Operators that are built inside this block have `number` key groups, unless their query names a number."""
    found = KeyGroups(number)
    before = _of_stream.set(found)
    try:
        yield found
    finally:
        _of_stream.reset(before)


def labels_of(asked: int | None, *, keyed: bool) -> tuple[int, ...]:
    """The labels of the key groups of an operator of the stream that is built. Without keys all rows are in one."""
    of_stream = _of_stream.get()
    number = (asked or (of_stream.number if of_stream else KEY_GROUPS)) if keyed else 1
    if of_stream is not None:
        of_stream.used.append(number)
        of_stream.asked |= {asked} if asked else set()
    return key_group_labels(number)


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
