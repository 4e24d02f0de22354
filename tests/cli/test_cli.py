"""The command line as scripts rely on it: what goes to stdout, what to stderr, and the exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import tvfsql
from tests.support.small_spark import environment
from tvfsql.api.own_spark import OwnSpark
from tvfsql.cli import COMMANDS, main
from tvfsql.cli.arguments import build_parser

TABLE = """CREATE TABLE bid (ts TIMESTAMP(3), price DECIMAL(10, 2), item STRING)
WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');
"""
HOP = """SELECT window_start, window_end, item, SUM(price) AS total
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, item"""
BIDS = """2020-04-15 08:05:00,4.00,C
2020-04-15 08:07:00,2.00,A
2020-04-15 08:12:00,,A
"""
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "bid.csv").write_text(BIDS)
    path = tmp_path / "hop.sql"
    path.write_text(f"{TABLE}{HOP};\n")
    return path


def test_explain_says_what_each_operator_does(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(script)]) == 0
    plan, words = capsys.readouterr().out.split("\n\n")
    first, *_, last = words.splitlines()[1:]
    assert first == " 1. TableSourceScan        reads ts, price and item of bid"
    assert last == " 6. Calc                   computes total" and len(words.splitlines()) == len(plan.splitlines())


def test_all_stages_come_in_order(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--stage", "all", str(script)]) == 0
    out = capsys.readouterr().out
    titles = ("Abstract Syntax Tree", "Logical Plan", "Rules", "Optimized Physical Plan", "PySpark")
    assert [line for line in out.splitlines() if line.startswith("== ")] == [f"== {title} ==" for title in titles]


@pytest.mark.parametrize("command", ["explain", "compile", "check"])
def test_planning_loads_no_spark(command: str, script: Path) -> None:
    code = (
        "import sys; from tvfsql.cli import main; "
        f"code = main([{command!r}, {str(script)!r}]); "
        "assert 'pyspark' not in sys.modules and 'numpy' not in sys.modules, 'loaded'; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=script.parent)
    assert done.returncode == 0, done.stderr


def test_a_stage_can_be_had_alone_as_json(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(script), "--stage", "physical", "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)["physical"]
    assert plan["operator"] == "Calc"
    assert plan["inputs"][0]["operator"] == "GlobalWindowAggregate"


def test_mermaid_draws_rows_from_the_source_to_the_result(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(script), "--format", "mermaid"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("flowchart TD\n")
    operators = [line for line in out.splitlines()[1:] if "-->" not in line]
    assert len(operators) == out.count("-->") + 1
    assert "TableSourceScan" in operators[0] and "Calc" in operators[-1]


def test_html_is_one_page_for_all_queries_and_escapes_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT '<b>&</b>' AS word WHERE 1 < 2; SELECT 2 AS n"
    assert main(["explain", "--format", "html", "-e", sql]) == 0
    page = capsys.readouterr().out
    assert "<b>&" not in page and "src=" not in page and "http://www.w3.org/2000/svg" in page
    assert page.count("http") == 1  # the name of SVG; nothing is loaded


def test_compile_prints_the_program_and_writes_it_to_a_file(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", str(script)]) == 0
    printed = capsys.readouterr().out
    assert main(["compile", str(script), "-o", str(tmp_path / "hop.py")]) == 0
    assert (tmp_path / "hop.py").read_text() == printed
    compile(printed, "hop.py", "exec")


def test_paths_start_at_the_script(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", str(script)]) == 0
    assert str(script.parent / "bid.csv") in capsys.readouterr().out


def test_several_queries_make_one_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-e", f"{TABLE}{HOP}; SELECT item FROM bid"]) == 0
    out = capsys.readouterr().out
    assert out.count("def query(") == out.count("def query_2(") == 1
    assert out.count("from pyspark.sql import DataFrame, SparkSession") == 1


def test_wrong_sql_exits_1_with_the_place_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-e", "SELECT *\nFROM nothing"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert " --> sql:2:6" in captured.err


def test_the_file_is_named_in_the_error(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(TABLE + HOP.replace("DESCRIPTOR(ts)", "DESCRIPTOR(tss)"))
    assert main(["explain", str(script)]) == 1
    err = capsys.readouterr().err
    assert f" --> {script}:4:" in err
    assert "did you mean ts?" in err


def test_a_script_beside_it_that_creates_the_table_is_named(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, query = script.with_name("tables.sql"), script.with_name("query.sql")
    table.write_text(TABLE)
    query.write_text(HOP)
    script.unlink()
    for command in ("check", "explain"):
        assert main([command, str(query)]) == 1
        assert capsys.readouterr().err.endswith(f"hint: -i {table}, which creates bid\n")
    monkeypatch.chdir(script.parent)
    for arguments in (["peek", "bid"], ["check", "-e", "SELECT * FROM bid"]):
        assert main(arguments) == 1
        assert capsys.readouterr().err.endswith("hint: -i tables.sql, which creates bid\n")
    assert main(["check", "-i", "tables.sql", str(query)]) == 0
    capsys.readouterr()
    assert main(["check", "-e", "SELECT * FROM other"]) == 1
    assert "hint: CREATE TABLE other (...)" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "compile", "explain", "fmt"])
def test_a_script_of_a_similar_name_is_named(command: str, script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for written in (script.with_name("hopp.sql"), script.parent.with_name(script.parent.name + "s") / script.name):
        assert main([command, str(written)]) == 1
        assert f"hint: did you mean {script}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["nonsense"],
        ["explain", "--stage", "none", "-e", "SELECT 1"],
        ["check", "--set", "nonsense", "-e", "SELECT 1"],
        ["run", "--output", "rows.parquet", "-e", "SELECT 1"],
        ["rewrite", "-i", "tables.sql", "-e", "SELECT 1"],
    ],
)
def test_wrong_usage_exits_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["comple", "q.sql"], "there is no command comple", "did you mean compile?"),
        (["frobnicate"], "there is no command frobnicate", "tvfsql --help lists the commands"),
        (["totals.sql"], "there is no command totals.sql", "tvfsql run totals.sql"),
        (["run", "--formt=csv", "q.sql"], "there is no option --formt", "did you mean --format?"),
        (["compile", "--checkpoint", "code", "q.sql"], "there is no option --checkpoint", "tvfsql compile --help"),
        (["explain", "--format", "htm", "q.sql"], "--format cannot be htm", "did you mean html?"),
        (["run", "--mode", "live", "q.sql"], "--mode cannot be live", "one of batch, streaming"),
        (["completion", "zhs"], "shell cannot be zhs", "did you mean zsh?"),
    ],
)
def test_wrong_arguments_are_told_with_the_nearest(
    arguments: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert capsys.readouterr().err.endswith(f"error: {message}\nhint: {hint}\n")


def test_options_reach_the_planner(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one_phase = ["--set", "table.optimizer.agg-phase-strategy=ONE_PHASE"]
    assert main([*one_phase, "explain", str(script), "--stage", "physical"]) == 0
    before = capsys.readouterr().out
    assert main(["explain", str(script), "--stage", "physical", *one_phase]) == 0
    assert capsys.readouterr().out == before
    assert "GlobalWindowAggregate" not in before


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--set", "table.local-timezone=UTC", "-e", "SELECT 1"]) == 1
    assert "did you mean table.local-time-zone?" in capsys.readouterr().err


def test_a_script_gets_one_warning_of_options_that_do_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    table = "CREATE TABLE s (a INT) WITH ('connector' = 'print', 'print-identifier' = 'rows');"
    sql = f"SET 'parallelism.default' = '2'; SET sql-client.verbose = true; {table} INSERT INTO s SELECT 1; SELECT 2"
    warning = "warning: these options have no effect here: rest.port, parallelism.default, sql-client.verbose"
    assert main(["compile", "--set", "rest.port=80", "-e", sql]) == 0
    assert capsys.readouterr().err == f"{warning}, print-identifier\n"
    assert main(["check", "-e", table]) == 0
    assert capsys.readouterr().err == "warning: these options have no effect here: print-identifier\nok: 1 statement\n"


def test_a_mode_that_is_fixed_warns_of_a_set_of_another_one(capsys: pytest.CaptureFixture[str]) -> None:
    key = "execution.runtime-mode"
    warning = f"warning: {key} = streaming has no effect: the mode is fixed to batch (--mode, or mode= in Python)\n"
    sql = f"SET '{key}' = 'streaming'; SELECT 1"
    assert main(["compile", "--mode", "batch", "-e", sql]) == 0
    assert capsys.readouterr().err == warning
    assert main(["compile", "--mode", "batch", "--set", f"{key}=streaming", "-e", "SELECT 1"]) == 0
    assert capsys.readouterr().err == warning
    assert main(["check", "-e", f"SET '{key}' = 'batch'; SELECT 1"]) == 0
    assert capsys.readouterr().err == "ok: 2 statements\n"
    assert tvfsql.compile("SET 'execution.runtime-mode' = 'batch'; SELECT 1").warnings == ()


def test_an_initial_script_makes_tables_for_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "init.sql").write_text(TABLE)
    assert main(["check", "-i", str(tmp_path / "init.sql"), "-e", HOP]) == 0
    assert capsys.readouterr().err == "ok: 1 statement\n"


def test_a_select_of_an_initial_script_is_not_run_and_that_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tables.sql").write_text(f"{TABLE} CREATE VIEW v AS SELECT item FROM bid; SELECT item FROM v;")
    assert main(["check", "-i", str(tmp_path / "tables.sql"), "-e", "SELECT item FROM v"]) == 0
    told = f"warning: {tmp_path / 'tables.sql'}: a SELECT in a script of -i is not run\n"
    assert capsys.readouterr().err == f"{told}ok: 1 statement\n"


@pytest.mark.parametrize("command", ["check", "compile", "explain", "lint", "package"])
def test_planning_only_reads_the_definitions_of_an_initial_script(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    init, rows, out = tmp_path / "init.sql", tmp_path / "kept" / "t" / "rows", tmp_path / "out"
    rows.parent.mkdir(parents=True)
    rows.touch()
    init.write_text("""SET 'tvfsql.warehouse' = 'kept'; CREATE TABLE t (a INT); CREATE OR REPLACE TABLE t (a INT);
        INSERT INTO t SELECT 1; CREATE TABLE u AS SELECT a FROM t; SELECT * FROM u""")
    monkeypatch.setattr(OwnSpark, "get", lambda self: pytest.fail("Spark starts"))
    arguments = ["-o", str(out)] if command == "package" else []
    assert main([command, "-i", str(init), "-e", "SELECT a FROM u", *arguments]) == 0
    told = "".join(f"warning: {init}: {what} in a script of -i is not run\n" for what in ("a SELECT", "an INSERT"))
    assert capsys.readouterr().err.startswith(told) and rows.exists()


def test_a_package_says_what_its_tables_need(tmp_path: Path) -> None:
    tables = """CREATE TABLE given (id INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'avro-confluent',
        'properties.bootstrap.servers' = 's:1', 'scan.startup.mode' = 'earliest-offset', 'avro-confluent.url' = 'http://r');
        CREATE TABLE made (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'm');"""
    for query, has, lacks in (
        ("SELECT id FROM given", ("--packages org.apache.spark:spark-sql-kafka-", "fastavro"), ("psycopg", "driver")),
        ("INSERT INTO made SELECT 1", ("psycopg[binary]",), ("--packages", "fastavro", "driver")),
        ("SELECT id FROM made", ("with the database's driver",), ("psycopg", "fastavro")),
    ):
        assert main(["package", "--mode", "batch", "-o", str(tmp_path), "-e", f"{tables} {query}"]) == 0
        text = (tmp_path / "README.md").read_text()
        assert all(each in text for each in has) and not any(each in text for each in lacks), query


def test_a_package_says_how_its_stream_is_run(script: Path, tmp_path: Path) -> None:
    made = """CREATE TABLE made (item STRING, n BIGINT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d',
        'table-name' = 'm', 'username' = '${ENV:DB_USER}', 'password' = '${ENV:DB_PASSWORD}');
        INSERT INTO made SELECT item, COUNT(*) FROM bid GROUP BY item, TUMBLE(ts, INTERVAL '1' HOUR)"""
    read = TABLE.replace("item STRING", "item STRING, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND")
    arguments = ["package", "--mode", "streaming", "-o", str(tmp_path / "out"), "-e", f"{read}{made}"]
    assert main([*arguments, "--checkpoint", "s3a://bucket/state"]) == 0
    text = (tmp_path / "out" / "README.md").read_text()
    (command,) = re.findall(r"^spark-submit (?:.*\\\n)+.*$", text, re.MULTILINE)
    options = [line.removesuffix("\\").split() for line in command.splitlines()]
    assert options[1] == ["--master", "MASTER"] and options[-1] == ["program.py"]
    assert all(len(option) == 2 for option in options[1:-1])
    (packages,) = (option[1] for option in options if option[0] == "--packages")
    assert re.fullmatch(r"org\.apache\.hadoop:hadoop-aws:\d+\.\d+\.\d+", packages)
    for each in (
        "reads `DB_PASSWORD` and `DB_USER`", "spark.yarn.appMasterEnv.DB_PASSWORD", "driverEnv.DB_PASSWORD",
        "hadoop-client-api", "**Stop**", "**Start again**", "tvfsql check --mode streaming --checkpoint s3a://bucket/state",
        "tvfsql state s3a://bucket/state",
    ):  # fmt: skip
        assert each in text
    assert main([*arguments[:-1], f"{read}SELECT item FROM bid", "--checkpoint", "/state"]) == 0
    text = (tmp_path / "out" / "README.md").read_text()
    assert not any(each in text for each in ("Variables", "hadoop", "--packages")) and "`/state`" in text


def test_a_stream_is_planned_with_watermarks(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(TABLE.replace("item STRING", "item STRING, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND") + HOP)
    assert main(["explain", "--stage", "all", "--mode", "streaming", str(script)]) == 0
    out = capsys.readouterr().out
    assert "WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '5' SECOND])" in out
    assert "spark.readStream" in out
    assert f'.load("{script.parent}/{{bid.csv}}")' in out, "Spark's streams read a file only as a pattern"


def test_the_shell_runs_statements_and_outlives_mistakes() -> None:
    lines = f"{TABLE}\nDESCRIBE bid;\nSELECT nothing FROM bid;\nEXPLAIN PHYSICAL\n{HOP};\nQUIT;\n"
    done = subprocess.run([sys.executable, "-m", "tvfsql"], input=lines, capture_output=True, text=True)
    assert done.returncode == 1
    assert "TIMESTAMP(3)" in done.stdout
    assert "GlobalWindowAggregate" in done.stdout
    assert "has no column nothing" in done.stderr


def test_every_command_has_help_and_stands_in_the_docs() -> None:
    docs = (REPOSITORY / "docs" / "cli.md").read_text()
    parser = build_parser()
    commands = next(action for action in parser._actions if action.dest == "command")
    assert commands.choices is not None and {*commands.choices} == {*COMMANDS}
    assert [name for name in COMMANDS if f"\ntvfsql {name} " not in docs] == []
    for name, command in dict(commands.choices).items():
        assert f"tvfsql {name}" in docs
        assert all(action.help for action in command._actions), name
        for action in command._actions:
            assert all(option in docs for option in action.option_strings if option.startswith("--")), name


def test_version_is_one_line_and_loads_no_spark() -> None:
    code = (
        "import sys; from tvfsql.cli import main; assert main(['--version']) == 0; "
        "assert not {'pyspark', 'sqlglot', 'lark', 'numpy'} & {*sys.modules}, 'loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    tvfsql, pyspark, sqlglot = (metadata.version(package) for package in ("tvfsql", "pyspark", "sqlglot"))
    assert done.stdout == f"tvfsql {tvfsql} (pyspark {pyspark}, sqlglot {sqlglot})\n"


@pytest.mark.spark
def test_run_prints_rows_and_nothing_else(script: Path) -> None:
    command = [sys.executable, "-m", "tvfsql", "run", "--format", "ndjson", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=script.parent.parent)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    rows = sorted((json.loads(line) for line in done.stdout.splitlines()), key=str)
    assert rows == [
        {
            "window_start": f"2020-04-15 08:{start}:00.000",
            "window_end": f"2020-04-15 08:{end}:00.000",
            "item": item,
            "total": total,
        }
        for start, end, item, total in [
            ("00", "10", "A", "2.00"),
            ("00", "10", "C", "4.00"),
            ("05", "15", "A", "2.00"),
            ("05", "15", "C", "4.00"),
            ("10", "20", "A", None),
        ]
    ]


def test_stderr_names_the_cluster_that_spark_starts_on() -> None:
    command = [sys.executable, "-m", "tvfsql", "run", "--master", "spark://127.0.0.1:1", "-e", "SELECT 1"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("starting Spark on spark://127.0.0.1:1\nerror: ")


@pytest.mark.spark
def test_data_that_cannot_be_read_exit_1(script: Path) -> None:
    (script.parent / "bid.csv").write_text(BIDS + "yesterday,1.00,A\n")
    command = [sys.executable, "-m", "tvfsql", "run", str(script)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: a row cannot be read")
    assert "hint: 'csv.ignore-parse-errors' = 'true'" in done.stderr
    (script.parent / "bid.csv").unlink()
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: there is no file" in done.stderr
