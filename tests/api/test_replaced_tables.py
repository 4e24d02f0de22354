"""CREATE OR REPLACE TABLE deletes the rows of the old table only when the new one is known to be valid. No JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from tvfsql.api.script import Script
from tvfsql.api.tables.catalogs import Warehouse
from tvfsql.errors import TvfSqlError
from tvfsql.options import Options
from tvfsql.runtime import managed_folder

TABLES = """CREATE TABLE held (id INT, day STRING);
CREATE TABLE more (id INT);
CREATE VIEW days AS SELECT day FROM held;
"""


@pytest.mark.parametrize(
    "query",
    [
        "CREATE OR REPLACE TABLE held AS SELECT id FROM held WHERE id > 1",
        "CREATE OR REPLACE TABLE held AS SELECT day FROM days",
        "CREATE OR REPLACE TABLE held WITH ('connector' = 'print') AS SELECT id FROM held",
        "SET 'execution.runtime-mode' = 'streaming'; CREATE OR REPLACE TABLE held AS SELECT id FROM more LIMIT 1",
        "CREATE OR REPLACE TABLE held (id INT, `$op` INT)",
    ],
)
def test_the_rows_stay_if_the_new_table_is_refused(query: str, tmp_path: Path) -> None:
    script = filled(tmp_path)
    with pytest.raises(TvfSqlError):
        list(script.outcomes(query))
    assert (tmp_path / "held" / "part-0").exists()
    table = script.catalog.get("held")
    assert [part.name for part in getattr(table, "columns", ())] == ["id", "day"]


@pytest.mark.parametrize("rest", ["(id INT)", "LIKE more", "AS SELECT id FROM more"])
def test_the_rows_of_a_replaced_table_are_deleted(rest: str, tmp_path: Path) -> None:
    script = filled(tmp_path)
    list(script.outcomes(f"CREATE OR REPLACE TABLE held {rest}"))
    assert not (tmp_path / "held").exists()


def filled(warehouse: Path) -> Script:
    """A script with a table whose rows are in a file."""
    script = Script(options=Options.of({"tvfsql.warehouse": str(warehouse)}), warehouse=Warehouse())
    list(script.outcomes(TABLES))
    Path(managed_folder(str(warehouse / "held")), "part-0").touch()
    return script
