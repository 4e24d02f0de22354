"""The settings that the user gives Spark, its master included. They override ours."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

MASTER, REMOTE = "spark.master", "spark.remote"
PYTHON = "spark.pyspark.python"
_OF_START = ("spark.driver.", "spark.executor.", "spark.jars", "spark.kubernetes.", "spark.yarn.", "spark.pyspark.")
_VARIABLES = {"SPARK_MASTER": MASTER, "SPARK_REMOTE": REMOTE}
_SHORT_FLAGS = {
    "--master": MASTER,
    "--remote": REMOTE,
    "--name": "spark.app.name",
    "--packages": "spark.jars.packages",
    "--jars": "spark.jars",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}


def requested(own: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings that the user gives Spark; later places win: SPARK_MASTER and SPARK_REMOTE,
    `spark-defaults.conf`, `PYSPARK_SUBMIT_ARGS` or spark-submit, and `own`, those of the command line and of SET.

    The result has at most one of `spark.master` and `spark.remote`: the one from the later place.
    """
    found: dict[str, str] = {}
    variables = {key: os.environ[name] for name, key in _VARIABLES.items() if os.environ.get(name)}
    arguments = _of_submit_args(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for place in (variables, _of_defaults_file(), arguments, _of_spark_submit(), own or {}):
        if REMOTE in place:
            found.pop(MASTER, None)
        elif MASTER in place:
            found.pop(REMOTE, None)
        found |= place
    if REMOTE in found:
        found.pop(MASTER, None)
    return found


def is_local(master: str) -> bool:
    """Whether a Spark with this master runs in one process here. `local-cluster[...]` starts other processes."""
    return master == "local" or master.startswith("local[")


def cluster(settings: Mapping[str, str]) -> str | None:
    """The master that a Spark with these settings starts on; None for this machine and for a server."""
    master = settings.get(MASTER, "local")
    return None if REMOTE in settings or is_local(master) else master


def has_catalogs(settings: Mapping[str, str]) -> bool:
    """Whether a Spark that starts with these settings may know tables: of a metastore, a catalog, a server."""
    return any(key == REMOTE or key.startswith("spark.sql.catalog") for key in settings)


def is_fixed(key: str) -> bool:
    """Whether Spark reads a setting only when it starts. A running Spark would accept it without any effect."""
    return key in (MASTER, REMOTE, "spark.submit.deployMode") or key.startswith(_OF_START)


def _of_defaults_file() -> dict[str, str]:
    conf = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    try:
        lines = Path(conf, "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in lines if line.lstrip().startswith("spark."))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _of_submit_args(text: str) -> dict[str, str]:
    found = {}
    words = iter(shlex.split(text))
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in ("--conf", "-c"):
            key, _, setting = (value if equals else next(words, "")).partition("=")
            found[key] = setting
        elif flag in _SHORT_FLAGS:
            found[_SHORT_FLAGS[flag]] = value if equals else next(words, "")
    return found


def _of_spark_submit() -> dict[str, str]:
    """The settings of the JVM that started this process, which spark-submit does; otherwise empty."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())
