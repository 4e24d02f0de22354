"""The output of a Java that starts is buffered, and that of one that finds no packages it is never seen. No JVM."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark import java_gateway
from pyspark.errors import PySparkRuntimeError

from tvfsql.errors import DataError
from tvfsql.runtime.local_spark.buffered_stderr import buffered_stderr
from tvfsql.runtime.local_spark.start import _with_packages

WRITES = "import sys; sys.stderr.write({!r})"  # at once
EARLY, LATE = "found in central\n", "a warning of a query\n"


def launch(code: str, **options: Any) -> subprocess.Popen[bytes]:
    """A process in the place of Java, as pyspark launches it."""
    launcher: Any = java_gateway
    java: subprocess.Popen[bytes] = launcher.Popen([sys.executable, "-c", code], **options)
    return java


@dataclass
class Failing:
    """A builder whose Java ends with an output."""

    output: str

    def getOrCreate(self) -> None:
        launch(WRITES.format(self.output)).wait()
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})


@pytest.mark.parametrize(
    ("output", "message", "shown"),
    [
        (
            "tried https://...\nunresolved dependency: org.apache.spark#spark-avro_2.13;4.3.0: not found",
            "Spark did not start: it cannot download org.apache.spark:spark-avro_2.13:",
            "",
        ),
        ("Unrecognized option: -Xnone\n", "its output is above", "Unrecognized option: -Xnone\n"),
    ],
)
def test_a_failed_start_is_told_in_a_sentence(
    output: str, message: str, shown: str, capfd: pytest.CaptureFixture[str]
) -> None:
    builder: Any = Failing(output)
    with pytest.raises(DataError) as raised:
        _with_packages(builder, ["spark-avro_2.13"])
    assert message in raised.value.message
    assert ("--jars FILE" in (raised.value.hint or "")) is not bool(shown)
    assert capfd.readouterr().err == shown


def test_a_java_that_has_started_writes_to_stderr_again(capfd: pytest.CaptureFixture[str]) -> None:
    waits = f"{WRITES.format(EARLY)}; sys.stdin.read(); {WRITES.format(LATE)}"
    with buffered_stderr() as output:
        java = launch(waits, stdin=subprocess.PIPE)
        while EARLY.encode() not in output.written:
            assert java.poll() is None
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == EARLY
    assert java.stdin is not None and output.reader is not None
    java.stdin.close()  # communicate() would read stderr too, beside the reader
    java.wait()
    output.reader.join()
    assert capfd.readouterr().err == LATE
