"""Writes that fail, as on a full or broken disk: the n-th one of those that tvfsql makes itself, in checkpoints,
control folders and folders of tables. All of them go through `LocalPlace`, the owner's file, and the sink of files.
"""

from __future__ import annotations

import builtins
import errno
import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql.runtime.cluster import files
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint import owner
from tvfsql.runtime.stream.sinks import files as sink

if TYPE_CHECKING:
    from collections.abc import Iterator

OF_FILES = ("fsync", "replace")
OF_OWNERS = ("open", "ftruncate", "write")
OF_SINKS = ("delete", "mkdirs", "rename")


@dataclass
class Writes:
    """The writes since it was made. Number `fails_at` fails, from 1 on, and with `for_good` all after it."""

    fails_at: int = 0
    for_good: bool = False
    made: list[str] = field(default_factory=list)

    def fails(self, what: str) -> bool:
        self.made.append(what)
        return 0 < self.fails_at <= len(self.made) if self.for_good else len(self.made) == self.fails_at

    def then(self, what: str, write: Callable[..., Any]) -> Callable[..., Any]:
        """The function `write`, which is counted, and may fail before it does anything."""

        def counted(*given: Any, **more: Any) -> Any:
            if self.fails(what):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(*given, **more)

        return counted


class With:
    """The attributes of a module or object, some of them replaced."""

    def __init__(self, of: Any, **replaced: Any) -> None:
        self._of, self._replaced = of, replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced[name] if name in self._replaced else getattr(self._of, name)


@dataclass
class HalfWritten:
    """A file of which a write that fails writes half."""

    file: Any
    writes: Writes

    def write(self, content: bytes) -> int:
        if self.writes.fails("write"):
            self.file.write(content[: len(content) // 2])
            self.file.flush()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self.file.write(content))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> HalfWritten:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()


@contextmanager
def failing(fails_at: int = 0, *, for_good: bool = False) -> Iterator[Writes]:
    """Within this block write number `fails_at` fails; 0: none, they are only counted."""
    writes = Writes(fails_at, for_good)
    system_of = sink._system_of

    def opened(path: Any, mode: str = "r", **more: Any) -> Any:
        file = (writes.then("open", builtins.open) if "x" in mode else builtins.open)(path, mode, **more)
        return HalfWritten(file, writes) if "x" in mode else file

    def system(path: Any, spark: Any) -> Any:
        found = system_of(path, spark)
        return With(found, **{name: writes.then(name, getattr(found, name)) for name in OF_SINKS})

    with pytest.MonkeyPatch.context() as patch:
        for module, names in ((files, OF_FILES), (owner, OF_OWNERS)):
            counted = {name: writes.then(f"{name}", getattr(os, name)) for name in names}
            patch.setattr(module, "os", With(os, **counted))
        patch.setattr(files, "open", opened, raising=False)
        patch.setattr(LocalPlace, "delete", writes.then("delete", LocalPlace.delete))
        patch.setattr(LocalPlace, "make", writes.then("make", LocalPlace.make))
        patch.setattr(sink, "_system_of", system)
        yield writes


def in_order_of_writing(*folders: Path) -> list[Path]:
    """The files in some folders as they came to their names."""
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(found, key=lambda path: (path.stat().st_ctime_ns, str(path)))
