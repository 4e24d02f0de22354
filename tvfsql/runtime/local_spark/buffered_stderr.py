"""Buffers what Spark's Java writes to stderr while it starts, such as the places where it looks for packages."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark import java_gateway

from tvfsql.runtime.local_spark.spark_home import launched_by

STDERR = 2
UNRESOLVED = "unresolved dependency: "
PATIENCE = 5.0  # seconds to wait for the rest of the output of a Java that has ended


@dataclass
class Buffered:
    """The buffered output. `flush` writes it to stderr; later output goes there directly."""

    written: bytes = b""
    flushed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    reader: threading.Thread | None = None

    def read(self, file: int) -> None:
        while more := os.read(file, 1 << 16):
            with self.lock:
                if self.flushed:
                    os.write(STDERR, more)
                else:
                    self.written += more

    def flush(self) -> None:
        with self.lock:
            self.flushed = True
            os.write(STDERR, self.written)

    def lacks_packages(self) -> bool:
        """Whether a Java that has ended did so because it found no packages."""
        if self.reader is not None:
            self.reader.join(PATIENCE)
        return UNRESOLVED in self.written.decode(errors="replace")


@contextmanager
def buffered_stderr() -> Iterator[Buffered]:
    """Buffer what the Java that pyspark launches in this block writes to stderr, and flush it when the block ends. If
    the block fails, nothing is flushed.
    """
    launcher: Any = java_gateway
    output, launched = Buffered(), launcher.Popen

    class Quiet(launched):  # type: ignore[valid-type,misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options, stderr=subprocess.PIPE)
            output.reader = threading.Thread(
                target=lambda: output.read(self.stderr.fileno()), name="tvfsql-java-stderr", daemon=True
            )
            output.reader.start()

    with launched_by(Quiet):
        yield output
    output.flush()
