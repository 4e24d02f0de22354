"""What the tests share: one Spark for all of them, and how hypothesis runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.examples import SOAK
from tests.support.small_spark import INTERPRETED, SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker
    from tests.support.hdfs_server import Hdfs
    from tests.support.postgres_server import Database

# derandomize: a test that fails fails for everyone, and only `make soak` looks for what is new; no deadline: two cores
# may be busy with a JVM
settings.register_profile(
    "tvfsql",
    derandomize=not SOAK,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("tvfsql")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with tests that run for long go first, so that in the end no process waits for another one. Those that try
    more with SOAK are part of `make soak`."""
    for item in items:
        if hasattr(getattr(item, "module", None), "SOAK"):
            item.add_marker("soak")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The local Spark, started once. Tests that take it are marked `spark`. If there are tests of Kafka among those
    that run, it can read topics; if there are tests of Delta and Iceberg, it knows those that there are for it. Its
    streams have several key groups, in one task."""
    from tvfsql.plan.stream import KEY_GROUPS
    from tvfsql.runtime.local_spark.start import start_spark

    arguments, jars = SMALL, list[str]()
    if any(item.get_closest_marker("kafka") for item in request.session.items):
        from tests.support.server_jars import jars_in

        jars += [found] if (found := jars_in("kafka", "client")) else []
    if any(item.get_closest_marker("lakehouse") for item in request.session.items):
        from tests.support.lakehouse import settings

        of_lakehouse, more = settings()
        jars, arguments = [*jars, *of_lakehouse], f"{arguments} {more}"
    arguments += f" --jars {','.join(jars)}" if jars else ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{arguments} pyspark-shell")
        session = start_spark()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tvfsql.runtime.stream.driver.running.usual_key_groups", lambda spark: KEY_GROUPS)
        yield session
    session.stop()


@pytest.fixture
def several_partitions(spark: SparkSession) -> Iterator[None]:
    """Two partitions after each shuffle."""
    key = "spark.sql.shuffle.partitions"
    before: Any = spark.conf.get(key)
    spark.conf.set(key, 2)
    yield
    spark.conf.set(key, before)


@pytest.fixture
def generated_code(spark: SparkSession) -> Iterator[None]:
    """Spark as users run it, for tests of what its expressions return: it compiles code, and adapts its plans."""
    before: dict[str, Any] = {key: spark.conf.get(key) for key in INTERPRETED}
    for key in INTERPRETED:
        spark.conf.unset(key)
    yield
    for key, value in before.items():
        spark.conf.set(key, value)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A running Kafka. Tests that take it are marked `kafka`."""
    from tests.support.broker import Broker
    from tests.support.server_jars import Unreachable

    try:
        running = Broker(tmp_path_factory.mktemp("kafka"))
    except Unreachable as reason:
        pytest.skip(f"{reason}; it runs where that can be reached")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    """A running PostgreSQL, in a folder that is not pytest's: a second pytest would take it from the server, which has
    a user of its own."""
    from tests.support.postgres_server import Database

    with TemporaryDirectory(prefix="tvfsql-postgres-") as folder:
        try:
            made = Database(Path(folder) / "data")
        except Exception as reason:
            pytest.skip(f"no PostgreSQL starts here: {reason}")
        yield made
        made.connection.close()
        made.server.cleanup()


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """A running HDFS, which Spark can reach as it is."""
    from tests.support.hdfs_server import Hdfs
    from tests.support.server_jars import Unreachable

    try:
        running = Hdfs(tmp_path_factory.mktemp("hdfs"))
    except Unreachable as reason:
        pytest.skip(f"{reason}; it runs where that can be reached")
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def no_spark_of_other_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that are not marked `spark` do not see the tables in the Spark that others have started in this process."""
    start = sys.modules.get("tvfsql.runtime.local_spark.start")
    if start is not None and "spark" not in request.keywords:
        monkeypatch.setattr(start, "is_running", lambda: False)
