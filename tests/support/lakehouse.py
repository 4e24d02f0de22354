"""Delta and Iceberg for the Spark that is installed, if there is a release of them for it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pyspark

from tests.support.server_jars import jars_in

FORMATS = ("delta", "iceberg")
SPARK = ".".join(pyspark.__version__.split(".")[:2])
SETTINGS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",  # not 50 tasks for a few rows
    },
    "iceberg": {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
    },
}


def versions(format: str) -> tuple[str, ...]:
    """The minor versions of Spark with which a release of the format goes."""
    ivy = ElementTree.parse(Path(__file__).with_name(format) / "ivy.xml")
    return tuple(part.attrib["name"].removeprefix("spark-") for part in ivy.iter("conf"))


def missing(format: str) -> str:
    """Why the format cannot be had here; "" if it can."""
    if SPARK not in versions(format):
        return f"no release of {format} goes with Spark {SPARK}, only with {', '.join(versions(format))}"
    return "" if jars_in(format, f"spark-{SPARK}") else f"the jars of {format} cannot be fetched from Maven Central"


def settings() -> tuple[list[str], str]:
    """The jars of the formats that can be had, and their settings as arguments of spark-submit."""
    there = [format for format in FORMATS if SPARK in versions(format)]
    jars = [jars for format in there if (jars := jars_in(format, f"spark-{SPARK}"))]
    return jars, " ".join(f"--conf {key}={value}" for format in there for key, value in SETTINGS[format].items())
