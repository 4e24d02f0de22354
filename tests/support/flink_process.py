"""Flink, in a process of its own: queries go in and answers come out, as flink_rows.py has them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # for many small jobs
LIMIT = 180  # seconds for a query: the planner never ends on some
PYTHON = ROOT / ".venv-flink" / "bin" / "python"


def installed() -> bool:
    """Whether `make bench-flink` was run."""
    return PYTHON.exists()


class Flink:
    """A running Flink. It starts with the first query."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return Flink's answer to a query, or a failure if it takes longer than LIMIT. Raises EOFError if Flink has
        ended.
        """
        if self.process is None:
            command = [str(PYTHON), "-m", "tests.support.flink_rows"]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env=os.environ | JAVA,
                start_new_session=True,  # so that its Java ends with it
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        timer = Timer(LIMIT, os.killpg, (self.process.pid, signal.SIGKILL))
        timer.start()
        self.process.stdin.write(json.dumps(query) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            status, self.process = self.process.wait(), None
            if status == -signal.SIGKILL:
                return {"failed": f"no answer in {LIMIT} seconds"}
            raise EOFError("Flink has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Flink:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
