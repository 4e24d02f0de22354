"""Generates docs/rules.md from the docstrings of the rules: `make golden` writes it, test_docs.py fails if it is
stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

from tvfsql.planner import Rule
from tvfsql.rules import PHASES

PARTS = re.compile(r"(.+?)\n\nBefore:\n(.+)\nAfter:\n(.+?)\n\n(.+)", re.DOTALL)
PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
HEAD = """\
# The planner's rules

`make golden` generates this page from the docstrings in `rules/`.

A phase applies its rules to every operator until none of them matches; then the next phase begins. A rule changes a
plan, never its output columns. `EXPLAIN TRACE` shows which rules fired and what each of them changed.
`SET 'tvfsql.rules.disabled' = 'rule, rule'` disables rules; the rows stay the same.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_phases(), *_rules()])


def _phases() -> Iterator[str]:
    yield "| phase | rules, in their order |"
    yield "|---|---|"
    for phase in PHASES:
        yield f"| {phase.name} | {', '.join(f'[{rule.name}](#{rule.name})' for rule in phase.rules)} |"
    yield ""


def _rules() -> Iterator[str]:
    phases: dict[Rule, list[str]] = {}
    for phase in PHASES:
        for rule in phase.rules:
            phases.setdefault(rule, []).append(phase.name)
    for rule, names in phases.items():
        family = rule.rewrite.__module__.removeprefix("tvfsql.rules.").replace(".", "/")
        yield f"## {rule.name}\n"
        yield f"*{', '.join(names)} · [{family}.py](../rules/{family}.py)*\n"
        yield from _section(rule)


def _section(rule: Rule) -> Iterator[str]:
    """The section of a rule: what it does, the plan before and after, and why both return the same rows."""
    parts = PARTS.fullmatch(cleandoc(rule.doc))
    assert parts, f"{rule.name}: what it does, Before:, After:, why it holds"
    what, before, after, why = parts.groups()
    yield f"{_prose(what)}\n"
    yield f"```\nBefore:\n{before}\n\nAfter:\n{after}\n```\n"
    yield f"{_prose(why)}\n"


def _prose(text: str) -> str:
    return text.strip().replace("*", r"\*")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
