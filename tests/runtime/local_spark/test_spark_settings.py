"""What Spark is told, and who may say otherwise. No JVM."""

from __future__ import annotations

import os
import re
from importlib import metadata
from pathlib import Path

import pytest

from tvfsql.runtime.cluster.asked import requested
from tvfsql.runtime.local_spark.start import _environment, settings, with_packages


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_nothing_is_requested_unless_the_user_does() -> None:
    assert requested() == {}


def test_what_the_user_gives_spark_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.ui.enabled true\nspark.sql.shuffle.partitions  7\nspark.master=local[1]\n\nspark.empty\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv(
        "PYSPARK_SUBMIT_ARGS",
        "--master local[3] --conf 'spark.driver.extraJavaOptions=-Da=1 -Db=2' --conf=spark.x=y=z shell",
    )
    assert requested() == {
        "spark.sql.shuffle.partitions": "7",
        "spark.master": "local[3]",
        "spark.driver.extraJavaOptions": "-Da=1 -Db=2",
        "spark.x": "y=z",
    }


def test_packages_of_spark_are_added_to_what_the_user_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = "spark-sql-kafka-0-10_2.13"
    ours = f"org.apache.spark:{kafka}:{metadata.version('pyspark')}"
    assert with_packages({"spark.master": "local"}, []) == {"spark.master": "local"}
    assert with_packages(requested(), [kafka]) == {"spark.jars.packages": ours}
    assert with_packages({"spark.jars.packages": "a:b:1"}, [kafka]) == {"spark.jars.packages": f"a:b:1,{ours}"}
    for theirs in (f"--packages org.apache.spark:{kafka}:4.2.0", f"--jars=/their/x.jar,/their/{kafka}-4.2.0.jar"):
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{theirs} pyspark-shell")
        assert with_packages(requested(), [kafka]) == requested() != {}


def test_many_new_files_are_not_listed_by_a_task_each() -> None:
    found = settings()
    (cores,) = re.findall(r"local\[(\d+)]", found["spark.master"])
    assert found["spark.sql.sources.parallelPartitionDiscovery.parallelism"] == cores


def test_the_settings_keep_spark_out_of_the_current_folder_and_off_the_network() -> None:
    found = settings()
    assert Path(found["spark.sql.warehouse.dir"].removeprefix("file://")).is_dir()
    assert found["spark.ui.enabled"] == "false"
    assert found["spark.driver.bindAddress"] == "127.0.0.1"
    assert 1024 <= int(found["spark.driver.memory"].removesuffix("m")) <= 8192


def test_the_environment_is_the_users_again_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "theirs")
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    before = dict(os.environ)
    with pytest.raises(KeyError), _environment({"JAVA_HOME": "ours", "SPARK_LOCAL_IP": "127.0.0.1"}):
        assert os.environ["JAVA_HOME"] == "ours"
        raise KeyError
    assert dict(os.environ) == before


def test_spark_reads_and_writes_times_in_utc_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = "spark.sql.session.timeZone"
    assert settings()[zone] == settings(local=False)[zone] == "UTC"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {zone}=Europe/Berlin pyspark-shell")
    assert (settings() | requested())[zone] == "Europe/Berlin"
