"""Tables without a connector are folders directly below the warehouse. Only those of tvfsql are deleted. No JVM."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tvfsql.api.definitions import Message
from tvfsql.api.script import Script
from tvfsql.api.tables.catalogs import Warehouse
from tvfsql.folders import file_name
from tvfsql.options import Options
from tvfsql.runtime import managed_folder
from tvfsql.runtime.cluster.files import LocalPlace, Place, is_ignored
from tvfsql.runtime.cluster.hadoop_files import HadoopPlace

NAMES = [
    "..", ".", "...", "../..", "/", "/etc", "a/b", "a\\b", "~", "_x", ".x", "a.b", "a b", " ", "%", "%2E%2E", "*", "?",
    "{a,b}", "[a]", "a:b", "file:", "s3a://b", "day=1", "ä", "😀", "\n", "\0", "\ud800", "x" * 300, "x" * 301,
    "é" * 300, "CON", "$op", "_spark_metadata", "_tvfsql_table",
]  # fmt: skip
NO_JVM: Any = None


@pytest.mark.parametrize(
    "root", [LocalPlace(Path("/w")), HadoopPlace("hdfs://h/w", NO_JVM), HadoopPlace("s3a://b/w", NO_JVM)]
)
@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_a_name_is_directly_below_its_folder_on_every_file_system(name: str, root: Place) -> None:
    made = file_name(name)
    assert (root / made).parent == root and (root / made).name == made
    assert re.fullmatch(r"[\w.~% -]+", made, re.ASCII) and len(made.encode()) <= 200
    assert not is_ignored(made)


def test_each_name_has_a_path_of_its_own() -> None:
    assert len({file_name(name) for name in NAMES}) == len(NAMES)
    with pytest.raises(ValueError, match="empty"):
        file_name("")


@pytest.mark.parametrize("name", ["..", ".", "../precious", "held"])
def test_dropping_a_table_deletes_nothing_that_is_not_its_own(name: str, tmp_path: Path) -> None:
    (tmp_path / "wh" / "held").mkdir(parents=True)
    for file in (tmp_path / "precious", tmp_path / "wh" / "precious", tmp_path / "wh" / "held" / "precious"):
        file.write_text("precious")
    before = sorted(tmp_path.rglob("*"))
    script = script_over(tmp_path / "wh")
    list(
        script.outcomes(f"CREATE TABLE `{name}` (a INT); DROP TABLE `{name}`; CREATE OR REPLACE TABLE `{name}` (a INT)")
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_rows_that_stay_are_told(tmp_path: Path) -> None:
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "part-0").touch()
    script = script_over(tmp_path)
    managed_folder(str(tmp_path / "held"))
    assert [*script.outcomes("CREATE TABLE held (a INT); DROP TABLE held")][-1] == Message("dropped table held")
    assert script.take_warnings() == (f"the rows of held stay in {tmp_path}/held, which tvfsql has not made",)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = Path(managed_folder(str(tmp_path / "target")))
    (target / "part-0").touch()
    (tmp_path / "wh").mkdir()
    (tmp_path / "wh" / "t").symlink_to(target)
    list(script_over(tmp_path / "wh").outcomes("CREATE TABLE t (a INT); DROP TABLE t"))
    assert (target / "part-0").exists()


def test_two_tables_of_a_session_never_share_a_folder() -> None:
    warehouse, seen = Warehouse(), set[str]()
    for name in ("a", "a-2", "a", "a-2", "a", "a%-2", "a-2-2"):
        folder = warehouse.folder("", file_name(name))
        assert folder not in seen
        seen.add(folder)


def script_over(warehouse: Path) -> Script:
    return Script(options=Options.of({"tvfsql.warehouse": str(warehouse)}), warehouse=Warehouse())
