"""Ctrl-C at random moments: `python -m tests.support.interrupts 60` presses it that often in one shell.

Each time a query or a stream runs in the shell, on a pseudo terminal. Afterwards the session must answer, and at the
end no traceback may have been printed and no process may be left.
"""

from __future__ import annotations

import io
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

PATIENCE = 120  # seconds until the prompt must be back
TABLES = """CREATE TABLE many (n BIGINT, item INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' =
'datagen', 'number-of-rows' = '{rows}',
'rows-per-second' = '{rate}', 'fields.item.min' = '1', 'fields.item.max' = '50');
"""
WINDOWS = """SELECT window_end, item, COUNT(*) AS n FROM TABLE(HOP(TABLE many, DESCRIPTOR(ts), INTERVAL '1' SECOND,
INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item"""
STREAM = "SET 'execution.runtime-mode' = 'streaming'; "
RUNS = {
    "batch": f"{WINDOWS};",
    "sorted": "SELECT item, n, ts FROM many ORDER BY n;",
    "analyze": f"EXPLAIN ANALYZE {WINDOWS};",
    "insert": f"INSERT INTO nothing {WINDOWS};",
    "table": f"SET 'sql-client.execution.result-mode' = 'TABLE'; {WINDOWS};",
    "changelog": f"SET 'sql-client.execution.result-mode' = 'CHANGELOG'; {WINDOWS};",
    "tableau": f"SET 'sql-client.execution.result-mode' = 'TABLEAU'; {WINDOWS};",
    "stream insert": f"INSERT INTO nothing {WINDOWS};",
}
STREAMS = ("table", "changelog", "tableau", "stream insert")


def main() -> int:
    import pexpect

    presses = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    folder, screen, pressed = Path(tempfile.mkdtemp(prefix="tvfsql-interrupts-")), io.StringIO(), Counter[str]()
    for name, rows, rate in (("batch", 30_000_000, 1), ("stream", 0, 2000)):
        text = TABLES.format(rows=rows, rate=rate).replace("'number-of-rows' = '0', ", "")
        nothing = "CREATE TABLE nothing (a TIMESTAMP(3), b INT, c BIGINT) WITH ('connector' = 'blackhole');\n"
        (folder / f"{name}.sql").write_text(
            f"DROP TABLE IF EXISTS many; DROP TABLE IF EXISTS nothing;\n{text}{nothing}"
        )
    environment = os.environ | {"HOME": str(folder), "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    shell = pexpect.spawn(
        sys.executable,
        ["-m", "tvfsql"],
        encoding="utf-8",
        timeout=PATIENCE,
        dimensions=(40, 160),
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # who starts this may ignore it
    )
    shell.logfile_read = screen
    shell.expect("tvfsql>")
    again = 0
    for press in range(presses):
        name = draw.choice(list(RUNS))
        print(f"{press + 1}: {name}", flush=True)
        mode = "stream" if name in STREAMS else "batch"
        answer(shell, f"SET 'execution.runtime-mode' = '{mode.replace('stream', 'streaming')}';", "set execution")
        answer(shell, f"\\i {folder}/{mode}.sql", "created table nothing")
        shell.send(" ".join(RUNS[name].split()) + "\r")
        time.sleep(draw.choice((0, 0.3, 1, 3, 8)) + draw.random())
        drain(shell)
        for _ in range(draw.choice((1, 1, 1, 2))):
            shell.send("\x03")
            time.sleep(draw.random() / 2)
        again += answer(shell, f"SET 'pipeline.name' = 'alive{press}';", f"set pipeline.name = alive{press}")
        pressed[name] += 1
        print("  the session answers", flush=True)
    shell.send("\\q\r")
    shell.expect(pexpect.EOF)
    shell.close()
    text = screen.getvalue()
    told = re.findall(r"Traceback|Py4J\w*|java\.\w[\w.]*Exception|Exception in thread", text)
    left, stopped = processes(folder), text.count("interrupted")
    print(dict(pressed), f"{stopped} interrupted, {again} pressed again, exit code {shell.exitstatus},")
    print(f"{len(told)} tracebacks {set(told)}, {len(left)} processes left")
    if told:
        (folder / "screen.txt").write_text(text)
        print(f"see {folder / 'screen.txt'}")
    return int(bool(told or left or shell.exitstatus))


def answer(shell: Any, line: str, expected: str) -> int:
    """Type a line until the shell answers it: keys that are pressed between two prompts are lost. So is a Ctrl-C that
    comes before the shell has taken the statement; it is pressed again. Returns how often."""
    import pexpect

    until, again = time.monotonic() + PATIENCE, 0
    while time.monotonic() < until:
        shell.send("\x15" + line + "\r")  # ^U: without what is typed already
        if shell.expect([re.escape(expected), pexpect.TIMEOUT], timeout=10) == 0:
            drain(shell)
            return again
        shell.send("\x03")
        again += 1
    raise AssertionError(f"no answer to {line}: {shell.before[-2000:]}")


def drain(shell: Any) -> None:
    """Read what the shell has printed, which streams go on doing."""
    import pexpect

    until = time.monotonic() + 1
    while time.monotonic() < until:
        try:
            shell.read_nonblocking(65536, timeout=0.3)
        except pexpect.TIMEOUT:
            return


def processes(folder: Path) -> list[str]:
    """Processes that were started by the shell, a minute after its end: their environment has its HOME."""
    until = time.monotonic() + 60
    while (found := _listed(folder)) and time.monotonic() < until:
        time.sleep(1)
    return found


def _listed(folder: Path) -> list[str]:
    listed = subprocess.run(["ps", "eww", "-A", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if f"HOME={folder}" in line]


if __name__ == "__main__":
    sys.exit(main())
