"""The zone of wall clocks while a statement is bound: `table.local-time-zone`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tvfsql.options import ZONE, Options

_CURRENT: ContextVar[str] = ContextVar("local time zone", default="UTC")


def local_zone() -> str:
    """The zone in which the wall clocks of the statement at hand are."""
    return _CURRENT.get()


@contextmanager
def in_local_zone(options: Options) -> Iterator[None]:
    """What is bound inside has its wall clocks in the zone of these options."""
    token = _CURRENT.set(options[ZONE])
    try:
        yield
    finally:
        _CURRENT.reset(token)
