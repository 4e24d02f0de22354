"""The files that this process changes, and the programs that it starts: Python tells an audit hook of each call."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# the positions of the paths among the arguments of an event, and of the folders that they are relative to
CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
}
PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect")
_listening: list[list[str]] = []
_hooked = False


@contextmanager
def changed_files() -> Iterator[list[str]]:
    """The paths of what is changed within the block, and the names of events of other programs."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_hook)  # it stays for good
        _hooked = True
    found: list[str] = []
    _listening.append(found)
    try:
        yield found
    finally:
        _listening[:] = [each for each in _listening if each is not found]


def outside(found: list[str], *folders: Path) -> list[str]:
    """What was changed that is in none of the folders."""
    inside = [folder.resolve() for folder in folders]
    return [each for each in found if not any(_within(each, folder) for folder in inside)]


def _within(path: str, folder: Path) -> bool:
    return os.path.isabs(path) and Path(path).resolve().is_relative_to(folder)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening:
        return
    if event == "open":
        path, mode, flags = arguments
        if not isinstance(path, int) and (flags & WRITES or set(mode or "") & set("wax+")):
            _tell(_absolute(path, None))
    elif event in CHANGES:
        for at, folder in CHANGES[event]:
            _tell(_absolute(arguments[at], arguments[folder] if folder is not None else None))
    elif event in PROGRAMS:
        _tell(event)


def _tell(what: str) -> None:
    for found in _listening:
        found.append(what)


def _absolute(path: Any, folder: int | None) -> str:
    if isinstance(path, int):  # an open file
        return os.readlink(f"/proc/self/fd/{path}")
    name = os.fsdecode(path)
    base = os.readlink(f"/proc/self/fd/{folder}") if folder is not None and folder >= 0 else os.getcwd()
    return os.path.join(base, name)
