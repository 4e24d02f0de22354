"""The zone of wall-clock times while a statement is bound: `table.local-time-zone`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tvfsql.options import Options
from tvfsql.options.known import ZONE

_CURRENT: ContextVar[str] = ContextVar("local time zone", default="UTC")


def local_zone() -> str:
    """The zone of wall-clock times in the current statement."""
    return _CURRENT.get()


@contextmanager
def in_local_zone(options: Options) -> Iterator[None]:
    """Bind statements inside with the zone of these options."""
    token = _CURRENT.set(options[ZONE])
    try:
        yield
    finally:
        _CURRENT.reset(token)
