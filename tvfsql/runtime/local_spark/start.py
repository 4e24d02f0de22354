"""The local Spark that tvfsql starts: quiet, configured for one machine, and without files in the user's folder.

Settings that the user gives Spark in the usual places (`PYSPARK_SUBMIT_ARGS`, `SPARK_CONF_DIR/spark-defaults.conf`, the
SPARK_* variables) override all settings here.
"""

from __future__ import annotations

import atexit
import logging
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext, __version__
from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from tvfsql.errors import DataError
from tvfsql.runtime.local_spark.class_archive import archive_options
from tvfsql.runtime.local_spark.java import Java, find_java, spark_java_home
from tvfsql.runtime.local_spark.spark_home import home_without_zip

GIB = 1 << 30
_LOG_FILE = Path(__file__).with_name("log4j2.properties")
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STREAMS = {
    STATE_STORE: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # a micro-batch writes only its changes, not all of its state
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",  # counting reads before each write
    # the default starts a process (readlink) four times for each file of a checkpoint on a local disk
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
_SHORT_FLAGS = {
    "--master": "spark.master",
    "--name": "spark.app.name",
    "--packages": "spark.jars.packages",
    "--jars": "spark.jars",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}


def local_spark(packages: Collection[str] = (), java_options: str = "") -> SparkSession:
    """The running local session, or a new one, which takes 3 to 6 seconds. Raises DataError if there is no Java for it.

    A SparkContext that already runs in this process is reused; only its SQL settings change. A new one has Spark's own
    `packages` (`spark-sql-kafka-0-10_2.13`), which Spark downloads once. Raises DataError if it cannot.
    """
    _quiet_python()
    java, home = find_java(), _spark_home()
    builder = SparkSession.builder
    for key, value in with_packages(
        settings(f"{archive_options(java, home)} {java_options}") | requested(), packages
    ).items():
        builder = builder.config(key, value)
    with _environment(_variables(java, home)), _own_interrupts():
        try:
            return builder.getOrCreate()
        except PySparkRuntimeError as error:
            if not packages or error.getCondition() != "JAVA_GATEWAY_EXITED":
                raise
            raise DataError(
                f"Spark did not start with {', '.join(map(coordinates, packages))}; its output is above",
                hint="without access to Maven Central: PYSPARK_SUBMIT_ARGS='--jars FILE,FILE,... pyspark-shell'",
            ) from error


# only Java's fast compiler: full optimization takes longer than the tests run
OF_TESTS = "-XX:TieredStopAtLevel=1"


def for_tiny_data(spark: SparkSession) -> SparkSession:
    """A separate session in the same Spark, with tvfsql's settings, that is fast for queries over a few rows.

    Expressions are interpreted, because compiling them takes longer than running them.
    """
    made = spark.newSession()
    tiny = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
    }
    for key, value in (settings() | tiny).items():
        if key.startswith("spark.sql.") and made.conf.isModifiable(key):
            made.conf.set(key, value)
    return made


def is_running() -> bool:
    """Whether a Spark already runs in this process."""
    return SparkContext._active_spark_context is not None


def end_java(spark: SparkSession) -> None:
    """Stop Spark and its Java process, so that the next Spark can have other packages."""
    spark.stop()
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            process.stdin.close()  # Java ends when its stdin is closed
            process.wait()
    SparkContext._gateway = SparkContext._jvm = None


def coordinates(package: str) -> str:
    """The Maven coordinates of one of Spark's packages, for the installed version of Spark."""
    return f"org.apache.spark:{package}:{__version__}"


def with_packages(given: Mapping[str, str], packages: Collection[str]) -> dict[str, str]:
    """Settings that download the packages, except those that the user's settings already provide."""
    there = given.get("spark.jars.packages", ""), given.get("spark.jars", "")
    missing = [coordinates(package) for package in packages if not any(package in each for each in there)]
    wanted = ",".join(filter(None, [there[0], *missing]))
    return {**given, "spark.jars.packages": wanted} if missing else dict(given)


