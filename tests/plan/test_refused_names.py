"""Names that queries cannot have: those of internal columns, and only these."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tvfsql
from tvfsql import Session
from tvfsql.errors import UnsupportedError
from tvfsql.plan.tables.internal_columns import is_internal

ROOT = Path(tvfsql.__file__).parents[1]
# a terminal of lark, a function of the plan, and a name of Confluent in a hint
NO_COLUMNS = ("$END", "$ROWS", "$rowtime")


def dollar_names() -> Iterator[tuple[str, str]]:
    """The texts in the code that are names with $ at the start, and their files. A part that is computed is a 7."""
    for file in (*(ROOT / "tvfsql").rglob("*.py"), *(ROOT / "rules").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.fullmatch(r"\$\w+", text) and text not in NO_COLUMNS:
                yield text, file.name


def test_every_internal_column_has_a_reserved_name() -> None:
    found = dict(dollar_names())
    assert {"$watermark", "$text", "$hash", "$timer"} <= {*found}
    assert {name: file for name, file in found.items() if not is_internal(name)} == {}


@pytest.mark.parametrize("name", ["$watermark", "$WATERMARK", "$Op", "$0", "$e1", "$$x"])
def test_a_reserved_name_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(f"the name {name} is reserved")):
        Session().execute(f"CREATE TABLE t (`{name}` INT) WITH ('connector' = 'datagen')")


@pytest.mark.parametrize("name", ["$rowtime", "$key", "$", "$eu", "a$b", "$rowtime2"])
def test_other_names_with_a_dollar_are_names(name: str) -> None:
    create = (
        f"CREATE TABLE t (`{name}` TIMESTAMP(3), WATERMARK FOR `{name}` AS `{name}`) WITH ('connector' = 'datagen')"
    )
    query = (
        f"SELECT window_start, COUNT(*) AS n, MAX(`{name}`) AS `{name}` "
        f"FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(`{name}`), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
    )
    program = tvfsql.compile(f"{create}; {query}", mode="streaming")
    assert name in str(program)


def test_the_parameter_of_a_lambda_does_not_hide_a_column_with_a_dollar() -> None:
    options = "'connector' = 'filesystem', 'path' = 't.json', 'format' = 'json'"
    create = f"CREATE TABLE t (`$x` INT, xs ARRAY<INT>) WITH ({options})"
    program = str(tvfsql.compile(f"{create}; SELECT TRANSFORM(xs, x -> x + `$x`) AS ys FROM t"))
    assert "`$$x` -> `$$x` + `$x`" in program
