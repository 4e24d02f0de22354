"""SHOW CREATE: the statements that it shows make the same tables and views again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.golden import CASES, Case, after_prelude, cases
from tvfsql.api.script import Script, Text
from tvfsql.bind.statements.show_create import create_statement
from tvfsql.catalog import Catalog, Table, View
from tvfsql.catalog.connectors import Managed
from tvfsql.secrets import STARS
from tvfsql.syntax import statements

FOLDERS = sorted(path.name for path in CASES.iterdir() if path.is_dir() and path.name != "errors")
MADE = [case for case in cases(*FOLDERS) if "CREATE TABLE" in case.sql or "CREATE VIEW" in case.sql]


def again(script: Script, entry: Table | View) -> Table | View:
    """What the statement of SHOW CREATE makes of the entry, where it does not exist."""
    catalog = script.catalog.copy()
    del catalog.entries[entry.name]
    other = Script(catalog, script.options)
    list(other.outcomes(create_statement(entry)))
    return catalog.entries[entry.name]


def written(table: Table) -> object:
    """What the definition has besides the table: types as declared, comments, and the clause DISTRIBUTED."""
    create = table.definition
    assert isinstance(create, statements.CreateTable)
    columns = create.columns
    if any(isinstance(part, statements.Column) and not part.written for part in columns):
        columns = ()  # those of a query
    return columns, create.comment, create.distributed


@pytest.mark.parametrize("case", [Case("prelude"), *MADE], ids=str)
def test_shown_statements_make_the_same_again(case: Case) -> None:
    script = after_prelude()
    if case.name != "prelude":
        list(script.outcomes(case.sql))
    for entry in script.catalog.entries.values():
        if STARS in create_statement(entry) or (isinstance(entry, View) and "." in entry.name):
            continue  # a password does not show, and a view in another database names tables there
        made = again(script, entry)
        if isinstance(entry, Table) and isinstance(made, Table):
            assert written(entry) in (written(made), ((), None, ""))
            made = replace(made, connector=entry.connector) if isinstance(made.connector, Managed) else made
        assert made == entry


ODD = """CREATE TABLE `primary` (`watermark` TIMESTAMP(3) NOT NULL COMMENT 'it''s', `constraint` VARCHAR(10),
`a b` CHAR(2),
`temp` INT, twice AS `temp` * 2 COMMENT 'two',
WATERMARK FOR `watermark` AS `watermark` - INTERVAL '5' SECOND, PRIMARY KEY (`constraint`, `a b`) NOT ENFORCED)
COMMENT 'c' DISTRIBUTED BY (`temp`) INTO 3 BUCKETS WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d',
'table-name' = 't')"""


def test_keys_types_comments_and_keywords_are_shown() -> None:
    script = Script(Catalog())
    list(script.outcomes(ODD))
    text = create_statement(script.catalog.entries["primary"])
    assert text == (
        "CREATE TABLE `primary` (\n"
        "  `watermark` TIMESTAMP(3) NOT NULL COMMENT 'it''s',\n"
        "  `constraint` VARCHAR(10),\n"
        "  `a b` CHAR(2),\n"
        "  `temp` INT,\n"
        "  twice AS `temp` * 2 COMMENT 'two',\n"
        "  WATERMARK FOR `watermark` AS `watermark` - INTERVAL '5' SECOND,\n"
        "  PRIMARY KEY (`constraint`, `a b`) NOT ENFORCED\n"
        ") COMMENT 'c' DISTRIBUTED BY (`temp`) INTO 3 BUCKETS WITH (\n"
        "  'connector' = 'jdbc',\n"
        "  'url' = 'jdbc:postgresql://h/d',\n"
        "  'table-name' = 't'\n"
        ")"
    )
    assert again(script, script.catalog.entries["primary"]) == script.catalog.entries["primary"]


def test_a_view_shows_the_names_of_its_columns() -> None:
    script = after_prelude()
    *_, shown = script.outcomes("CREATE VIEW v (a, `order`) AS SELECT item, price FROM bid; SHOW CREATE VIEW v")
    assert shown == Text("CREATE VIEW v (a, `order`) AS\nSELECT item, price FROM bid")
    assert again(script, script.catalog.entries["v"]) == script.catalog.entries["v"]
