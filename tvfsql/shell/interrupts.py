"""Work that Ctrl-C can end without breaking the connection to Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
EVERY = 0.1  # seconds between looks
PATIENCE = 300.0  # seconds that cancelled work may take to end
ENOUGH = 5  # presses after which nobody waits for it


def interruptible(work: Callable[[], T], cancel: Callable[[int], None]) -> T:
    """What `work` gives. It runs in a thread of its own, so a KeyboardInterrupt never hits a call to Java.

    On Ctrl-C `cancel` is called with 1, on the next one with 2 and so on, until the work has ended; then this raises
    KeyboardInterrupt, whatever the work gave or raised.
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

    presses, waited = 0, 0.0
    try:
        threading.Thread(target=run, name="tvfsql-statement", daemon=True).start()
    except KeyboardInterrupt:  # while it waits for the thread, which has begun
        presses = 1
    while not done.is_set() and waited < PATIENCE and presses < ENOUGH:
        try:
            done.wait(EVERY)
            if presses and not done.is_set():
                waited += EVERY
                with suppress(Exception):  # Spark between two jobs, or on its way down
                    cancel(presses)  # again: a job that begins after the key was pressed is to end, too
        except KeyboardInterrupt:
            presses += 1
    if presses:
        raise KeyboardInterrupt
    if raised:
        raise raised[0]
    return given[0]
