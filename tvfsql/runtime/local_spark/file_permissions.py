"""Lets Hadoop's local file system set the permissions of files by itself.

Without a native library, which no package of Python brings, it starts the program `chmod` for each file that it writes.
A micro-batch writes about nine files into its checkpoint, and a process takes 3 to 6 ms.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.hadoop_files import LOCAL_MANAGER, MANAGER

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

NAME = "tvfsql.LocalFiles"
# Spark's own compiler, which it has for the code of its plans, compiles this
SOURCE = """
package tvfsql;

import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

public final class LocalFiles extends org.apache.hadoop.fs.RawLocalFileSystem {
    public void setPermission(Path file, FsPermission to) throws java.io.IOException {
        if (to.getStickyBit()) {
            super.setPermission(file, to);
        } else {
            String letters = to.getUserAction().SYMBOL + to.getGroupAction().SYMBOL + to.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(pathToFile(file).toPath(), PosixFilePermissions.fromString(letters));
        }
    }
}
"""
RAW = "org.apache.hadoop.fs.RawLocalFileSystem"
_lock = threading.Lock()


def set_permissions_in_process(spark: SparkSession) -> None:
    """Replace the innermost local file system of the JVM of `spark`, if tvfsql has started it and Hadoop has no native
    library. Files get the same permissions as before. In a JVM where this fails, nothing changes."""
    if of_connect(spark):
        return
    with _lock, suppress(Exception):  # Spark may be stopping
        jvm: JavaObject = spark._jvm
        hadoop = jvm.org.apache.hadoop
        if spark.conf.get(MANAGER, None) != LOCAL_MANAGER:
            return
        if hadoop.io.nativeio.NativeIO.isAvailable() or hadoop.util.Shell.WINDOWS:
            return
        settings = spark._jsc.hadoopConfiguration()
        files = hadoop.fs.FileSystem.getLocal(settings)
        inner = jvm.java.lang.Class.forName("org.apache.hadoop.fs.FilterFileSystem").getDeclaredField("fs")
        inner.setAccessible(True)
        if inner.get(files).getClass().getName() == RAW:
            made = _compiled(spark)
            made.initialize(files.getUri(), settings)
            inner.set(files, made)


def in_background(spark: SparkSession) -> None:
    """The same, while a stream starts: the compiler takes a quarter of a second the first time."""
    threading.Thread(target=set_permissions_in_process, args=(spark,), name="tvfsql-permissions", daemon=True).start()


def _compiled(spark: SparkSession) -> JavaObject:
    jvm: JavaObject = spark._jvm
    gateway: JavaObject = spark.sparkContext._gateway
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(SOURCE)
    no_classes, no_values = (gateway.new_array(kind, 0) for kind in (jvm.java.lang.Class, jvm.java.lang.Object))
    return compiler.getClassLoader().loadClass(NAME).getDeclaredConstructor(no_classes).newInstance(no_values)
