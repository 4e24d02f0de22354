"""The table of formats in connectors.md is what CREATE TABLE, SELECT and INSERT accept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tvfsql import TvfSqlError, compile

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "sql" / "connectors.md").read_text().partition("## Formats")[2].partition("\n## ")[0]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| `")]
OPTIONS = {
    "avro-confluent": "'avro-confluent.url' = 'http://h:2'",
    "protobuf": f"""'protobuf.message-class-name' = 'shop.Order',
        'protobuf.descriptor-file' = '{ROOT}/tests/data/protobuf/shop.desc'""",
}
WITH = {
    "Kafka": "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1'",
    "files": "'connector' = 'filesystem', 'path' = 't'",
}
STATEMENTS = {"read": "SELECT item FROM t", "write": "INSERT INTO t SELECT 'a'"}
CASES = [
    (form, place, how, how in said)
    for names, *columns in ROWS
    for form in re.findall(r"`([^`]+)`", names)
    for place, said in zip(WITH, columns, strict=True)
    for how in STATEMENTS
]


@pytest.mark.parametrize(("form", "place", "how", "expected"), CASES)
def test_a_format_is_read_and_written_where_the_table_says_so(form: str, place: str, how: str, expected: bool) -> None:
    options = ", ".join([WITH[place], f"'format' = '{form}'", *([OPTIONS[form]] if form in OPTIONS else [])])
    script = f"CREATE TABLE t (item STRING) WITH ({options}); SET 'execution.runtime-mode' = 'batch'; {STATEMENTS[how]}"
    if expected:
        compile(script)
        return
    with pytest.raises(TvfSqlError):
        compile(script)


def test_every_format_is_there() -> None:
    assert len(CASES) == 4 * 14
