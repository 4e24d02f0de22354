"""Spark's daemon of Python workers, without tracebacks of workers that Java disconnects.

When Spark stops, it closes the sockets of idle workers and then stops the daemon. A worker that is faster than the
daemon writes to its closed socket, and Spark's own daemon prints the traceback on stderr. Spark starts this module as
`python -m`, because of `spark.python.daemon.module`.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

from pyspark import daemon


def print_exc(*args: Any, **kwargs: Any) -> None:
    """Like `traceback.print_exc`, but silent about the closed socket."""
    if not isinstance(sys.exc_info()[1], BrokenPipeError):
        _print_exc(*args, **kwargs)


_print_exc = traceback.print_exc

if __name__ == "__main__":
    traceback.print_exc = print_exc
    daemon.manager()
