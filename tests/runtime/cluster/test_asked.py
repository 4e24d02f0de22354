"""Which Spark is started, with which settings, and what is sent to it. No JVM."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tvfsql import Session
from tvfsql.api.own_spark import Needs, OwnSpark
from tvfsql.errors import DataError, OptionError
from tvfsql.runtime.cluster.asked import MASTER, PYTHON, REMOTE, cluster, is_local, requested
from tvfsql.runtime.cluster.code import our_zip
from tvfsql.runtime.local_spark.java import Java
from tvfsql.runtime.local_spark.start import _variables, settings

JAVA = Java(Path("/nowhere"), "21.0.8", "PATH")


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_MASTER", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)


def test_the_latest_place_names_the_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    assert requested() == {}
    monkeypatch.setenv("SPARK_REMOTE", "sc://a")
    assert requested() == {REMOTE: "sc://a"}
    assert requested({MASTER: "spark://b:7077"}) == {MASTER: "spark://b:7077"}
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master yarn --conf spark.x=1 pyspark-shell")
    assert requested({"spark.x": "2"}) == {MASTER: "yarn", "spark.x": "2"}
    assert requested({REMOTE: "sc://c"}) == {REMOTE: "sc://c", "spark.x": "1"}


def test_a_cluster_gets_none_of_the_settings_of_one_machine() -> None:
    assert all(map(is_local, ("local", "local[4]", "local[*]", "local[2,3]")))
    assert not any(map(is_local, ("local-cluster[2,1,1024]", "spark://local:7077", "yarn", "k8s://https://a")))
    ours = {
        key for key in settings(local=False) if not key.startswith(("spark.sql.streaming.stateStore.", "spark.ui."))
    }
    assert ours == {
        "spark.app.name",
        "spark.driver.defaultJavaOptions",
        "spark.python.sql.dataFrameDebugging.enabled",
        "spark.sql.ansi.enabled",
        "spark.sql.csv.filterPushdown.enabled",
        "spark.sql.execution.arrow.maxBytesPerBatch",
        "spark.sql.execution.arrow.maxRecordsPerBatch",
        "spark.sql.json.filterPushdown.enabled",
        "spark.sql.mapKeyDedupPolicy",
        "spark.sql.session.timeZone",
        "spark.sql.timeType.enabled",
        "spark.sql.window.segmentTree.enabled",
    }


def test_the_python_of_the_workers_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    here, there = {MASTER: "local[2]"}, {MASTER: "spark://a:7077"}
    assert _variables(JAVA, tmp_path, here)["PYSPARK_PYTHON"] == sys.executable
    assert not {"PYSPARK_PYTHON", "SPARK_LOCAL_IP"} & {*_variables(JAVA, tmp_path, there)}
    for asked in (here, there):
        assert _variables(JAVA, tmp_path, asked | {PYTHON: "/opt/python"})["PYSPARK_PYTHON"] == "/opt/python"
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
    assert _variables(JAVA, tmp_path, here)["PYSPARK_PYTHON"] == "/usr/bin/python3"


def test_the_zip_has_all_that_workers_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module of the runtime is found in it, compiled, and nothing of the compiler is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = """
import importlib, pkgutil, sys, tvfsql, tvfsql.plan, tvfsql.runtime
assert ".zip" in tvfsql.__file__, tvfsql.__file__
for package in (tvfsql.plan, tvfsql.runtime):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if ".host." not in module.name:  # of the driver
            assert importlib.import_module(module.name).__file__.endswith(".pyc"), module.name
assert importlib.util.find_spec("tvfsql.syntax") is None
"""
    zip = our_zip()
    assert our_zip() == zip and zip.is_relative_to(tmp_path)
    command = [sys.executable, "-I", "-W", "ignore", "-c", f"import sys; sys.path.insert(0, {str(zip)!r})\n{program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("settings", "master"),
    [
        ({}, None),
        ({MASTER: "local[4]"}, None),
        ({"spark.remote": "sc://a"}, None),
        ({MASTER: "local-cluster[2,1,1024]"}, "local-cluster[2,1,1024]"),
        ({MASTER: "yarn"}, "yarn"),
    ],
)
def test_a_cluster_is_told_from_this_machine(settings: dict[str, str], master: str | None) -> None:
    assert cluster(settings) == master


def test_settings_of_spark_are_set_reset_and_shown() -> None:
    session = Session(options={"spark.executor.memory": "4g"})
    session.execute("SET 'spark.sql.shuffle.partitions' = '8'; SET 'spark.hadoop.fs.s3a.secret.key' = 'x'")
    assert session.options.spark["spark.sql.shuffle.partitions"] == "8"
    shown = session.sql("SET").text("csv")
    assert "spark.executor.memory,4g" in shown and "spark.hadoop.fs.s3a.secret.key,******" in shown
    session.execute(
        "SET 'spark.executor.memory' = '8g'; RESET 'spark.executor.memory'; RESET 'spark.hadoop.fs.s3a.secret.key'"
    )
    assert session.options.spark == {"spark.executor.memory": "4g", "spark.sql.shuffle.partitions": "8"}
    with pytest.raises(OptionError, match="one of spark, master and remote"):
        Session(master="yarn", remote="sc://a")


class Conf:
    """As a Spark that runs: it takes SQL settings only."""

    def __init__(self) -> None:
        self.known = {"spark.sql.shuffle.partitions": "200", "spark.app.name": "x", MASTER: "local[1]"}

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.known.get(key, default)

    def set(self, key: str, value: str) -> None:
        if not key.startswith("spark.sql."):
            raise ValueError(key)
        self.known[key] = value

    def unset(self, key: str) -> None:
        del self.known[key]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, dict[str, str], OwnSpark]]:
    class Running:
        conf = Conf()

    monkeypatch.setattr("tvfsql.runtime.cluster.code.prepare", lambda spark: None)
    wanted: dict[str, str] = {}
    yield Running, wanted, OwnSpark(lambda: Needs(settings=wanted), Running())  # type: ignore[arg-type]


def test_a_spark_that_runs_takes_what_it_can_and_gives_it_back(given: tuple[Any, dict[str, str], OwnSpark]) -> None:
    running, wanted, own = given
    wanted |= {"spark.sql.shuffle.partitions": "4", "spark.sql.catalog.c": "d", "spark.app.name": "x"}
    own.get()
    assert running.conf.known["spark.sql.shuffle.partitions"] == "4"
    wanted.clear()
    own.get()
    assert running.conf.known["spark.sql.shuffle.partitions"] == "200"
    assert "spark.sql.catalog.c" not in running.conf.known


@pytest.mark.parametrize("key", [MASTER, REMOTE, "spark.executor.memory", "spark.app.name"])
def test_a_spark_that_runs_refuses_what_only_its_start_takes(
    key: str, given: tuple[Any, dict[str, str], OwnSpark]
) -> None:
    _, wanted, own = given
    wanted[key] = "another"
    for _ in range(2):
        with pytest.raises(OptionError, match=f"{key} cannot change while Spark is running"):
            own.get()


def test_secrets_of_settings_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, given: tuple[Any, dict[str, str], OwnSpark]
) -> None:
    running, wanted, own = given
    wanted["spark.sql.catalog.c.token"] = "${ENV:TOKEN_OF_C}"
    monkeypatch.delenv("TOKEN_OF_C", raising=False)
    with pytest.raises(DataError, match="TOKEN_OF_C"):
        own.get()
    monkeypatch.setenv("TOKEN_OF_C", "abc")
    own.get()
    assert running.conf.known["spark.sql.catalog.c.token"] == "abc"
