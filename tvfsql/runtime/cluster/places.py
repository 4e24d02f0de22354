"""Folders that this process shares with Spark's other machines: checkpoints."""

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
    """The path of a checkpoint, given as a path or a `file:` URL.

    Raises OptionError for other URLs, because this process itself writes small files into the checkpoint.
    """
    text = str(place)
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+:/", text):
        return Path(text)
    if text.startswith("file:"):
        return Path(unquote(urlsplit(text).path))
    raise OptionError(f"tvfsql cannot write the checkpoint {text}: it must be a local or mounted folder", hint=SHARED)


def require_streams(spark: SparkSession, folders: list[Path | None]) -> None:
    """Check that streams with these checkpoints (None: a temporary folder) can run on this Spark.

    Raises UnsupportedError over Spark Connect, and DataError for a stream without a checkpoint on a cluster, whose
    other machines do not have its temporary folder.
    """
    if of_connect(spark):
        raise UnsupportedError("streams do not run over Spark Connect yet", hint="--master URL of the cluster")
    if None in folders and not is_local(str(spark.sparkContext.master)):
        raise DataError("a stream on a cluster needs a checkpoint that all its machines see", hint=SHARED)
