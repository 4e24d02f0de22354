"""The Spark that tvfsql starts. Unless the user names another master it is local: quiet, configured for one machine,
and without files in the user's folder.

The settings that the user gives Spark (`runtime/cluster/asked.py`) override all settings here.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext, __version__
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.asked import MASTER, PYTHON, REMOTE, is_local, requested
from tvfsql.runtime.cluster.hadoop_files import LOCAL_MANAGER, MANAGER
from tvfsql.runtime.local_spark.buffered_stderr import buffered_stderr
from tvfsql.runtime.local_spark.class_archive import archive_options
from tvfsql.runtime.local_spark.java import Java, find_java, spark_java_home
from tvfsql.runtime.local_spark.spark_home import home_without_zip, no_java_left

GIB = 1 << 30
PRINTS = "org.apache.datasketches.memory.internal.ResourceImpl"
_LOG_FILE = Path(__file__).with_name("log4j2.properties")
STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
STREAMS = {
    STATE_STORE: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # a micro-batch writes only its changes, not all of its state
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",  # counting reads before each write
}
SESSION_ZONE = "spark.sql.session.timeZone"
# settings that results depend on, the size of the batches that our kernels get, and the cost of wide frames of OVER
MEANING = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # as in Flink; the default raises an error
    "spark.sql.timeType.enabled": "true",
    # with them a bad row that the conditions of a query exclude would not be an error
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.json.filterPushdown.enabled": "false",
    SESSION_ZONE: "UTC",  # the default is the machine's, in which texts without a zone would be read
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    # the maximum means no limit: with any other value Spark computes the batch's size again for each row
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    # without it Spark reads all rows of a frame of OVER for each row
    "spark.sql.window.segmentTree.enabled": "true",
}
CONNECT_HINT = "pip install 'tvfsql[connect]'"


def start_spark(
    packages: Collection[str] = (), own: Mapping[str, str] | None = None, java_options: str = ""
) -> SparkSession:
    """The running Spark, or a new one, which takes 3 to 6 seconds. With `spark.remote`, a session of that server.

    `own`: the user's settings from the command line and from SET. A SparkContext that already runs in this process is
    reused; only its SQL settings change, except its zone. A new one has Spark's own `packages`
    (`spark-sql-kafka-0-10_2.13`), which Spark downloads once. Raises DataError if there is no Java, if Spark does not
    start, or if a download fails.
    """
    _quiet_python()
    asked = requested(own)
    if REMOTE in asked:
        return _connected(asked)
    require_master(asked.get(MASTER, ""))
    local = is_local(asked.get(MASTER, "local"))
    java = find_java()
    home = _spark_home(local)
    ours = f"{archive_options(java, home)} {LATE_OPTIMIZATION}" if local else ""
    given = settings(f"{ours} {java_options}", local=local)
    if is_running():
        del given[SESSION_ZONE]  # the user may have set it
    given |= asked
    builder = SparkSession.builder
    for key, value in with_packages(given, packages).items():
        builder = builder.config(key, value)
    with _environment(_variables(java, home, asked)), _own_interrupts(), no_java_left():
        try:
            spark = _with_packages(builder, packages) if packages else builder.getOrCreate()
            if local:
                _quiet_sketches()
            return spark
        except Py4JJavaError as error:
            if local:
                raise
            raise DataError(f"there is no Spark at {asked[MASTER]}: {_cause(error)}") from error


def _with_packages(builder: SparkSession.Builder, packages: Collection[str]) -> SparkSession:
    """Spark with packages, which it may have to download. Raises DataError."""
    names = ", ".join(map(coordinates, packages))
    with buffered_stderr() as output:
        try:
            return builder.getOrCreate()
        except PySparkRuntimeError as error:
            if error.getCondition() != "JAVA_GATEWAY_EXITED":
                raise
            if output.lacks_packages():
                hint = "without access to Maven Central: PYSPARK_SUBMIT_ARGS='--jars FILE,FILE,... pyspark-shell'"
                raise DataError(f"Spark did not start: it cannot download {names}", hint=hint) from error
            output.flush()
            raise DataError(f"Spark did not start with {names}; its output is above") from error


def _connected(asked: Mapping[str, str]) -> SparkSession:
    """A session of a Spark Connect server, with the settings that results depend on and the user's own."""
    url = asked[REMOTE]
    require_server(url)
    try:
        builder = SparkSession.builder.remote(url)
        for key, value in (MEANING | {key: asked[key] for key in asked if key.startswith("spark.sql.")}).items():
            builder = builder.config(key, value)
        with _environment({"SPARK_REMOTE": url}):  # pyspark compares this variable with the URL
            spark = builder.getOrCreate()
            spark.version  # noqa: B018  (asks the server)
            return spark
    except ImportError as error:
        raise DataError("Spark Connect needs packages that are not here", hint=CONNECT_HINT) from error
    except PySparkException as error:
        raise DataError(f"there is no Spark Connect server at {url}: {_first_line(error)}") from error


