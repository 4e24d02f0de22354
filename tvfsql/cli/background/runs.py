"""A run in the background, as its checkpoint has it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tvfsql.errors import DataError, UnsupportedError

try:
    import fcntl
except ImportError:  # on Windows nothing is locked
    fcntl = None  # type: ignore[assignment]

FILE, LOG = "run.json", "run.log"  # in a checkpoint
TRIES, EVERY = 20, 0.1  # seconds between two tries to lock: `is_held` locks for a moment


@dataclass(frozen=True)
class Run:
    """`tvfsql ARGUMENTS...` in `folder`, as process `pid`, since `started` (epoch seconds). `code`: its exit code; None
    if it runs or was killed."""

    arguments: tuple[str, ...]
    folder: str
    pid: int
    started: float
    code: int | None = None
    ended: float | None = None


def run_in(checkpoint: Path) -> Run | None:
    """What a checkpoint says about its last run in the background; None if there was none."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads((checkpoint / FILE).read_text(encoding="utf-8"))
        return Run(**(found | {"arguments": tuple(found["arguments"])}))
    return None


def is_alive(checkpoint: Path) -> bool:
    """Whether its run in the background has not ended."""
    return is_held(checkpoint / FILE)


@contextmanager
def noted(checkpoint: Path, arguments: Sequence[str]) -> Iterator[list[int]]:
    """Note in a checkpoint that this process runs, and at the end its exit code: the last number of the list. Raises
    DataError if the run before has not ended."""
    with _held(checkpoint / FILE) as file:
        run, codes = Run(tuple(arguments), os.getcwd(), os.getpid(), time.time()), list[int]()
        _write(file, run)
        try:
            yield codes
        finally:
            _write(file, replace(run, code=codes[-1] if codes else 1, ended=time.time()))


def is_held(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        _lock(file, shared=True)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(file)


@contextmanager
def _held(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        for left in reversed(range(TRIES)):
            try:
                _lock(file, shared=False)
                break
            except BlockingIOError:
                if not left:
                    raise DataError(f"{path.parent} has a run in the background", hint="tvfsql ps") from None
                time.sleep(EVERY)
        yield file
    finally:
        os.close(file)


def _lock(file: int, *, shared: bool) -> None:
    if fcntl is None:
        raise UnsupportedError("runs in the background need locks of files, which Windows does not have")
    fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _write(file: int, run: Run) -> None:
    text = json.dumps(asdict(run)).encode()
    os.pwrite(file, text, 0)
    os.ftruncate(file, len(text))
