"""The files of checkpoints: on a local disk, or on any other file system that Spark knows.

All code of the driver that looks into a checkpoint uses a `Place`. What Spark itself reads and writes there gets the
text of the place (`for_spark`).
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")
LOG = "_spark_metadata"  # in the folder of a stream's table: Spark's log of its files, and readers see no others
LISTED = "listed"  # in a checkpoint: folders that have such a log only, with files in an order of their own
WITHOUT_LOG = "use another path, or a table without a connector, which batch and streams can both fill"


class Place(ABC):
    """A file or folder. Its text is a path or a URL, as Spark shows it if the place is `resolved`."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def parent(self) -> Place: ...

    @abstractmethod
    def __truediv__(self, name: str) -> Place: ...

    @abstractmethod
    def resolved(self) -> Place:
        """The same place, with an absolute path that follows links."""

    @abstractmethod
    def exists(self) -> bool: ...

    @abstractmethod
    def names(self) -> list[str]:
        """The names of the entries of a folder, in order; none if there is no folder."""

    @abstractmethod
    def below(self) -> Iterator[Place]:
        """The files in a folder, and in those of its folders that readers do not ignore."""

    @abstractmethod
    def read(self) -> str | None:
        """The text of a file; None if there is no file. Raises UnicodeDecodeError."""

    @abstractmethod
    def make(self, *, shared: bool = False) -> None:
        """Make a folder, unless it is there. Only its owner may look into it, unless it is `shared`."""

    @abstractmethod
    def write(self, content: str | bytes, *, shared: bool = False, durable: bool = True) -> None:
        """Write or replace a file. Others see all of it or nothing, even after a kill, and if it is `durable` after a
        power failure. On a local disk only its owner may read it, unless it is `shared`."""

    @abstractmethod
    def create(self, content: str) -> bool:
        """Write a file, unless it exists. Returns whether this process has made it."""

    @abstractmethod
    def delete(self) -> None:
        """Delete a file."""

    @property
    @abstractmethod
    def writing(self) -> dict[str, str]:
        """The settings with which Spark writes a checkpoint here."""


@dataclass(frozen=True, order=True)
class LocalPlace(Place):
    """A place on a local or mounted disk. Raises OSError."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def parent(self) -> LocalPlace:
        return LocalPlace(self.path.parent)

    def __truediv__(self, name: str) -> LocalPlace:
        return LocalPlace(self.path / name)

    def resolved(self) -> LocalPlace:
        return LocalPlace(self.path.resolve())

    def exists(self) -> bool:
        return self.path.exists()

    def names(self) -> list[str]:
        return sorted(os.listdir(self.path)) if self.path.is_dir() else []

    def below(self) -> Iterator[LocalPlace]:
        for folder, folders, files in os.walk(self.path):
            folders[:] = [name for name in folders if not is_ignored(name)]
            yield from (LocalPlace(Path(folder, name)) for name in files)

    def read(self) -> str | None:
        try:
            return self.path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def make(self, *, shared: bool = False) -> None:
        self.path.mkdir(parents=True, exist_ok=True, mode=0o777 if shared else 0o700)

    def write(self, content: str | bytes, *, shared: bool = False, durable: bool = True) -> None:
        draft = self.path.with_name(f"_{token_hex(8)}")  # Spark's file streams ignore names with _
        try:
            with open(draft, "xb", opener=None if shared else _private) as file:
                file.write(as_bytes(content))
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(draft, self.path)
            if durable:
                _sync(self.path.parent)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise

    def create(self, content: str) -> bool:
        try:
            with open(self.path, "xb", opener=_private) as file:
                file.write(as_bytes(content))
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            return False
        _sync(self.path.parent)
        return True

    def delete(self) -> None:
        self.path.unlink()

    @property
    def writing(self) -> dict[str, str]:
        return {}


def for_spark(place: Place | str) -> str:
    """The text of a resolved place for Spark, which would look for a path without a scheme on its default file
    system."""
    text = str(place)
    return f"file:{text}" if text.startswith("/") else text


def _sync(folder: Path) -> None:
    """Make the names in a folder durable, where the file system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def as_bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def is_ignored(name: str) -> bool:
    """Whether readers ignore a file or folder of this name. Names of partition folders may begin with an underscore."""
    return name.startswith(("_", ".")) and "=" not in name