# Java's optimizing compiler takes methods that were called four times as often as it waits for by default. So it leaves
# most of what runs once per micro-batch to the fast compiler; what runs once per row is called that often within 0.1 s.
LATE_OPTIMIZATION = (
    "-XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400 -XX:Tier4CompileThreshold=60000"
)
# only Java's fast compiler, for little data: full optimization takes longer than it saves
FAST_COMPILER = "-XX:TieredStopAtLevel=1"


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


def settings(java_options: str = "", *, local: bool = True) -> dict[str, str]:
    """Spark's settings as tvfsql wants them, before the user's own are applied.

    A Spark that is not `local` does not get the settings for a single machine.
    """
    logging_options = f"-Dlog4j2.configurationFile={_LOG_FILE.as_uri()}"
    ours = {
        "spark.app.name": "tvfsql",
        # as the "default" options, so that the user's extraJavaOptions come on top
        "spark.driver.defaultJavaOptions": f"{logging_options} {java_options}".rstrip(),
        "spark.ui.showConsoleProgress": "false",
        # it would look up a call site at each Column call; our errors point into the SQL instead
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        **MEANING,
        **STREAMS,
    }
    return ours | _of_one_machine() if local else ours


def _of_one_machine() -> dict[str, str]:
    cores = _cores()
    return {
        MASTER: f"local[{cores}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{_driver_memory() >> 20}m",
        "spark.ui.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",  # Hive's would write derby files to the user's folder
        "spark.sql.warehouse.dir": _scratch_folder().as_uri(),
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        # more than 32 new files are listed by a job, by default with a task for each file
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(cores),
        # over TCP, each Python stage of a task waits 40 ms for its worker
        "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
        # with Spark's own daemon, workers that end may print tracebacks
        "spark.python.daemon.module": "tvfsql.runtime.local_spark.python_daemon",
        # the default starts a process (readlink) four times for each file of a checkpoint on a local disk
        MANAGER: LOCAL_MANAGER,
    }


def _variables(java: Java, spark_home: Path, asked: Mapping[str, str]) -> dict[str, str]:
    """The environment that the JVM starts in, and that Python workers on this machine inherit from it."""
    given = os.environ.get
    found = {
        "JAVA_HOME": str(spark_java_home(java)),
        "SPARK_HOME": str(spark_home),  # else a shell script starts one more Python to ask
        # the launcher is a JVM of its own that lives for a moment
        "SPARK_LAUNCHER_OPTS": given("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # Workers import from the same places as this process, in the same order: a `random.py` in the current
        # folder must not replace Python's own.
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path),
    }
    if python := asked.get(PYTHON):
        found["PYSPARK_PYTHON"] = python
    if is_local(asked.get(MASTER, "local")):
        found["SPARK_LOCAL_IP"] = given("SPARK_LOCAL_IP", "127.0.0.1")
        # by default workers run the system's Python, which has none of the packages
        found.setdefault("PYSPARK_PYTHON", given("PYSPARK_PYTHON", sys.executable))
    return found


def _spark_home(local: bool) -> Path:
    home = Path(_find_spark_home())
    return home_without_zip(home) if local else home  # YARN sends the zip to its workers


def _cause(error: Py4JJavaError) -> str:
    return str(error.java_exception.getMessage() or error.java_exception).partition("\n")[0]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


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


def _quiet_sketches() -> None:
    """Load the class of DataSketches that prints, as it is loaded, that it uses no memory outside the heap: Spark never
    asks it for any."""
    jvm = SparkContext._jvm
    if jvm is None:
        return
    system = jvm.java.lang.System
    with suppress(Py4JError):  # another DataSketches may have no such class
        usual = system.err
        system.setErr(jvm.java.io.PrintStream(jvm.java.io.OutputStream.nullOutputStream()))
        try:
            jvm.java.lang.Class.forName(PRINTS)
        finally:
            system.setErr(usual)


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


# Looks whether a Spark listens at its address, before Spark or pyspark would try for minutes.


STANDALONE = "spark://"
MASTER_PORT, CONNECT_PORT = 7077, 15002  # where a URL has none
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")  # of gRPC; it may know addresses that this machine does not


def require_master(url: str) -> None:
    """Raise DataError if nothing listens at the address of a standalone master (`spark://HOST:PORT`), nor at those of
    its standbys (`spark://HOST:PORT,HOST:PORT`). Other masters are not looked at."""
    if not url.startswith(STANDALONE):
        return
    failed = [_failure(f"//{address}", MASTER_PORT) for address in url.removeprefix(STANDALONE).split(",")]
    if all(failed):
        raise DataError(f"there is no Spark at {url}: {failed[0]}", hint="--master URL, as the master's log shows it")


def require_server(url: str) -> None:
    """Raise DataError if nothing listens at the address of a Spark Connect server, unless gRPC uses a proxy."""
    if not any(os.environ.get(name) for name in PROXIES) and (failed := _failure(url, CONNECT_PORT)):
        raise DataError(f"there is no Spark Connect server at {url}: {failed}")


def _failure(url: str, port: int) -> str:
    """Why nothing can be reached there; "": something listens."""
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname or "", place.port or port), timeout=30).close()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""
