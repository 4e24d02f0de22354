"""How queries scale, as plans of Spark show it: a change of what they read, shuffle or broadcast is a diff to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support import scale_page, spark_plans
from tvfsql import Session

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def as_on_a_cluster(spark: SparkSession) -> Iterator[None]:
    before = {key: str(spark.conf.get(key)) for key in spark_plans.SETTINGS}
    for key, value in spark_plans.SETTINGS.items():
        spark.conf.set(key, value)
    yield
    for key, value in before.items():
        spark.conf.set(key, value)


@pytest.mark.spark
@pytest.mark.usefixtures("as_on_a_cluster")
def test_the_plans_that_spark_makes(spark: SparkSession, tmp_path: Path) -> None:
    found = spark_plans.plans(Session(spark), tmp_path)
    assert found == spark_plans.PLANS.read_text(encoding="utf-8"), "python -m tests.support.spark_plans"


def test_the_page_about_scale_is_of_these_plans() -> None:
    assert scale_page.PAGE.read_text(encoding="utf-8") == scale_page.page(), "python -m tests.support.scale_page"


def test_each_shape_has_a_plan() -> None:
    assert [shape.name for shape in spark_plans.shapes()] == list(spark_plans.SHAPES)
