"""Plan goldens: each case from its SQL to the code, and what every case must keep."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.golden import CASES, GOLDENS, Case, PlanExtension, answer, assigned_again, cases, outcomes
from tests.support.golden_text import answer_text, shown, tables_read
from tvfsql.api import Compiled
from tvfsql.plan.plan_text import tree
from tvfsql.rules import PHASES

FOLDERS = sorted(path.name for path in CASES.iterdir() if path.is_dir() and path.name != "errors")
ALL = cases(*FOLDERS)
RULES = sorted({rule.name for phase in PHASES for rule in phase.rules})
TABLES_READ = Case("tables_read")
EVERYWHERE = ["window/hop_many_aggregates", "ordinary/over", "rules_off/two_phase"]  # explained in fresh processes


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(PlanExtension)


given = cache(outcomes)


def compiled(case: Case) -> list[Compiled]:
    return [outcome for outcome in given(case) if isinstance(outcome, Compiled)]


@pytest.mark.parametrize("case", ALL, ids=str)
def test_plan(case: Case, golden: SnapshotAssertion) -> None:
    texts = [
        shown(outcome) if isinstance(outcome, Compiled) else answer_text(answer(outcome)) for outcome in given(case)
    ]
    assert "\n".join(texts) + "\n" == golden
    fired = {step.rule for query in compiled(case) for step in query.steps}
    wanted, unwanted = case.directives("expect"), case.directives("expect-not")
    assert wanted | unwanted <= set(RULES), "no rule of that name"
    assert wanted <= fired
    assert not unwanted & fired


@pytest.mark.parametrize("case", [TABLES_READ], ids=str)
def test_the_calls_that_read_tables(case: Case, golden: SnapshotAssertion) -> None:
    """Goldens name these calls. Here each stands once."""
    calls = {name: call for each in ALL for query in compiled(each) for name, call in tables_read(query.code).items()}
    assert "".join(f"{name} = {call}\n" for name, call in sorted(calls.items())) == golden


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_fires_somewhere_and_holds_back_somewhere(rule: str) -> None:
    own = cases(rule)
    assert any(rule in case.directives("expect") for case in own), "add a case where it fires"
    assert any(rule in case.directives("expect-not") for case in own), "add a case where it must not"


@pytest.mark.parametrize("case", [case for case in ALL if case.directives("same-plan-as")], ids=str)
def test_cases_that_mean_the_same_have_the_same_plan(case: Case) -> None:
    plans = [tree(query.physical) for query in compiled(case)]
    for other in sorted(case.directives("same-plan-as")):
        assert plans == [tree(query.physical) for query in compiled(Case(other))], other


def test_no_golden_is_left_without_its_case() -> None:
    known = {case.golden for case in (*ALL, *cases("errors"), TABLES_READ)}
    assert {path for path in GOLDENS.rglob("*") if path.is_file()} == known


def test_emitted_modules_look_hand_written(tmp_path: Path) -> None:
    """They compile, assign a variable once, import only what they use, and `ruff format` has nothing to change."""
    for case in ALL:
        for i, query in enumerate(compiled(case)):
            compile(query.code, str(case), "exec")
            assert assigned_again(query.code) == []
            (tmp_path / f"{case.name.replace('/', '__')}_{i}.py").write_text(query.code, encoding="utf-8")
    for command in (["format", "--diff", "--line-length", "100"], ["check", "--select", "F"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--quiet", "--no-cache", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_explain_is_the_same_in_every_process() -> None:
    program = (
        "import sys\nsys.path.insert(0, sys.argv[1])\n"
        "from tests.support.golden import Case, queries\n"
        "for name in sys.argv[2:]:\n"
        "    for query in queries(Case(name)):\n"
        "        print(*(query.explain(format=form) for form in ('text', 'json', 'mermaid', 'html')), sep='\\n')\n"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", program, str(CASES.parents[1]), *EVERYWHERE],
            env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert "flowchart TD" in texts[0]
