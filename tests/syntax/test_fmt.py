"""`tvfsql fmt`: the same program and comments, formatted once is formatted twice; and what the result looks like."""

from __future__ import annotations

import io
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import ONE_IN, SOAK, examples
from tests.support.golden import after_prelude, answer, cases
from tests.support.pages import ROOT, blocks
from tvfsql.api.script import queries_of
from tvfsql.cli import main
from tvfsql.errors import SqlSyntaxError, TvfSqlError
from tvfsql.syntax.dialect import FlinkSql
from tvfsql.syntax.layout import format_script
from tvfsql.syntax.layout.keywords import RESERVED
from tvfsql.syntax.layout.page import WIDTH
from tvfsql.syntax.layout.words import same_contents
from tvfsql.syntax.parser import parse
from tvfsql.syntax.tokens import place_of, tokens_of

TEXTS = {
    **{str(case): case.sql for case in cases(".")},
    **{str(block): block.text for block in blocks("sql")},
    **{path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("examples/*.sql")},
}


@cache
def scripts() -> dict[str, str]:
    """Those texts that can be parsed."""
    found = {}
    for name, text in TEXTS.items():
        try:
            parse(text)
            found[name] = text
        except TvfSqlError:
            continue
    assert len(found) > 700
    return found


def some(one_in: int) -> list[tuple[str, str]]:
    """One of so many texts; all in `make soak`."""
    return [*scripts().items()][:: 1 if SOAK else one_in]


def meaning(sql: str) -> list[str]:
    """The programs and answers of a script, or its error. Programs and SHOW CREATE repeat SQL, so blanks and comments
    do not count."""
    found = []
    try:
        for outcome in after_prelude().outcomes(sql, "script.sql"):
            found += [query.code for query in queries_of(outcome)] or [answer(outcome)]
    except TvfSqlError as error:
        found.append(f"{type(error).__name__} {error.message} {error.hint}")
    return [re.sub(r"\s", "", re.sub(r"^#.*\n?", "", text, flags=re.MULTILINE)) for text in found]


def test_formatting_keeps_words_and_comments_and_formats_nothing_twice() -> None:
    for name, sql in some(ONE_IN):
        once = format_script(sql)
        assert same_contents(sql, once), name
        assert format_script(once) == once, name


def test_a_formatted_script_is_the_same_program() -> None:
    for name, sql in some(5 * ONE_IN):
        assert meaning(format_script(sql)) == meaning(sql), name


def test_scripts_of_the_examples_and_pages_are_formatted() -> None:
    for path in [*ROOT.glob("examples/*.sql"), *ROOT.glob("docs/*.sql")]:
        text = path.read_text(encoding="utf-8")
        assert format_script(text) == text, f"tvfsql fmt {path.relative_to(ROOT)}"


@given(st.randoms(use_true_random=False))
@examples(300)
def test_comments_and_line_ends_anywhere_survive(random: Random) -> None:
    sql = random.choice([*scripts().values()])
    for token in reversed(tokens_of(sql)):
        odd = random.choice(["", "", "", "", " -- c'\n", " /* `d */ ", "\n\n-- e;\n", "\n/* f\n  g */", "\n"])
        end = place_of(token).end
        sql = sql[:end] + odd + sql[end:]
    try:
        parse(sql)
    except TvfSqlError:
        return  # DESCRIPTOR is followed by a parenthesis at once, and a table by its hint
    once = format_script(sql)
    assert same_contents(sql, once), sql
    assert format_script(once) == once, sql


@given(st.randoms(use_true_random=False))
@examples(300)
def test_the_case_of_reserved_words_does_not_matter(random: Random) -> None:
    formatted = odd = format_script(random.choice([*scripts().values()]))
    for token in reversed(tokens_of(formatted)):
        at = place_of(token)
        before = formatted[: at.start].split()[-1:]
        if token in RESERVED and before != ["AS"] and random.random() < 0.5:
            odd = odd[: at.start] + token.lower() + odd[at.end :]
    assert format_script(odd) == formatted, odd


def test_sqlglot_takes_no_reserved_word_for_a_name() -> None:
    for word in (each.lower() for each in RESERVED):
        for sql in ("SELECT {} FROM t", "SELECT a {} FROM t", "SELECT a FROM {}", "SELECT a FROM t WHERE {} > 1"):
            with suppress(sqlglot.ParseError, TvfSqlError):
                names = sqlglot.parse_one(sql.format(word), dialect=FlinkSql).find_all(sqlglot.exp.Identifier)
                assert word not in [name.name for name in names], sql.format(word)


ODD = """\
-- What all share.

create table t(a int, `b c` string,   -- two words
 ts timestamp(3), watermark for ts as ts - interval '5' second) with ('connector'='filesystem','path'='x', 'format' = 'csv'); set 'x' = 'y';
set table.exec.state.ttl=1 h;
insert into u(a) select sum(-a) as language, case when a>=1 and b is not null then 'It''s' else x'0A' end -- last
from (select * from table(hop(data=>table t, timecol=>descriptor(ts), slide=>interval '1' minute,size=>interval '10' minute))) w
left join v on w.a=v.a and w.ts between v.ts and v.ts + interval '1' hour and (w.`b c`<>v.b or v.b is null and v.a>10)
where a in (1,2) and count is not null group by window_start, window_end;
"""  # noqa: E501
NEAT = """\
-- What all share.

CREATE TABLE t (
    a     int,
    `b c` string,  -- two words
    ts    timestamp(3),
    WATERMARK FOR ts AS ts - INTERVAL '5' second
) WITH (
    'connector' = 'filesystem',
    'path' = 'x',
    'format' = 'csv'
);

SET 'x' = 'y';
SET table.exec.state.ttl=1 h;

INSERT INTO u (a)
SELECT sum(-a) AS language, CASE WHEN a >= 1 AND b IS NOT NULL THEN 'It''s' ELSE x'0A' END  -- last
FROM (
    SELECT *
    FROM TABLE(
        HOP(
            data => TABLE t,
            timecol => DESCRIPTOR(ts),
            slide => INTERVAL '1' minute,
            size => INTERVAL '10' minute
        )
    )
) w
LEFT JOIN v
ON w.a = v.a
  AND w.ts BETWEEN v.ts AND v.ts + INTERVAL '1' hour
  AND (w.`b c` <> v.b OR v.b IS NULL AND v.a > 10)
WHERE a IN (1, 2) AND count IS NOT NULL
GROUP BY window_start, window_end;
"""


