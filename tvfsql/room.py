"""Room for deep nesting: repeats work that overflows Python's stack in a thread with a larger stack."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from tvfsql.errors import UnsupportedError

FRAMES = 200_000  # Python frames in the larger thread; the deepest SQL of tests/test_depth.py takes a quarter
STACK = 768 << 20  # bytes; the system only allocates what is used
T = TypeVar("T")
_alone = threading.Lock()
_here = threading.local()


def with_room(work: Callable[[], T]) -> T:
    """Return the result of `work`. It is called twice if the first call overflows Python's stack, so it must be
    repeatable.

    Raises its errors, and UnsupportedError if it is nested too deeply even then.
    """
    if getattr(_here, "roomy", False):
        return work()
    try:
        return work()
    except Exception as error:
        if not _too_deep(error):
            raise
    given: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        _here.roomy = True
        try:
            given.append(work())
        except BaseException as error:
            refusal = UnsupportedError("the SQL is nested too deeply", hint="WITH part AS (SELECT ...), or a view")
            raised.append(refusal if _too_deep(error) else error)

    with _alone:  # both settings are global to the process
        limit, stack = sys.getrecursionlimit(), threading.stack_size(STACK)
        sys.setrecursionlimit(max(limit, FRAMES))
        try:
            thread = threading.Thread(target=run, name="tvfsql: deep SQL")
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(stack)
    if raised:
        raise raised[0]
    return given[0]


def _too_deep(error: BaseException | None) -> bool:
    """Whether an error comes from a stack overflow; parsers may have wrapped it."""
    while error is not None and not isinstance(error, RecursionError):
        error = error.__cause__ or error.__context__
    return error is not None
