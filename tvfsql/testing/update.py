"""`--update`: writes the rows that steps emitted into the test file as the expected ones. All other text is
unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from tvfsql.runtime.host.row_formats import plain_rows
from tvfsql.testing.compare import Given
from tvfsql.testing.read import Loader
from tvfsql.testing.run import CaseResult, StepResult
from tvfsql.testing.suite import Rows, Suite


class Dumper(yaml.SafeDumper):
    """Quotes texts that `Loader` would read as something else."""

    yaml_implicit_resolvers = Loader.yaml_implicit_resolvers


def updated(suite: Suite, results: Iterable[CaseResult]) -> str:
    """The text of the test file with new expectations. Raises DataError for a step that is written on one line."""
    edits = [edit for result in results for step in result.steps if step.diff for edit in _edits(suite, step)]
    text = suite.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _edits(suite: Suite, result: StepResult) -> list[tuple[int, int, str]]:
    """The edits of the text: start, end and new text."""
    step = result.step
    if not step.is_block:
        raise suite.mistake("a step on one line cannot be updated", step.span, "a line for each key")
    indent = " " * step.column
    news = {"expect": _expectation(result, indent)}
    if result.late or "late" in step.parts:
        news["late"] = f"late: {result.late}"
    edits, added = [], ""
    for key, new in news.items():
        if key in step.parts:
            edits.append((step.parts[key].start, step.parts[key].end, new))
        elif new != "expect: []":
            added += f"\n{indent}{new}"
    last = step.last if step.last > 0 and suite.text[: step.last].strip() else len(suite.text)
    return [*edits, *([(last, last, added)] if added else [])]


def _expectation(result: StepResult, indent: str) -> str:
    known = result.step.expect
    if len(result.given) == 1:
        (name, given), *_ = result.given.items()
        return f"expect:{_rows(given, known.get(name, known.get('', Rows())), indent)}"
    parts = [
        f"\n{indent}  {_flow(name)}:{_rows(given, known.get(name, Rows()), indent + '  ')}"
        for name, given in result.given.items()
        if given.rows or name in known
    ]
    return f"expect:{''.join(parts)}" if parts else "expect: []"


def _rows(given: Given, known: Rows, indent: str) -> str:
    """The rows with the columns that were compared before; with all columns if there were none."""
    shown = given.only([*known.values[0]]) if known.values else given
    if not shown.rows:
        return " []"
    rows = (
        sorted(plain_rows(shown.types, shown.rows), key=repr)
        if not known.values
        else plain_rows(shown.types, shown.rows)
    )
    return "".join(f"\n{indent}  - {_flow(dict(zip(shown.columns, row, strict=True)))}" for row in rows)


def _flow(value: Mapping[str, Any] | Sequence[Any] | str) -> str:
    text: str = yaml.dump(
        value, Dumper=Dumper, default_flow_style=True, sort_keys=False, width=10**9, allow_unicode=True
    )
    return text.removesuffix("\n").removesuffix("\n...").rstrip("\n")
