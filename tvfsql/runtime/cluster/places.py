"""Folders that this process and Spark's other machines both use: checkpoints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tvfsql.errors import DataError, OptionError, UnsupportedError
from tvfsql.runtime.cluster.asked import is_local
from tvfsql.runtime.cluster.code import of_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARED = "a folder that all machines mount, such as --checkpoint /mnt/shared/checkpoint"


def local_folder(place: str | Path) -> Path:
    """The folder of a checkpoint, which may be a `file:` URL. Raises OptionError for other URLs: this process writes
    small files there itself."""
    text = str(place)
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+:/", text):
        return Path(text)
    if text.startswith("file:"):
        return Path(unquote(urlsplit(text).path))
    raise OptionError(f"the checkpoint {text} is no folder that this process can write", hint=SHARED)


def require_streams(spark: SparkSession, folders: list[Path | None]) -> None:
    """Raise UnsupportedError for streams over Spark Connect, and DataError for a stream without a checkpoint on other
    machines, where its temporary folder is not."""
    if of_connect(spark):
        raise UnsupportedError("streams do not run over Spark Connect yet", hint="--master URL of the cluster")
    if None in folders and not is_local(str(spark.sparkContext.master)):
        raise DataError("a stream on a cluster needs a checkpoint that all its machines see", hint=SHARED)
