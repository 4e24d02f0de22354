"""Where the files of a path or a URL are: on a local disk, or on another file system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import URL, LocalPlace, Place
from tvfsql.runtime.cluster.hadoop_files import Hadoop, HadoopPlace, default_file_system

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def place_of(text: str | Path | Place, spark: Callable[[], SparkSession]) -> Place:
    """The place that a path or a URL names. Places that are not local are reached through the Spark that `spark`
    gives, when they are first used."""
    if isinstance(text, Path):
        return LocalPlace(text)
    if not isinstance(text, str):
        return text
    if not URL.match(text):
        return LocalPlace(Path(text))
    if text.startswith("file:"):
        return LocalPlace(Path(unquote(urlsplit(text).path)))
    return HadoopPlace(text, Hadoop(text, spark))


def table_place(path: str, spark: SparkSession) -> Place | None:
    """The place of a table's files. Spark finds a path without a scheme on its default file system. None: only a Spark
    Connect server sees it."""
    default = path if URL.match(path) else default_file_system(spark)
    if not default or path.startswith("file:"):
        return LocalPlace(Path(path.removeprefix("file:")))
    return None if of_connect(spark) else HadoopPlace(path, Hadoop(default, lambda: spark))
