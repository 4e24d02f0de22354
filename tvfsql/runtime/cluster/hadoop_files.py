"""Places on the file systems of Hadoop (HDFS, S3, Azure, Google and others).

The driver's JVM reaches them, with Spark's own settings.

Source: Spark's CheckpointFileManager, which knows how a file appears at once on each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import Place, as_bytes, is_ignored

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
LOCAL_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


@dataclass
class Hadoop:
    """The file system of a URL, in the JVM of the Spark that `start` gives."""

    url: str
    start: Callable[[], SparkSession]

    @cached_property
    def java(self) -> JavaObject:
        spark = self.start()
        if of_connect(spark):
            raise UnsupportedError(
                f"over Spark Connect the checkpoint {self.url} cannot be used: this process writes small files there, "
                "and has no JVM to do so",
                hint="--master URL of the cluster, or --checkpoint DIR, a folder that all machines mount",
            )
        return spark._jvm

    @cached_property
    def settings(self) -> JavaObject:
        """Hadoop's settings, as Spark's streams have them."""
        found = self.start()._jsparkSession.sessionState().newHadoopConf()
        if found.get(MANAGER) == LOCAL_MANAGER:
            found.unset(MANAGER)
        return found

    @cached_property
    def files(self) -> JavaObject:
        return self.path(self.url).getFileSystem(self.settings)

    @cached_property
    def manager(self) -> JavaObject:
        """Spark's own writer of checkpoints: that of `MANAGER`, or the one that it takes for this file system."""
        streaming = self.java.org.apache.spark.sql.execution.streaming
        return streaming.checkpointing.CheckpointFileManager.create(self.path(self.url), self.settings)

    @cached_property
    def files_appear_when_closed(self) -> bool:
        """Whether a file is there when it is closed, and not before, as in object stores."""
        return bool(self.files.hasPathCapability(self.path(self.url), "fs.capability.outputstream.abortable"))

    def path(self, url: str) -> JavaObject:
        return self.java.org.apache.hadoop.fs.Path(url)


def default_file_system(spark: SparkSession) -> str:
    """Where Spark finds paths without a scheme, as hdfs://HOST:PORT. "": on the local disk, or unknown, over Spark
    Connect."""
    if of_connect(spark):
        return ""
    found = str(spark._jsparkSession.sessionState().newHadoopConf().get("fs.defaultFS", "file:///"))
    return "" if found.startswith("file:") else f"{found.rstrip('/')}/"


@dataclass(frozen=True)
class HadoopPlace(Place):
    """A place on a file system of Hadoop. Raises DataError, and UnsupportedError over Spark Connect."""

    url: str
    hadoop: Hadoop = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        return self.url.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> HadoopPlace:
        return HadoopPlace(self.url.rstrip("/").rpartition("/")[0], self.hadoop)

    def __truediv__(self, name: str) -> HadoopPlace:
        return HadoopPlace(f"{self.url.rstrip('/')}/{name}", self.hadoop)

    def resolved(self) -> HadoopPlace:
        with self._errors():
            return HadoopPlace(str(self.hadoop.files.makeQualified(self._path).toString()), self.hadoop)

    def exists(self) -> bool:
        with self._errors():
            return bool(self.hadoop.files.exists(self._path))

    def names(self) -> list[str]:
        with self._errors():
            return sorted(str(entry.getPath().getName()) for entry in self._entries(self._path))

    def below(self) -> Iterator[HadoopPlace]:
        with self._errors():
            folders = [self._path]
            while folders:
                for entry in self._entries(folders.pop()):
                    if entry.isFile():
                        yield HadoopPlace(str(entry.getPath().toString()), self.hadoop)
                    elif not is_ignored(str(entry.getPath().getName())):
                        folders.append(entry.getPath())

    def read(self) -> str | None:
        with self._errors():
            try:
                file = self.hadoop.files.open(self._path)
            except Py4JJavaError as error:
                if error.java_exception.getClass().getName() != "java.io.FileNotFoundException":
                    raise
                return None
            try:
                return bytes(file.readAllBytes()).decode("utf-8")
            finally:
                file.close()

    def make(self, *, shared: bool = False) -> None:
        with self._errors():
            hadoop = self.hadoop.java.org.apache.hadoop.fs
            rights = () if shared else (hadoop.permission.FsPermission("700"),)
            if not self.hadoop.files.exists(self._path):
                self.hadoop.files.mkdirs(self._path, *rights)

    def write(self, content: str | bytes, *, shared: bool = False, durable: bool = True) -> None:
        with self._errors():
            if self.hadoop.files_appear_when_closed:
                file = self.hadoop.files.create(self._path, True)
                cancel = file.abort
            else:
                file = self.hadoop.manager.createAtomic(self._path, True)
                cancel = file.cancel
            try:
                file.write(as_bytes(content))
                file.close()
            except BaseException:
                cancel()
                raise

    def create(self, content: str) -> bool:
        with self._errors():
            try:
                file = self.hadoop.files.create(self._path, False)
            except Py4JJavaError as error:
                if self.exists():
                    return False
                raise error
            file.write(as_bytes(content))
            file.close()
            return True

    def delete(self) -> None:
        with self._errors():
            self.hadoop.files.delete(self._path, False)

    @property
    def writing(self) -> dict[str, str]:
        """The manager that suits this file system, if Spark has one that is for local disks only."""
        with self._errors():
            if self.hadoop.start().conf.get(MANAGER, None) != LOCAL_MANAGER:
                return {}
            return {MANAGER: str(self.hadoop.manager.getClass().getName())}

    @property
    def _path(self) -> JavaObject:
        return self.hadoop.path(self.url)

    def _entries(self, path: JavaObject) -> JavaObject:
        return self.hadoop.files.listStatus(path) if self.hadoop.files.exists(path) else ()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Py4JJavaError as error:
            reason = str(error.java_exception.getMessage() or error.java_exception.getClass().getName())
            raise DataError(
                f"{self.url} cannot be read or written: {reason.splitlines()[0].rstrip('. ')}",
                hint="check the URL, and Spark's settings of its file system: --conf spark.hadoop.KEY=VALUE",
            ) from error
