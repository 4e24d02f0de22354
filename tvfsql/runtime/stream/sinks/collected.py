"""The rows of a SELECT over Spark Connect, whose server cannot call functions of this process: files that both see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.runtime.cluster.files import LOG


class Collected:
    """Parquet files in `folder`, listed by micro-batch in Spark's file log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: list[str] = []
        self._seen: set[str] = set()

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """Write the rows of a stream. Columns get names of their own, because those of a query may repeat."""
        self._names = rows.columns
        numbered = rows.toDF(*(f"c{i}" for i in range(len(self._names))))
        return numbered.writeStream.format("parquet").option("path", str(self.folder))

    def batches(self, spark: SparkSession) -> Iterator[DataFrame]:
        """The micro-batches with rows that have come since the last call, in order."""
        for log in sorted(self._logs(), key=lambda path: int(path.name.partition(".")[0])):
            lines = log.read_text(encoding="utf-8").splitlines()[1:]  # the first is the version
            paths = [unquote(urlsplit(json.loads(line)["path"]).path) for line in lines]
            if fresh := [path for path in paths if path not in self._seen]:
                self._seen.update(fresh)
                yield spark.read.option("basePath", str(self.folder)).parquet(*fresh).toDF(*self._names)

    def _logs(self) -> list[Path]:
        return [path for path in self.folder.glob(f"{LOG}/[0-9]*") if not path.name.endswith(".tmp")]
