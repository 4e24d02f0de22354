"""Options of debezium-json and canal-json: what they ask for and do not get is told."""

from __future__ import annotations

import pytest

import tvfsql
from tvfsql.errors import BindError

KAFKA = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092', 'value.format' = '{0}'"
FILES = "'connector' = 'filesystem', 'path' = 't', 'format' = '{0}'"


def warnings(options: str) -> tuple[str, ...]:
    return tvfsql.compile(f"CREATE TABLE t (id INT) WITH ({options}); SELECT id FROM t").warnings


@pytest.mark.parametrize("form", ["debezium-json", "canal-json"])
@pytest.mark.parametrize("source, side", [(KAFKA, "value."), (FILES, "")])
def test_that_changes_which_cannot_be_read_are_skipped_is_told(source: str, side: str, form: str) -> None:
    options = f"{source.format(form)}, '{side}{form}.ignore-parse-errors' = '{{}}'"
    assert warnings(options.format("true")) == (
        f"table t: '{form}.ignore-parse-errors' skips messages that cannot be read, so results can lack changes; "
        "numDeadLetters counts them",
    )
    assert warnings(options.format("FALSE")) == ()
    with pytest.raises(BindError, match="ignore-parse-errors cannot be 'maybe'"):
        warnings(options.format("maybe"))
