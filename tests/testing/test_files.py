"""Test files: what they may say, what is refused, and what an update writes. Without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tvfsql.errors import DataError, TvfSqlError
from tvfsql.testing.command import run_tests
from tvfsql.testing.compare import Given, differences
from tvfsql.testing.read import read_suite
from tvfsql.testing.run import CaseResult, StepResult
from tvfsql.testing.stream import compiled
from tvfsql.testing.update import updated

HEAD = "script: s.sql\ntests:\n  - name: one\n    steps:\n"


def suite(tmp_path: Path, text: str):
    file = tmp_path / "a.tvfsql.yaml"
    file.write_text(text, encoding="utf-8")
    return read_suite(file)


def test_scalars_are_those_of_json_and_all_else_is_text(tmp_path: Path) -> None:
    made = suite(
        tmp_path, HEAD + "      - rows: {t: [{a: 08:05, b: 2020-01-01 08:00:00, c: on, d: 1, e: 1.5, f: null}]}\n"
    )
    row = made.cases[0].steps[0].rows["t"].values[0]
    assert row == {"a": "08:05", "b": "2020-01-01 08:00:00", "c": "on", "d": 1, "e": 1.5, "f": None}


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("script: s.sql\n", "this file has no tests", 1),
        ("", "this file has no tests", 1),
        ("tests: [\n", "invalid YAML", 2),
        ("tests:\n  - name: one\n    steps: []\n", "this test has no script", 2),
        (HEAD + "      - row: {}\n", "unknown key row", 5),
        (HEAD + "      - rows: {t: {a: 1}}\n", "a list is expected here", 5),
        (HEAD + "      - end: 1\n", "true or false is expected here", 5),
        (HEAD + "      - late: -1\n", "late takes a number of rows", 5),
        (HEAD + "      - rows: {t: []}\n        rows: {t: []}\n", "the key rows is given twice", 6),
        ("mode: stream\n" + HEAD + "      - end: true\n", "there is no mode stream", 1),
        ("mode: batch\n" + HEAD + "      - end: true\n", "watermark, restart and end need mode: streaming", 6),
        ("mode: batch\n" + HEAD + "      - rows: {}\n      - rows: {}\n", "a test in batch mode has one step", 7),
    ],
)
def test_what_is_no_test_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str, at: int) -> None:
    with pytest.raises(DataError, match=message) as caught:
        suite(tmp_path, text)
    assert f"a.tvfsql.yaml:{at}:" in str(caught.value)


def given(*rows: tuple[object, ...]) -> Given:
    return Given(("item", "total"), ("string", "double"), rows)


def test_rows_are_compared_in_any_order_and_each_counts_once() -> None:
    assert differences(given(("A", 0.3), ("B", None)), given(("B", None), ("A", 0.1 + 0.2))) == []
    assert differences(given(("A", 1.0), ("A", 1.0)), given(("A", 1.0), ("A", 2.0))) == [
        "- {item: A, total: 1.0}",
        "+ {item: A, total: 2.0}",
    ]


def test_an_update_writes_what_came_and_keeps_the_rest(tmp_path: Path) -> None:
    text = HEAD + (
        "      # first\n"
        "      - rows: {t: []}\n"
        "        expect:\n"
        "          - {total: 1}  # wrong\n"
        "\n"
        "      # second\n"
        "      - rows: {t: []}\n"
        "      - end: true\n"
        "        late: 3\n"
    )
    made = suite(tmp_path, text)
    case = made.cases[0]
    results = (
        StepResult(case.steps[0], 1, {"query": given(("A", 2.0))}, 0, ("+",)),
        StepResult(case.steps[1], 2, {"query": given(("08:00", 2.0))}, 1, ("+",)),
        StepResult(case.steps[2], 3, {"query": given()}, 0, ("+",)),
    )
    assert updated(made, [CaseResult(made, case, results)]) == HEAD + (
        "      # first\n"
        "      - rows: {t: []}\n"
        "        expect:\n"
        "          - {total: 2.0}  # wrong\n"
        "\n"
        "      # second\n"
        "      - rows: {t: []}\n"
        "        expect:\n"
        "          - {item: '08:00', total: 2.0}\n"
        "        late: 1\n"
        "      - end: true\n"
        "        late: 0\n"
    )


def test_exit_codes_are_those_of_pytest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sys import stdout

    assert run_tests([str(tmp_path)], None, False, stdout) == 5
    assert run_tests([str(tmp_path / "none")], None, False, stdout) == 4
    assert "there is no file" in capsys.readouterr().err


def test_a_test_gives_parameters_their_values(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text(
        "DECLARE size INTERVAL MINUTE; DECLARE least INT DEFAULT 1; "
        "CREATE TABLE t (ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen'); "
        "SELECT window_end, COUNT(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(ts), :size) WHERE n > :least "
        "GROUP BY window_start, window_end"
    )
    file = tmp_path / "t.tvfsql.yaml"
    file.write_text(
        "script: t.sql\nparams: {size: 5, least: 7}\ntests:\n"
        "  - {name: a, steps: [end: true]}\n  - {name: b, params: {size: 1 HOUR}, steps: [end: true]}\n"
        "  - {name: c, params: {sise: 1}, steps: [end: true]}\n"
    )
    first, second, wrong = read_suite(file).cases
    texts = [
        compiled(case.script, case.mode, {}, case.params).outputs[0].query.explain("physical")
        for case in (first, second)
    ]
    assert "5 min" in texts[0] and "1 h" in texts[1] and all("n > 7" in text for text in texts), texts
    with pytest.raises(TvfSqlError, match="no script declares a parameter sise"):
        compiled(wrong.script, wrong.mode, {}, wrong.params)
