"""Ends Java if the start of Spark is interrupted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext, java_gateway

_launched: list[subprocess.Popen[Any]] = []  # those that have not told their port yet


def kill_launched() -> None:
    """Kill the Java that another thread is starting."""
    for java in _launched:
        java.kill()


@contextmanager
def no_java_left() -> Iterator[None]:
    """Kill the Java that pyspark launches in this block if the block fails before Java has told its port.

    pyspark removes the folder for the port when it is interrupted. Java then fails to write it, and never ends.
    """

    class Recorded(subprocess.Popen[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            _launched.append(self)

    launcher: Any = java_gateway
    own, launcher.Popen = launcher.Popen, Recorded
    try:
        yield
    except BaseException:
        if SparkContext._gateway is None:
            for java in _launched:
                java.kill()
                java.wait()
        raise
    finally:
        _launched.clear()
        launcher.Popen = own
