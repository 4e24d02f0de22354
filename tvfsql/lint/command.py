"""`tvfsql lint`: the warnings of several scripts, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TextIO

from tvfsql.api.script import Script
from tvfsql.errors import OptionError, did_you_mean
from tvfsql.lint import RULES, lint_script

FORMATS = ("text", "json")


def run_lint(
    scripts: Iterable[tuple[str, str | None, str]], script: Script, ignore: Collection[str], form: str, out: TextIO
) -> int:
    """Print the warnings of scripts (text, name, folder), each of which follows `script` alone. Returns their number.

    `form` is one of FORMATS: text has a caret for each, JSON is a list of objects. Raises OptionError for an unknown
    rule in `ignore`.
    """
    for rule in ignore:
        if rule not in RULES:
            raise OptionError(f"there is no rule {rule}", hint=did_you_mean(rule, RULES))
    found = []
    for sql, name, folder in scripts:
        own = replace(script, catalog=script.catalog.copy(), folder=folder)
        for each in lint_script(sql, own, name, ignore):
            place = {"file": name, "line": each.line, "column": each.column}
            found.append(place | {"rule": each.rule, "message": each.message, "hint": each.hint})
            if form == "text":
                print(each.shown(sql, name), file=out)
    if form == "json":
        print(json.dumps(found, indent=2, ensure_ascii=False), file=out)
    return len(found)