def test_the_layout_is_what_a_careful_person_writes() -> None:
    assert format_script(ODD) == NEAT
    assert format_script(ODD.replace("\n", "\r\n")) == NEAT.replace("\n", "\r\n")
    assert max(map(len, NEAT.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("given_sql", "expected"),
    [
        ("", ""),
        ("-- only this", "-- only this\n"),
        ("select 1", "SELECT 1\n"),
        ("SELECT a, -- one\n b FROM t", "SELECT\n    a,  -- one\n    b\nFROM t\n"),
        ("SELECT a, /* x\n y */ -- c\n b FROM t", "SELECT\n    a,\n    /* x\n y */\n    -- c\n    b\nFROM t\n"),
        ("SELECT - -1, a - -b, a||b FROM t", "SELECT - -1, a - -b, a || b FROM t\n"),
        ("SELECT a[1], MAP['k', 2], t.* FROM t AS t(a)", "SELECT a[1], MAP['k', 2], t.* FROM t AS t (a)\n"),
        ("SELECT 1;SELECT 2;\n\nSELECT 3", "SELECT 1;\nSELECT 2;\n\nSELECT 3\n"),
        ("SELECT * FROM t/*+ OPTIONS('a'='b') */;", "SELECT * FROM t /*+ OPTIONS('a'='b') */;\n"),
        ("SELECT 'a\n   b'", "SELECT 'a\n   b'\n"),
    ],
)
def test_small_scripts(given_sql: str, expected: str) -> None:
    assert format_script(given_sql) == expected


def test_what_cannot_be_parsed_is_an_error_with_its_place() -> None:
    with pytest.raises(SqlSyntaxError, match="this parenthesis is not closed") as caught:
        format_script("SELECT (1", "x.sql")
    assert "x.sql:1:8" in str(caught.value) and "^" in str(caught.value)


def test_the_command_writes_files_as_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    neat, odd, wrong = (tmp_path / name for name in ("neat.sql", "odd.sql", "wrong.sql"))
    neat.write_text("SELECT 1;\n")
    odd.write_text("select   1 ;")
    odd.chmod(0o640)
    wrong.write_text("select (")
    link = tmp_path / "link.sql"
    link.symlink_to(odd)
    assert main(["fmt", "--check", str(neat)]) == 0
    assert main(["fmt", "--check", str(neat), str(odd)]) == 1
    assert capsys.readouterr().err == f"not formatted: {odd}\n"
    assert odd.read_text() == "select   1 ;"
    assert main(["fmt", str(wrong), str(neat), str(link)]) == 1
    told = capsys.readouterr().err
    assert f"{wrong}:1:8" in told and f"formatted: {link}\n" in told
    assert (neat.read_text(), odd.read_text(), wrong.read_text()) == ("SELECT 1;\n", "SELECT 1;\n", "select (")
    assert link.is_symlink() and odd.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.sql", "neat.sql", "odd.sql", "wrong.sql"]


def test_the_command_takes_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("select 1 ;"))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr() == ("SELECT 1;\n", "")
    monkeypatch.setattr("sys.stdin", io.StringIO("select 1 ;"))
    assert main(["fmt", "--check", "-"]) == 1
    with pytest.raises(SystemExit):
        main(["fmt"])


def test_each_insert_of_a_statement_set_has_lines_of_its_own() -> None:
    for begin in ("EXECUTE STATEMENT SET\nBEGIN", "BEGIN STATEMENT SET;", "EXPLAIN BEGIN STATEMENT SET;"):
        neat = f"{begin}\n    INSERT INTO a SELECT 1;\n    INSERT INTO b SELECT CASE WHEN c THEN 1 END;\nEND;\n"
        assert format_script(" ".join(neat.split())) == neat


def test_clauses_of_match_recognize_have_lines_of_their_own() -> None:
    written = """select m.a from (select * from t) match_recognize (order by ts, x desc measures first(A.x) as a,
    A.measures as define after match skip to last D pattern (A{2,3}? B{,2} C+ D) within interval '1' hour
    define A as A.pattern > 1 and (A.x > 2 or after > 3), -- why
    D as D.x in (1, 2)) m emit on update;"""
    laid_out = """SELECT m.a
FROM (SELECT * FROM t) MATCH_RECOGNIZE (
    ORDER BY ts, x desc
    MEASURES first(A.x) AS a, A.measures AS define
    AFTER MATCH SKIP TO LAST D
    PATTERN (A{2,3}? B{,2} C+ D)
    WITHIN INTERVAL '1' hour
    DEFINE
        A AS A.pattern > 1 AND (A.x > 2 OR after > 3),  -- why
        D AS D.x IN (1, 2)
) m
EMIT ON UPDATE;
"""
    assert format_script(written) == laid_out and format_script(laid_out) == laid_out
