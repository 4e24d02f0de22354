"""Runs work that Ctrl-C can end without breaking the connection to Spark."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tvfsql.api import Session

T = TypeVar("T")
EVERY = 0.1  # seconds between checks
PATIENCE = 300.0  # the most seconds to wait for cancelled work
ENOUGH = 5  # number of presses after which waiting stops


def interruptible(work: Callable[[], T], cancel: Callable[[int], None]) -> T:
    """Return the result of `work`. It runs in its own thread, so a KeyboardInterrupt never hits a call to Java.

    At the first Ctrl-C `cancel` is called with 1, at the next with 2 and so on, until the work has ended; then this
    raises KeyboardInterrupt, whatever the work returned or raised.
    """
    given: list[T] = []
    raised: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    with _counted() as presses:
        threading.Thread(target=run, name="tvfsql-statement", daemon=True).start()
        waited = 0.0
        while not done.wait(EVERY) and waited < PATIENCE and presses[0] < ENOUGH:
            if presses[0]:
                waited += EVERY
                with suppress(Exception):  # Spark may be between two jobs, or shutting down
                    cancel(presses[0])  # again, to cancel a job that began after the key was pressed
    if presses[0]:
        raise KeyboardInterrupt
    if raised:
        raise raised[0]
    return given[0]


@contextmanager
def _counted() -> Iterator[list[int]]:
    """Count the presses of Ctrl-C within the block. A KeyboardInterrupt could hit any code of this thread, also what
    Python runs when an object dies, and would be printed there.
    """
    presses = [0]

    def press(number: int, frame: object) -> None:
        presses[0] += 1

    if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield presses
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield presses
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def cancel(session: Session, presses: int) -> None:
    """Stop the streams that run after their micro-batch, or at once if a key asked more than once; else a query."""
    for running in session.streams.runs:
        running.stopping.set()
        if presses > 1:
            running.at_once.set()
    if not any(running.active for running in session.streams.runs):
        session.own.cancel()
