"""Passwords in WITH options do not show, and may stay in the environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tvfsql import TvfSqlError, compile
from tvfsql.api.program import Program
from tvfsql.api.script import Script, Text
from tvfsql.catalog.connectors.formats import BY_FORMAT, known_options
from tvfsql.catalog.connectors.ignored import OF_ALL, OF_CONNECTORS
from tvfsql.errors import DataError, SqlSyntaxError
from tvfsql.folders import is_ours
from tvfsql.options.ignored import names as of_set
from tvfsql.options.known import KNOWN
from tvfsql.runtime import from_environment
from tvfsql.secrets import is_harmless, stars, without

SECRET = "hunter\"2 ''x"
TABLE = f"""CREATE TABLE t (k STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',
  'properties.bootstrap.servers' = 'b:9092', 'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'properties.ssl.keystore.password' = '{SECRET}',
  'properties.sasl.jaas.config' = 'org.apache.Login required password="{SECRET}"')"""


@pytest.mark.parametrize("form", ["ALL TEXT", "ALL JSON", "HTML", ""])
@pytest.mark.parametrize("query", ["SELECT k FROM t", "INSERT INTO t SELECT k FROM t"])
def test_explain_shows_no_password(form: str, query: str) -> None:
    for mode in ("batch", "streaming"):
        (shown,) = (
            out for out in Script(mode=mode).outcomes(f"{TABLE}; EXPLAIN {form} {query}") if isinstance(out, Text)
        )
        assert "hunter" not in shown.text
        assert "ALL" not in form or "******" in shown.text


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
    "jdbc:mysql://me:{}@h:3306/db?a=b@c": "jdbc:mysql://me:******@h:3306/db?a=******",
    "jdbc:sqlserver://h:1433;Password={};database=db": "jdbc:sqlserver://h:1433;Password=******;database=db",
    "jdbc:oracle:thin:me/{}@h:1521/db": "jdbc:oracle:thin:me/******@h:1521/db",
    "jdbc:oracle:thin:@//h:1521/db": "jdbc:oracle:thin:@//h:1521/db",
    "jdbc:postgresql://u:p@ss{}@h/db": "jdbc:postgresql://u:******@h/db",
    "jdbc:postgresql://u:p/{}@h/db?sslmode=require": "jdbc:postgresql://u:******@h/db?sslmode=require",
    "jdbc:databricks://h;AuthMech=3;UID=token;PWD={}": "jdbc:databricks://h;AuthMech=3;UID=token;PWD=******",
    "jdbc:redshift:iam://h/db?AccessKeyID={}&user=a": "jdbc:redshift:iam://h/db?AccessKeyID=******&user=a",
    "jdbc:snowflake://h/?private_key_pwd={}&warehouse=w": "jdbc:snowflake://h/?private_key_pwd=******&warehouse=w",
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
    assert re.sub(r"\*+", "******", stars(given)) == hidden and len(stars(given)) == len(given)
    if re.search(r"[=:/]\{\}", url) and "p/" not in url:  # nothing is written beside the reference
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


BESIDE = {
    "kafka": "'properties.bootstrap.servers' = 'me:hunter2@b:9092,me:hunter2@c:9092', 'topic' = 't', "
    "'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'",
    "jdbc": "'url' = 'jdbc:postgresql://h/d', "
    "'table-name' = '(SELECT * FROM dblink(''host=x password=hunter2'', ''q'')) t'",
    "filesystem": "'path' = 'ftp://me:hunter2@h/x', 'format' = 'json'",
}


@pytest.mark.parametrize("connector", BESIDE)
def test_secrets_inside_options_that_are_known_do_not_show(connector: str) -> None:
    table = f"CREATE TABLE t (k STRING) WITH ('connector' = '{connector}', {BESIDE[connector]})"
    asked = f"{table}; SHOW CREATE TABLE t; EXPLAIN SELECT k FROM t"
    texts = [out.text for out in Script().outcomes(asked) if isinstance(out, Text)]
    assert len(texts) == 2 and "hunter" not in str(texts)
    assert "hunter" not in without(compile(f"{table}; SELECT k FROM t").code)
    assert "hunter" not in stars(table) and len(stars(table)) == len(table)


@pytest.mark.parametrize(
    "sql",
    [
        "CALL advance_watermark('t', 'password=hunter2')",
        "CALL f(password => 'hunter2')",
        "CALL f('jdbc:postgresql://me:hunter2@h/d', 'a')",
        "SELECT * FROM t WHERE at = 'https://me:hunter2@h'",
        "ADD JAR 'https://me:hunter2@h/x.jar'",
    ],
)
def test_secrets_in_strings_do_not_show(sql: str) -> None:
    assert "hunter" not in stars(sql) and len(stars(sql)) == len(sql) and stars(stars(sql)) == stars(sql)
    with pytest.raises(TvfSqlError) as caught:
        compile(sql)
    assert "hunter" not in str(caught.value)


def test_messages_of_other_programs_show_no_login() -> None:
    for told in (
        "Invalid url in bootstrap.servers: me:hunter2@b:9092",
        "cannot open jdbc:postgresql://h/d?password=hunter2",
    ):
        assert "hunter" not in str(DataError(told)) and "9092" in str(DataError(told)) + "9092"
    plain = "topic t-0@17 has token = 'a' at 10:00:00, and me@example.org"
    assert plain in str(DataError(plain))


SECRET_OPTIONS = [
    "properties.ssl.keystore.key", "properties.ssl.keystore.certificate.chain", "properties.ssl.keystore.password",
    "properties.sasl.jaas.config", "properties.sasl.oauthbearer.assertion", "properties.sasl.client.callback.handler",
    "pwd", "passphrase", "ssl.key.passphrase", "auth", "pat", "apikey", "x-api_key", "connectionString", "sas",
    "fs.azure.sas.fixed", "spark.hadoop.fs.azure.sas.c.acc.blob.core.windows.net", "spark.hadoop.fs.s3a.secret.key",
    "http.header.Authorization", "aws.session", "value.avro-confluent.basic-auth.user-info", "spark.executorEnv.PW",
    "value.avro-confluent.ssl.keystore.x", "spark.sql.catalog.lake.credential", "spark.driver.extraJavaOptions",
    "spark.sql.catalog.lake.rest.sigv4", "a-connector-of-tomorrow.thing",
]  # fmt: skip


@pytest.mark.parametrize("key", SECRET_OPTIONS)
def test_options_that_are_not_known_do_not_show(key: str) -> None:
    for value in ("hunter2", "-----BEGIN PRIVATE KEY-----\nhunter2", "user:hunter2 ''x"):
        written = value.replace("'", "''")
        texts = [
            f"CREATE TABLE t (a INT) WITH ('connector' = 'x', '{key}' = '{written}')",
            f"CREATE TABLE t (a INT) WITH ('{key}' /* c */ = -- 'x'\n '{written}', 'path' = 'p')",
            f"CREATE TABLE t (a INT) WITH ('{key}' = U&'{written}')",
            f'CREATE TABLE t (a INT) WITH ("{key}" = "{value}")',
            f"ALTER TABLE t SET ('{key}'='{written}')",
            f"SELECT * FROM t /*+ OPTIONS('{key}'='{written}') */",
            f"SET '{key}' = '{written}'; SELECT 1",
            f"SET {key} = '{written}'",
            f"SELECT /*+ STATE_TTL('t' = '1 d') */ 1; SET {key} = '{written}'",
            f"SELECT 1; SET {key}={value.split()[0]}hunter2; SELECT 'a' = 'b'",
            f"CREATE TABLE t (a INT) WITH ('{key}' = '{written}",
        ]
        for text in texts:
            hidden = stars(text)
            assert "hunter" not in hidden and len(hidden) == len(text), text
            assert key.split(".")[0] in hidden and stars(hidden) == hidden
        for program in (f"x.option({key!r}, {value!r}).load()", f"f(rows, options={{{key!r}: {value!r}, 'sep': ','}})"):
            assert "hunter" not in without(program) and without(without(program)) == without(program)


def test_options_that_are_known_show() -> None:
    by_format = (key for form in BY_FORMAT for key in known_options(form, of_files=True))
    ours = {*KNOWN, *of_set(), *by_format, *OF_ALL, *(key for keys in OF_CONNECTORS.values() for key in keys)}
    assert sorted(key for key in ours if not is_harmless(key)) == []
    for text in (
        "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'scan.startup.mode' = 'latest-offset')",
        "SET 'table.local-time-zone' = 'Asia/Tokyo'; SET spark.sql.shuffle.partitions = 10; SET x.y = true",
        "SELECT CASE WHEN 'a' = 'b' THEN 1 END FROM t WHERE k = 'x' AND 'a' = 'b' -- 'password' = 'x'",
        "CREATE TABLE t (a INT) WITH ('password' = '${ENV:PW}')",
        "SELECT /*+ STATE_TTL('t' = '1 d', 'secrets' = '2 d') */ * FROM t JOIN secrets ON t.k = secrets.k",
    ):
        assert stars(text) == text


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
