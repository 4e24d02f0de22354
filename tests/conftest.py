"""What the tests share: one Spark for all of them, and how hypothesis runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# derandomize: a test that fails fails for everyone; no deadline: two cores may be busy with a JVM
settings.register_profile(
    "tvfsql", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("tvfsql")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The local Spark, started once. Tests that take it are marked `spark`."""
    from tvfsql.runtime.spark import local_spark

    session = local_spark()
    yield session
    session.stop()
