"""The process that makes the archive of Spark's classes (`class_archive.py`): `python -m` with its path.

It runs a few small queries, and the JVM writes every class that it has loaded when it ends. All of this has the lowest
priority. The archive gets its name when it is complete.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tvfsql.runtime.local_spark.class_archive import ATTEMPTS, QUIET, SWITCH, notes

TIMEOUT = 900  # seconds
ROWS = "".join(f"2020-04-15 08:{minute:02d}:00,{'ab'[minute % 2]},{minute}\n" for minute in range(60))
# what most scripts do: read text and Parquet, in batch and on a stream, and write both
QUERIES = """
CREATE TABLE bid (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
CREATE TABLE windows (window_start TIMESTAMP(3), k STRING, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'windows', 'format' = 'parquet');
INSERT INTO windows
SELECT window_start, k, SUM(v) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, k;
SELECT k, MAX(total) AS most FROM windows GROUP BY k ORDER BY k;
SELECT window_end, k, COUNT(*) AS bids
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, k;
SET 'execution.runtime-mode' = 'streaming';
SELECT window_start, k, SUM(v) AS total FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, k;
"""


def write(archive: Path) -> None:
    """Make the archive, unless another process does it or too many attempts have failed.

    Raises OSError if its folder cannot be written or is gone.
    """
    from fcntl import LOCK_EX, LOCK_NB, flock  # not on Windows, which has no archives

    with notes(archive).open("ab") as attempts:
        try:
            flock(attempts, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return
        if archive.exists() or attempts.tell() > ATTEMPTS:
            return
        attempts.write(b".")
        attempts.flush()
        for left in archive.parent.glob(f"{archive.stem}-*.part"):
            left.unlink()
        part = archive.with_name(f"{archive.stem}-{os.getpid()}.part")
        try:
            _run_queries(part)
            if _is_whole(part):
                part.rename(archive)
        finally:
            part.unlink(missing_ok=True)


def _run_queries(archive: Path) -> None:
    with TemporaryDirectory(prefix="tvfsql-") as folder:
        Path(folder, "bid.csv").write_text(ROWS)
        Path(folder, "queries.sql").write_text(QUERIES)
        command = [sys.executable, "-m", "tvfsql", "run", "queries.sql"]
        environment = _environment(archive)
        # a session of its own, so that all its processes can be ended at once
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, start_new_session=True
        ) as queries:
            try:
                queries.communicate(timeout=TIMEOUT)  # until the JVM, which outlives Python, has closed its output, too
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(queries.pid, signal.SIGKILL)


def _environment(archive: Path) -> Mapping[str, str]:
    """The environment of a Spark on this machine, wherever the user's own run, that writes the archive at its end."""
    options = f"-XX:ArchiveClassesAtExit={archive} {QUIET} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    submit = ["--master", "local[1]", "--driver-memory", "1g", "--driver-java-options", options, "pyspark-shell"]
    return {**os.environ, "PYSPARK_SUBMIT_ARGS": shlex.join(submit), SWITCH: "off"}


def _is_whole(archive: Path) -> bool:
    """Whether the archive is complete: the JVM writes the header last."""
    with suppress(FileNotFoundError), archive.open("rb") as file:
        return any(file.read(4))
    return False


def _yield_to_others() -> None:
    """Take the lowest priority, also where Linux shares its cores among sessions rather than processes."""
    os.nice(19)
    if os.getsid(0) == os.getpid():  # nobody else is in this session
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text("19")


if __name__ == "__main__":
    _yield_to_others()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what it started, too
    with suppress(OSError, subprocess.TimeoutExpired, KeyboardInterrupt):
        write(Path(sys.argv[1]))
