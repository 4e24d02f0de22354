"""Checks that Spark's Python workers on other machines have the packages they need."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from tvfsql.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# modules that workers import, with their packages; the last two are for transformWithState
NEEDED = {
    "numpy": "numpy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "google.protobuf.descriptor": "protobuf",
    "google.rpc.error_details_pb2": "googleapis-common-protos",
}


@dataclass(frozen=True)
class Worker:
    """A machine and its Python. `sees`: whether the requested file exists there; None if none was requested."""

    host: str
    python: str
    version: str
    versions: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    sees: bool | None = None

    def require(self) -> None:
        """Raise DataError if a package is missing."""
        if self.missing:
            lacks = " ".join(self.missing)
            raise DataError(
                f"the Python of Spark's workers lacks {', '.join(self.missing)}: {self.python} on {self.host}",
                hint=f"{self.python} -m pip install {lacks}, there; or --conf spark.pyspark.python=PATH of another one",
            )


def look(file: str) -> str:
    """The `Worker` that runs this, as JSON. `file`: a path to look for; "": none."""
    versions, missing = [], []
    for module, package in NEEDED.items():
        try:
            versions.append((package, str(getattr(import_module(module), "__version__", ""))))
        except ImportError:
            missing.append(package)
    version = ".".join(map(str, sys.version_info[:3]))
    found = Worker(
        socket.gethostname(),
        sys.executable,
        version,
        tuple(versions),
        tuple(missing),
        os.path.exists(file) if file else None,
    )
    return json.dumps(vars(found), sort_keys=True)


def workers(spark: SparkSession, tasks: int, file: str = "") -> list[Worker]:
    """The workers that run `tasks` small tasks. There may be others. Their Python needs no package for this."""
    from pyspark.sql import functions as F

    told = F.udf(look, "string", useArrow=False)
    rows = spark.range(tasks, numPartitions=tasks).select(told(F.lit(file)).alias("told")).collect()
    found = (json.loads(each) for each in sorted({row.told for row in rows}))
    return [
        Worker(**{**each, "versions": tuple(map(tuple, each["versions"])), "missing": tuple(each["missing"])})
        for each in found
    ]
