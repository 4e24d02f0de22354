"""The SPARK_HOME that Python workers start from without compiling pyspark."""

from __future__ import annotations

import os
from pathlib import Path

import pyspark
import pytest

from tvfsql.runtime.local_spark.spark_home import home_without_zip

PACKAGE = Path(pyspark.__file__).parent


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tvfsql"


def test_it_has_all_of_the_package_but_the_zip(cache: Path) -> None:
    home = home_without_zip(PACKAGE)
    assert home.parent == cache
    assert {entry.name for entry in home.iterdir()} == {entry.name for entry in PACKAGE.iterdir()} - {"python"}
    assert (home / "jars").samefile(PACKAGE / "jars")
    assert (home / "bin" / "spark-submit").is_file()
    assert home_without_zip(PACKAGE) == home
    assert [entry.name for entry in cache.iterdir()] == [home.name], "no draft is left"


def test_a_spark_of_its_own_is_used_as_it_is(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "spark" / "python" / "lib").mkdir(parents=True)
    assert home_without_zip(tmp_path / "spark") == tmp_path / "spark"
    assert not cache.exists()


def test_a_folder_that_others_may_write_or_that_was_changed_is_not_used(cache: Path) -> None:
    home = home_without_zip(PACKAGE)
    home.chmod(0o777)
    other = home_without_zip(PACKAGE)
    assert other.parent.parent != cache
    home.chmod(0o700)
    assert home_without_zip(PACKAGE) == home
    (home / "jars").unlink()
    (home / "jars").symlink_to("/")
    assert (home_without_zip(PACKAGE) / "jars").samefile(PACKAGE / "jars")


def test_without_a_cache_it_is_a_temporary_folder(cache: Path) -> None:
    cache.parent.joinpath("tvfsql").write_text("in the way", encoding="utf-8")
    home = home_without_zip(PACKAGE)
    assert cache.parent not in home.parents
    assert os.readlink(home / "jars") == str(PACKAGE.resolve() / "jars")
