"""What this process and those below it use, from /proc: processor time, and the memory of Python workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

SAMPLE_SECONDS = 0.02
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Processor time so far of this process, the JVM and its workers. Unlike the clock it hardly sees the
    neighbours on the machine; the JVM's compiler and garbage collector are in it."""
    return cpu_seconds_of(os.getpid())


def cpu_seconds_of(root: int) -> float:
    """The same of another process and those below it."""
    return sum(_ticks(pid) for pid in (root, *descendants(root))) / TICKS


def cpu_seconds_by_kind(root: int) -> dict[str, float]:
    """The same by the kind of process: `driver` (the process itself), `JVM`, and `workers` for all others."""
    found = {"driver": _ticks(root) / TICKS, "JVM": 0.0, "workers": 0.0}
    for pid in descendants(root):
        found["JVM" if _is_java(pid) else "workers"] += _ticks(pid) / TICKS
    return found


def descendants(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if fields := _stat(int(folder.name)):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [root]
    while found:
        below = children.get(found.pop(), [])
        yield from below
        found += below


@dataclass
class PeakMemory:
    """While it is open: the peak resident memory of each Python worker of Spark, as the kernel keeps it, and of the
    JVM. Looks at them `every` so many seconds, and when it is closed."""

    every: float = SAMPLE_SECONDS
    peaks: dict[int, int] = field(default_factory=dict)  # bytes by process
    java: int = 0
    _done: threading.Event = field(default_factory=threading.Event)

    @property
    def largest(self) -> int:
        """Bytes of the largest worker. Raises ValueError if there was none."""
        return max(self.peaks.values())

    def __enter__(self) -> PeakMemory:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(self.every):
            self._look()

    def _look(self) -> None:
        for pid in descendants(os.getpid()):
            # the daemon is the JVM's child, the workers are the daemon's
            if _is_python(pid) and _is_python(_parent(pid)):
                self.peaks[pid] = max(self.peaks.get(pid, 0), _peak(pid))
            elif _is_java(pid):
                self.java = max(self.java, _peak(pid))


def forget_peaks() -> None:
    """Peaks of processes below this one count from now on."""
    for pid in descendants(os.getpid()):
        with suppress(OSError):  # it has ended
            Path(f"/proc/{pid}/clear_refs").write_text("5")


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on; none if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _ticks(pid: int) -> int:
    """Of the process and of its ended children."""
    return sum(map(int, _stat(pid)[11:15]))


def _parent(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def _is_python(pid: int) -> bool:
    try:
        return b"pyspark.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "java\n"
    except OSError:
        return False


def _peak(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)