def settings(java_options: str = "") -> dict[str, str]:
    """Spark's settings as tvfsql wants them, before the user's own are applied."""
    cores = _cores()
    logging_options = f"-Dlog4j2.configurationFile={_LOG_FILE.as_uri()}"
    return {
        "spark.app.name": "tvfsql",
        "spark.master": f"local[{cores}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{_driver_memory() >> 20}m",
        # as the "default" options, so that the user's extraJavaOptions come on top
        "spark.driver.defaultJavaOptions": f"{logging_options} {java_options}".rstrip(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",  # Hive's would write derby files to the user's folder
        "spark.sql.warehouse.dir": _scratch_folder().as_uri(),
        "spark.sql.ansi.enabled": "true",
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # as in Flink; the default raises an error
        "spark.sql.timeType.enabled": "true",
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
        # the maximum means no limit: with any other value Spark computes the batch's size again for each row
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        # over TCP, each Python stage of a task waits 40 ms for its worker
        "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
        # with Spark's own daemon, workers that end may print tracebacks
        "spark.python.daemon.module": "tvfsql.runtime.local_spark.python_daemon",
        # it would look up a call site at each Column call; our errors point into the SQL instead
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        **STREAMS,
    }


def requested() -> dict[str, str]:
    """The user's settings for Spark, from the file and from `PYSPARK_SUBMIT_ARGS`, which overrides the file as in
    Spark."""
    return _of_defaults_file() | _of_submit_args(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))


def _of_defaults_file() -> dict[str, str]:
    conf = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    try:
        lines = Path(conf, "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in lines if line.lstrip().startswith("spark."))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _of_submit_args(text: str) -> dict[str, str]:
    found = {}
    words = iter(shlex.split(text))
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in ("--conf", "-c"):
            key, _, setting = (value if equals else next(words, "")).partition("=")
            found[key] = setting
        elif flag in _SHORT_FLAGS:
            found[_SHORT_FLAGS[flag]] = value if equals else next(words, "")
    return found


def _variables(java: Java, spark_home: Path) -> Mapping[str, str]:
    """The environment in which the JVM starts, and which Python workers inherit."""
    given = os.environ.get
    return {
        "JAVA_HOME": str(spark_java_home(java)),
        "SPARK_HOME": str(spark_home),  # otherwise a shell script starts another Python to find it
        "SPARK_LOCAL_IP": given("SPARK_LOCAL_IP", "127.0.0.1"),
        # the launcher is a separate, short-lived JVM
        "SPARK_LAUNCHER_OPTS": given("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
        "PYSPARK_PYTHON": sys.executable,  # otherwise workers run the system's python, without the packages
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # Workers import from the same places as this process, in the same order: a `random.py` in the current
        # folder must not replace Python's own.
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path),
    }


def _spark_home() -> Path:
    home = Path(_find_spark_home())
    local = requested().get("spark.master", "local").startswith("local")
    return home_without_zip(home) if local else home  # YARN sends the zip to its workers


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _quiet_python() -> None:
    """Stop pyspark's Python side from logging each exception (10 KB of JSON) before it raises it."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # at shutdown it logs that the JVM has ended first
    logging.getLogger().addFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """py4j logs an interrupted call with its stack to the root logger, before it raises KeyboardInterrupt."""
    return Path(record.pathname).parent.name != "py4j"


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep the current handler of Ctrl-C. pyspark's handler calls the JVM from within a call to the JVM, which fails
    and is logged. Code that continues after a KeyboardInterrupt calls `sparkContext.cancelAllJobs()`."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        # pyspark sets no handler in other threads; None stands for a handler that Python cannot restore
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _cores() -> int:
    """The number of cores that this process may use. Containers and taskset can limit it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _driver_memory() -> int:
    """The heap in bytes: a quarter of the memory, at least 1 GiB and at most 8 GiB. Python workers and the page cache
    need the rest."""
    return min(max(_memory() // 4, GIB), 8 * GIB)


def _memory() -> int:
    """The memory of this machine or container in bytes."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * GIB
    try:
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no cgroups, or "max"
        return machine


def _scratch_folder() -> Path:
    """A folder for Spark's files other than its temporary ones. It is deleted when Python ends."""
    folder = Path(tempfile.mkdtemp(prefix="tvfsql-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
