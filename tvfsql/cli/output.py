"""Where a command writes its result."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import TextIO

from tvfsql.errors import DataError


class Output:
    """The output file, or stdout, which stays open."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.file: TextIO | None = None

    def __enter__(self) -> TextIO:
        if self.path is None:
            return sys.stdout
        try:
            self.file = open(self.path, "w", encoding="utf-8", newline="")
        except OSError as error:
            raise DataError(f"{self.path} cannot be written: {error.strerror}") from error
        return self.file

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()


# The exit codes of the command line.


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = 130
