"""Spark's daemon of Python workers, with short pauses between tasks and without tracebacks of workers that Java
disconnects.

After each task a worker collects garbage. With Arrow and pandas loaded this takes 60 ms, a fifth of a small
micro-batch, so loaded modules are kept out of it.

When Spark stops, it closes the sockets of idle workers and then stops the daemon. A worker that is faster than the
daemon writes to its closed socket, and Spark's own daemon prints the traceback on stderr. Spark starts this module as
`python -m`, because of `spark.python.daemon.module`.
"""

from __future__ import annotations

import gc
import socket
import sys
import traceback
from typing import Any

from pyspark import daemon


def print_exc(*args: Any, **kwargs: Any) -> None:
    """Like `traceback.print_exc`, but silent about the closed socket."""
    if not isinstance(sys.exc_info()[1], BrokenPipeError):
        _print_exc(*args, **kwargs)


def worker(sock: socket.socket, authenticated: bool) -> int:
    """Like `daemon.worker`: run one task and return its exit code. If it loaded modules, they and all that they hold
    are frozen: later collections pass over them."""
    before = len(sys.modules)
    code = _worker(sock, authenticated)
    if len(sys.modules) > before:
        gc.collect()
        gc.freeze()
    return code


_print_exc = traceback.print_exc
_worker = daemon.worker

if __name__ == "__main__":
    traceback.print_exc = print_exc
    daemon.worker = worker
    daemon.manager()
