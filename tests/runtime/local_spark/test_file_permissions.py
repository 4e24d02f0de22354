from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tvfsql.runtime.local_spark.file_permissions import NAME, set_permissions_in_process

pytestmark = pytest.mark.spark
MODES = ("600", "640", "644", "755", "777", "1777", "000")


def test_files_get_the_permissions_that_chmod_gives_them(spark: SparkSession, tmp_path: Path) -> None:
    jvm: Any = spark._jvm
    hadoop = jvm.org.apache.hadoop.fs
    settings = spark._jsc.hadoopConfiguration()
    set_permissions_in_process(spark)
    ours = hadoop.FileSystem.getLocal(settings)
    assert ours.getRaw().getClass().getName() == NAME
    theirs = hadoop.LocalFileSystem()  # not the cached one, so it starts chmod
    theirs.initialize(ours.getUri(), settings)
    made = {}
    for name, files in {"ours": ours, "theirs": theirs}.items():
        made[name] = [_mode(files, tmp_path / f"{name}-{mode}", mode, jvm) for mode in MODES]
        folder = tmp_path / f"{name}-folder"
        assert files.mkdirs(hadoop.Path(str(folder)), hadoop.permission.FsPermission("750"))
        files.create(hadoop.Path(str(folder / "file"))).close()
        made[name] += [folder.stat().st_mode, (folder / "file").stat().st_mode]
    assert made["ours"] == made["theirs"]
    assert len(set(made["ours"])) > len(MODES)


def test_it_replaces_the_file_system_once(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    found = []
    for _ in range(2):
        set_permissions_in_process(spark)
        raw = jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark._jsc.hadoopConfiguration()).getRaw()
        found.append(jvm.java.lang.System.identityHashCode(raw))
    assert found[0] == found[1]


def _mode(files: Any, file: Path, mode: str, jvm: Any) -> int:
    file.touch()
    files.setPermission(
        jvm.org.apache.hadoop.fs.Path(str(file)), jvm.org.apache.hadoop.fs.permission.FsPermission(mode)
    )
    return file.stat().st_mode
