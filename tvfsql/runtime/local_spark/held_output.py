"""What Spark's Java writes to stderr while it starts, such as the places where it looked for packages."""

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
class Held:
    """The output that is held back. Once it is released, it and what follows go to stderr."""

    written: bytes = b""
    released: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    reader: threading.Thread | None = None

    def read(self, file: int) -> None:
        while more := os.read(file, 1 << 16):
            with self.lock:
                if self.released:
                    os.write(STDERR, more)
                else:
                    self.written += more

    def release(self) -> None:
        with self.lock:
            self.released = True
            os.write(STDERR, self.written)

    def lacks_packages(self) -> bool:
        """Whether a Java that has ended did so because it found no packages."""
        if self.reader is not None:
            self.reader.join(PATIENCE)
        return UNRESOLVED in self.written.decode(errors="replace")


@contextmanager
def held_back() -> Iterator[Held]:
    """Hold back what the Java that pyspark launches in this block writes to stderr, until the block ends. If it fails,
    the output stays held.
    """
    launcher: Any = java_gateway
    held, launched = Held(), launcher.Popen

    class Quiet(launched):  # type: ignore[valid-type,misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options, stderr=subprocess.PIPE)
            held.reader = threading.Thread(
                target=lambda: held.read(self.stderr.fileno()), name="tvfsql-java-stderr", daemon=True
            )
            held.reader.start()

    with launched_by(Quiet):
        yield held
    held.release()
