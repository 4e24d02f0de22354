"""Passwords in WITH options do not show, and may stay in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tvfsql import TvfSqlError, compile
from tvfsql.api.program import Program
from tvfsql.api.script import Script, Text
from tvfsql.errors import DataError, SqlSyntaxError
from tvfsql.folders import is_ours
from tvfsql.runtime import from_environment
from tvfsql.secrets import stars, without

SECRET = "hunter\"2 ''x"
TABLE = f"""CREATE TABLE t (k STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',
  'properties.bootstrap.servers' = 'b:9092', 'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'properties.ssl.keystore.password' = '{SECRET}',
  'properties.sasl.jaas.config' = 'org.apache.Login required password="{SECRET}"')"""


@pytest.mark.parametrize("form", ["TEXT", "JSON", "HTML", ""])
@pytest.mark.parametrize("query", ["SELECT k FROM t", "INSERT INTO t SELECT k FROM t"])
def test_explain_shows_no_password(form: str, query: str) -> None:
    for mode in ("batch", "streaming"):
        (shown,) = (
            out for out in Script(mode=mode).outcomes(f"{TABLE}; EXPLAIN {form} {query}") if isinstance(out, Text)
        )
        assert "hunter" not in shown.text
        assert form == "HTML" or "******" in shown.text


def test_show_create_shows_no_password_and_the_program_has_it() -> None:
    (shown,) = (out for out in Script().outcomes(f"{TABLE}; SHOW CREATE TABLE t") if isinstance(out, Text))
    assert "hunter" not in shown.text
    code = str(compile(f"{TABLE}; SELECT k FROM t"))
    assert "hunter" in code
    assert "hunter" not in without(code)


def test_a_notebook_shows_no_password() -> None:
    hint = "/*+ OPTIONS('properties.ssl.keystore.password'='hunter3') */"
    for where in ("", " WHERE k > 'a'"):
        query = compile(f"{TABLE}; SELECT k FROM t {hint}{where}")
        page = query._repr_html_()
        assert "hunter" not in page and "def query(spark" in page
        assert "hunter" not in query.explain("all", "html") and query.sql.count("hunter") == 1


def test_errors_show_no_password() -> None:
    with pytest.raises(TvfSqlError) as caught:
        compile("CREATE TABLE t (k STRING) WITH ('connector' = 'kafka', 'properties.ssl.key.password' = 'hunter2')")
    assert "hunter" not in str(caught.value)


URLS = {
    "jdbc:postgresql://h:5432/db?user=me&password={}": "jdbc:postgresql://h:5432/db?user=me&password=******",
    "jdbc:mysql://me:{}@h:3306/db?a=b@c": "jdbc:mysql://me:******@h:3306/db?a=b@c",
    "jdbc:sqlserver://h:1433;Password={};database=db": "jdbc:sqlserver://h:1433;Password=******;database=db",
    "jdbc:oracle:thin:me/{}@h:1521/db": "jdbc:oracle:thin:me/******@h:1521/db",
    "jdbc:oracle:thin:@//h:1521/db": "jdbc:oracle:thin:@//h:1521/db",
}


@pytest.mark.parametrize("url", URLS)
def test_passwords_in_urls_do_not_show(url: str) -> None:
    table = f"CREATE TABLE t (k STRING) WITH ('connector' = 'jdbc', 'table-name' = 't', 'url' = '{url}')"
    given, hidden = table.format("hunter2"), table.replace(url, URLS[url])
    (of_table,) = (out for out in Script().outcomes(f"{given}; SHOW CREATE TABLE t") if isinstance(out, Text))
    assert URLS[url] in of_table.text
    query = compile(f"{given}; SELECT k FROM t")
    assert url.format("hunter2") in query.code
    assert without(query.code) == query.code.replace(url.format("hunter2"), URLS[url])
    assert without(without(query.code)) == without(query.code)
    assert stars(given) == hidden.replace("******", "*******")
    of_environment = compile(table.format("${ENV:PW}") + "; SELECT k FROM t").code
    assert without(of_environment) == of_environment


def test_a_written_table_and_its_manifest_show_no_password_of_a_url() -> None:
    table = "CREATE TABLE t (k STRING) WITH ('connector' = 'jdbc', 'table-name' = 't', 'url' = '{}')"
    source = "CREATE TABLE s (k STRING) WITH ('connector' = 'rate')"
    url = "jdbc:postgresql://h/db?password=hunter2"
    made = compile(f"{table.format(url)}; {source}; INSERT INTO t SELECT k FROM s", mode="streaming")
    assert "hunter2" in made.code and "hunter2" not in without(made.code)
    assert "hunter2" not in Program((made,)).manifest.dump()


def test_set_shows_no_key_of_an_account() -> None:
    key = "spark.hadoop.fs.azure.account.key.me.dfs.core.windows.net"
    script = Script()
    shown = [*script.outcomes(f"SET '{key}' = 'hunter2'; SET")]
    assert "hunter2" not in str(shown) and "hunter2" not in str([*script.options.listed()])


def test_a_column_called_password_is_no_secret() -> None:
    text = 'rows.select("password", "n").where("secret = \'a\'")'
    assert without(text) == text


def test_what_the_environment_has_is_read_when_the_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TABLE.replace(SECRET, "${ENV:TVFSQL_TEST_SECRET}")
    code = str(compile(f"{table}; SELECT k FROM t"))
    assert 'from_environment("${ENV:TVFSQL_TEST_SECRET}")' in code
    assert without(code) == code
    with pytest.raises(DataError, match="the environment variable TVFSQL_TEST_SECRET is not set"):
        from_environment("${ENV:TVFSQL_TEST_SECRET}")
    monkeypatch.setenv("TVFSQL_TEST_SECRET", "hunter2")
    assert from_environment('password="${ENV:TVFSQL_TEST_SECRET}";') == 'password="hunter2";'


def test_errors_steer_no_terminal() -> None:
    with pytest.raises(TvfSqlError) as caught:
        compile("SELECT '\x1b[31m' FROM nowhere")
    assert "\x1b" not in str(caught.value)
    with pytest.raises(SqlSyntaxError) as other:
        compile("SELECT \x1b[31m FROM nowhere")
    assert "\x1b" not in str(other.value)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="file modes exist on POSIX systems only")
def test_tables_of_grammars_that_others_could_have_written_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "tvfsql"
    folder.mkdir()
    bad = b"cposix\nsystem\n(S'touch " + str(tmp_path / "PWNED").encode() + b"'\ntR."
    for name in ("tokens", "statement", "window_call"):
        file = folder / f"{name}-{sys.version_info.major}.{sys.version_info.minor}.tables"
        file.write_bytes(bad)
        file.chmod(0o666)
    folder.chmod(0o777)
    assert not is_ours(folder)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "tvfsql", "check", "-e", "SET;"], env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "PWNED").exists()


def test_folders_that_tvfsql_makes_are_its_users_own(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "tvfsql", "check", "-e", "SET;"], env=env, check=True, umask=0o022)
    assert (tmp_path / "tvfsql").stat().st_mode & 0o077 == 0
    assert [*(tmp_path / "tvfsql").glob("*.tables")]
